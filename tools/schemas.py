"""Write docs/schemas/*.json, the published JSON Schemas of every artefact, from the shapes in `discreet.files.schema`.

`python tools/schemas.py` writes them; `python tools/schemas.py --check` ends with 1 when one of them is out of date.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, str]:
    """The text of each schema by the name of its file."""
    from discreet.files.schema import ARTEFACTS

    found = {}
    for name, shape in sorted(ARTEFACTS.items()):
        schema = {"$schema": DIALECT, "title": f"discreet {name}"} | shape.model_json_schema(by_alias=True)
        schema["title"] = f"discreet {name}"
        found[f"{name}.json"] = json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    return found


def stale(folder: Path = FOLDER) -> list[str]:
    """The files that differ from what the shapes say, or should not be there."""
    wanted = schemas()
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")}
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))


def main(arguments: list[str]) -> int:
    """Write, or with --check only compare."""
    if "--check" in arguments:
        wrong = stale()
        for name in wrong:
            print(f"docs/schemas/{name} is out of date: run tools/schemas.py", file=sys.stderr)
        return 1 if wrong else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in schemas().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
