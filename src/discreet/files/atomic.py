"""Writing a file so that it is either wholly there or not there at all, even when the power fails."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from discreet.errors import InputError


def write_atomically(path: Path, data: bytes) -> None:
    """Write beside, flush to disk, rename over, flush the folder."""
    folder = path.parent
    temporary = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=folder)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
        temporary = None
        sync_folder(folder)
    except OSError as error:
        raise InputError(
            f"The file {path} could not be written", found=error.strerror or type(error).__name__,
            allowed="a folder that exists, can be written to and has room",
            remedy="choose another place; nothing was left behind",
        ) from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_bytes(path: Path, what: str) -> bytes:
    """The bytes of a file, or words about why they cannot be had."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{what} could not be read", found=f"{path}: {error.strerror or type(error).__name__}",
            allowed="a file that exists and can be read", remedy="check the path",
        ) from None
