"""The last stage: one page that a person would send to their director."""

from __future__ import annotations

from pathlib import Path

from discreet.views.view import Sentence, View, told

TITLE = "Write the report"


def run(folder: Path) -> View:
    """report.html about the release, with the frontier that the design stage computed when there is one."""
    from discreet.files.atomic import write_atomically
    from discreet.present.release_report import release_report

    place = folder / "report.html"
    picture = folder / "frontier.svg"
    drawn = picture.read_text(encoding="utf-8") if picture.exists() else None
    write_atomically(place, release_report(folder / "release", frontier=drawn).encode())
    return told({"report": place}, Sentence(f"Open {place} in a browser.", whole=True))
