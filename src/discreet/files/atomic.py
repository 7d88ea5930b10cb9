"""Writing a file so that it is either wholly there or not there at all, even when the power fails."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from discreet.errors import InputError
from discreet.files.zipped import unzipped


def write_atomically(path: Path, data: bytes) -> None:
    """Write beside, flush to disk, rename over, flush the folder."""
    temporary = None
    try:
        handle, temporary = _beside(path)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
        temporary = None
        sync_folder(path.parent)
    except OSError as error:
        raise _unwritable(path, error.strerror or type(error).__name__) from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def must_be_writable(path: Path) -> None:
    """Refuse, before any long work, a place at which `write_atomically` would fail; nothing is left there."""
    try:
        handle, temporary = _beside(path)
        os.close(handle)
        temporary.unlink()
    except OSError as error:
        raise _unwritable(path, error.strerror or type(error).__name__) from None
    if path.is_dir():
        raise _unwritable(path, "a folder of that name")


def _beside(path: Path) -> tuple[int, Path]:
    """A new file beside a path, opened for writing."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    return handle, Path(name)


def _unwritable(path: Path, found: str) -> InputError:
    return InputError(
        f"The file {path} could not be written",
        found=found,
        allowed="a folder that exists, can be written to and has room",
        remedy="choose another place; nothing was left behind",
    )


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_bytes(path: Path, what: str) -> bytes:
    """The bytes of a file, unzipped if it was zipped, or words about why they cannot be had."""
    try:
        return unzipped(path.read_bytes(), what)
    except OSError as error:
        raise InputError(
            f"{what} could not be read",
            found=f"{path}: {error.strerror or type(error).__name__}",
            allowed="a file that exists and can be read",
            remedy="check the path",
        ) from None
