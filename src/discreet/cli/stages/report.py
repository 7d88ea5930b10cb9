"""The last stage: one page that a person would send to their director."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

TITLE = "Write the report"


def run(folder: Path) -> Mapping[str, Any]:
    """report.html about the release, with the frontier that the design stage computed when there is one."""
    from discreet.files.atomic import write_atomically
    from discreet.present.release_report import release_report

    place = folder / "report.html"
    picture = folder / "frontier.svg"
    drawn = picture.read_text(encoding="utf-8") if picture.exists() else None
    write_atomically(place, release_report(folder / "release", frontier=drawn).encode())
    return {"report": place}


def tell(result: Mapping[str, Any], console: Console) -> None:
    """Where the page is, and what to try next."""
    console.print(f"Open {result['report']} in a browser.", soft_wrap=True)
