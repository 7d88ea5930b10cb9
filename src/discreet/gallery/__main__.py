"""`python -m discreet.gallery FOLDER [NAME …]`: draw every picture of the gallery, or those named, and check their numbers."""

from __future__ import annotations

import sys
from pathlib import Path

from discreet.gallery.picture import picture, pictures


def main(folder: Path, names: list[str], ending: str = "svg") -> None:
    """Draw each picture into the folder and tell its numbers, each beside what it must be; one that differs is refuted."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in [picture(name) for name in names] or pictures().values():
        place = one.draw().write(folder / f"{one.name}.{ending}")
        sys.stdout.write(f"{place}  {one.reference}: {one.title}\n")
        for number in one.check():
            sys.stdout.write(f"    {number.shown:>12}  {number.words} ({number.by})\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "gallery"), sys.argv[2:])
