"""`python -m discreet.gallery FOLDER [NAME …]`: draw every picture of the gallery, or those named, and check their numbers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from discreet.gallery.picture import picture, pictures


def main(folder: Path, names: list[str], ending: str = "svg") -> None:
    """Draw each picture into the folder and tell its numbers, each beside what it must be; one that differs is refuted.

    Words and numbers are also written beside the picture, as JSON, for pages that show it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for one in [picture(name) for name in names] or pictures().values():
        drawn = one.draw()
        place = drawn.write(folder / f"{one.name}.{ending}")
        sys.stdout.write(f"{place}  {one.reference}: {one.title}\n")
        numbers = one.check()
        for number in numbers:
            sys.stdout.write(f"    {number.shown:>12}  {number.words} ({number.by})\n")
        told = [{"words": n.words, "shown": n.shown, "by": n.by} for n in numbers]
        text = json.dumps({"words": drawn.alt, "numbers": told}, ensure_ascii=False, indent=1)
        (folder / f"{one.name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "gallery"), sys.argv[2:])
