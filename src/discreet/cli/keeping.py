"""The option -o: refused before any long work where nothing could be written, written as soon as there is something to keep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.views.view import Sentence, View, told

if TYPE_CHECKING:
    from discreet.model.certificate import Certificate
    from discreet.model.mechanism import Mechanism
    from discreet.model.record import Record


def writable(*paths: Path | None) -> None:
    """Refuse places at which nothing can be written."""
    from discreet.files.atomic import must_be_writable

    for path in paths:
        if path is not None:
            must_be_writable(path)


def writable_folder(folder: Path) -> None:
    """Refuse a folder that neither exists with room for files nor can be made."""
    writable(next(place for place in (folder, *folder.absolute().parents) if place.exists()) / folder.name)


def kept(path: Path, mechanism: Mechanism, certificate: Certificate, record: Record | None = None) -> View:
    """Write a mechanism with its certificate and, when there is one, its record beside it, and say where."""
    from discreet import files

    beside, noted = files.certificate_path(path), files.record_path(path)
    files.write_mechanism(path, mechanism)
    files.write_certificate(beside, certificate)
    line = Sentence(f"Written: {path} and {beside}", whole=True)
    if record is None:
        return told({"mechanism": path, "certificate": beside}, line)
    files.write_records(noted, [record])
    return told({"mechanism": path, "certificate": beside, "record": noted}, line)


def written(**places: Path | list[Path]) -> View:
    """Say which files were written, each under the name that a program finds it by."""
    listed = [path for place in places.values() for path in (place if isinstance(place, list) else [place])]
    return told(places, *(Sentence(f"Written: {path}", whole=True) for path in listed))


def next_step(words: str) -> View:
    """What to type next."""
    return told({}, Sentence(f"Next: discreet {words}", whole=True))
