"""``python -m carom`` is ``carom``."""

from ._command import main

main()
