"""The shape of the house: what tools/house.py measures is counted right, and what was cured does not come back."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from scripts import tool

ROOT = Path(__file__).resolve().parent.parent
DEEPEST = 14
"""Modules of `design` of which each imports the next when it is loaded."""


@pytest.fixture(scope="module")
def house() -> ModuleType:
    """tools/house.py as a module."""
    return tool("house")


def test_what_is_planted_is_counted(house: ModuleType, tmp_path: Path) -> None:
    base = tmp_path / "src" / "discreet" / "design"
    base.mkdir(parents=True)
    long = "def f(\n    x,\n):\n" + "    x += 1\n" * 61
    texts = {
        "__init__.py": "from discreet.design import a\n",
        "a.py": "from discreet.design.b import g\nassert isinstance(x, TableKernel)\nif decision.kind == 'match':\n    pass\n",
        "b.py": "from discreet.design import c\ndef g():\n    from discreet.design import a\n",
        "c.py": long + "# PurePromise, ConcentratedPromise\n",
        "d.py": "# PurePromise, ConcentratedPromise, ApproximatePromise\nif column.dtype.kind in 'iu':\n    pass\n",
    }
    for name, text in texts.items():
        (base / name).write_text(text, encoding="utf-8")
    assert house.longest_chain(tmp_path, "design") == [f"discreet.design{part}" for part in ("", ".a", ".b", ".c")]
    assert [(body, whole) for body, whole, _ in house.long_functions(tmp_path)] == [(61, 64)]
    found = {name: house.counted(tmp_path, pattern) for name, pattern in house.COUNTED.items()}
    assert list(found.values()) == [1, 1, 1, 1, 1]
    assert house.listing(tmp_path, house.LISTED["promises"]) == ["design/d.py"]


def test_branches_by_kind_stay_few(house: ModuleType) -> None:
    most = {"`assert isinstance`": 25, "`isinstance(…TableKernel)`": 20, "`decision.kind` as text": 0}
    assert {name: found for name, limit in most.items() if (found := house.counted(ROOT, house.COUNTED[name])) > limit} == {}


def test_no_body_of_a_function_fills_more_than_a_screen(house: ModuleType) -> None:
    assert [name for body, _, name in house.long_functions(ROOT) if body > house.LONG] == []


def test_design_is_no_deeper_than_it_was(house: ModuleType) -> None:
    chain = house.longest_chain(ROOT, "design")
    assert len(chain) <= DEEPEST, " → ".join(chain)
