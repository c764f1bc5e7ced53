"""Files that are whole or not there at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(target: Path, data: bytes) -> None:
    """Writes under a temporary name beside the file, which then takes its name. A device or a pipe is written to as it is."""
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    # Where a link leads, the file is replaced and not the link.
    target = target.resolve()
    try:
        mode = target.stat().st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(target)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
