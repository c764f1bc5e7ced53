"""The command ``carom``: the same program as without Python."""

import os
import signal
import sys

from . import _carom


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    # Ctrl-C belongs to the command, which has its own way to stop and to deliver what it has.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    code = _carom.command(["carom", *sys.argv[1:]])
    # Everything is written and flushed; an interpreter that is taken down takes time.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
