"""What is read is what was named: the files of a source, listed once for every engine.

A source that is a folder means the Parquet files in it, all of them: every entry must be a file `*.parquet` (in small or
capital letters) whose name begins with neither `.` nor `_`. Markers that Hadoop and Spark leave there, which hold no
rows, are passed over (`_SUCCESS`, `_metadata`, `_common_metadata`, `.*.crc`). Anything else (a folder in the folder, a
hidden file, another ending) is refused by name, since to skip it in silence would be to publish something else than was
meant, and engines would differ about it. Names are never read as patterns.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from discreet.errors import InputError
from discreet.model.plan import Source

MARKERS = {"_SUCCESS", "_metadata", "_common_metadata"}
SHOWN = 5


@dataclass(frozen=True)
class SourceFile:
    """One file: its name within the source, where it lies, and how many bytes it has."""

    name: str
    path: Path
    size: int


def source_files(source: Source) -> tuple[SourceFile, ...]:
    """The files of a source in the order of their names; none for PostgreSQL and frames."""
    if not source.on_disk:
        return ()
    path = Path(source.location)
    try:
        if source.kind == "parquet" and path.is_dir():
            return tuple(_listed(file) for file in _in_folder(path))
        if not path.is_file():
            raise InputError(
                "The source is not a file",
                found=source.location,
                allowed="the path of a file, without patterns",
                remedy="check source.path",
            )
        return (_listed(path),)
    except OSError as error:
        raise InputError(
            "The source cannot be looked at",
            found=f"{source.location}: {error.strerror or type(error).__name__}",
            allowed="a file or folder that this user may read",
            remedy="check source.path and its permissions",
        ) from None


def file_of(source: Source) -> Path:
    """The one file of a source."""
    return source_files(source)[0].path


def _in_folder(folder: Path) -> list[Path]:
    entries = sorted(entry for entry in folder.iterdir() if not _is_marker(entry.name))
    strange = [entry.name for entry in entries if not _is_parquet(entry)]
    if strange:
        more = f" and {len(strange) - SHOWN} more" if len(strange) > SHOWN else ""
        raise InputError(
            "The folder of the source holds what is no Parquet file",
            found=", ".join(strange[:SHOWN]) + more,
            allowed="files named *.parquet that begin with neither '.' nor '_'",
            remedy="move it elsewhere, or rename it if its rows are meant",
        )
    if not entries:
        raise InputError(
            "The folder of the source is empty",
            found=str(folder),
            allowed="files named *.parquet",
            remedy="check source.path",
        )
    return entries


def _is_marker(name: str) -> bool:
    return name in MARKERS or (name.startswith(".") and name.endswith(".crc"))


def _is_parquet(entry: Path) -> bool:
    return entry.is_file() and entry.name.lower().endswith(".parquet") and entry.name[0] not in "._"


def _listed(path: Path) -> SourceFile:
    return SourceFile(path.name, path.resolve(), path.stat().st_size)
