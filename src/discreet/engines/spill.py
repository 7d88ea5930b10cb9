"""A folder for what does not fit in memory: readable by its owner only, and gone afterwards, whatever happens."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import InputError


@contextmanager
def private_folder(parent: Path | None = None) -> Iterator[Path]:
    """A new folder with mode 0700; removed with everything in it when the block ends."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="discreet-", dir=parent))
    except OSError as error:
        raise InputError(
            "There is no room for temporary files", found=error.strerror or type(error).__name__,
            allowed="a temporary folder that can be written to", remedy="free some room, or set TMPDIR",
        ) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
