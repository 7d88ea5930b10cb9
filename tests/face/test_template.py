"""The template notebook runs from an empty folder, cell by cell, as a notebook runs it, and every last line shows itself."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

TEMPLATE = Path(__file__).parents[2] / "docs" / "notebooks" / "my-table-my-epsilon.ipynb"


def run(source: str, names: dict[str, Any], title: str) -> Any:
    """Run a cell; what its last line shows, if that is an expression."""
    tree = ast.parse(source, title)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, title, "exec"), names)  # noqa: S102
    return None if last is None else eval(compile(ast.Expression(last.value), title, "eval"), names)  # noqa: S307


def test_my_table_my_epsilon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas", reason="discreet[frames] is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    notebook = json.loads(TEMPLATE.read_text(encoding="utf-8"))
    cells = notebook["cells"]
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells), "nobody's results are in the template"
    names: dict[str, Any] = {}
    shown = {
        cell["id"]: run("".join(cell["source"]), names, cell["id"]) for cell in cells if cell["cell_type"] == "code"
    }  # fmt: skip
    for title in ("epsilon", "design", "certify", "budget", "publish", "read", "verify"):
        assert shown[title]._repr_html_().startswith("<div"), title
    assert list(shown["publish"]["block"]) == ["A", "B", "C"] and list(shown["certify"]["size"]) == [4, 5, 6]
    assert shown["verify"].result.holds and names["budget"].remaining == 1
    assert (tmp_path / "release-2026.html").is_file() and (tmp_path / "release-2026" / "release.csv").is_file()
