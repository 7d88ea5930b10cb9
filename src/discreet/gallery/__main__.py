"""`python -m discreet.gallery FOLDER`: draw every picture of the gallery."""

from __future__ import annotations

import sys
from pathlib import Path

from discreet.gallery.frontier import frontier_picture

PICTURES = {"frontier": frontier_picture}


def main(folder: Path) -> None:
    """Draw each picture as SVG into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        place = draw().write(folder / f"{name}.svg")
        sys.stdout.write(f"{place}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "gallery"))
