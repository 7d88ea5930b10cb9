"""The import table: who may import whom, read from the source of every file.

A package may import itself, `errors`, `watch`, `on_demand`, `frozen` and the packages of its row. The order of the rows is a
topological order, so a row that only names earlier rows keeps the house acyclic. Imports inside functions
and under TYPE_CHECKING count too. Some libraries have one home, and the checker stands on no solver at all.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import discreet

SOURCE = Path(discreet.__file__).parent

ORDER = (
    "numerics", "model", "files", "geometry", "mechanisms", "certify", "learning", "currencies", "design", "interpret",
    "sampling", "ledger", "engines", "publish", "exchange", "views", "present", "gallery", "face",
)  # fmt: skip


def above(package: str) -> set[str]:
    """The rows of the table over a package."""
    return set(ORDER[: ORDER.index(package)])


MAY_IMPORT: dict[str, set[str]] = {
    "numerics": set(),
    "model": {"numerics"},
    "files": {"model", "numerics"},
    "geometry": {"model", "numerics"},
    "mechanisms": {"model", "numerics"},
    "certify": {"model", "numerics", "files"},
    "learning": {"model", "numerics", "mechanisms", "certify"},
    "currencies": {"model", "numerics", "mechanisms"},
    "design": above("design"),
    "interpret": {"model", "numerics", "mechanisms", "geometry", "currencies"},
    "sampling": {"model", "numerics"},
    "ledger": {"model", "numerics", "files", "currencies"},
    "engines": {"model"},
    "publish": above("publish") - {"design"},
    "exchange": above("exchange"),
    "views": above("views"),
    "present": above("present"),
    "gallery": above("gallery"),
    "face": above("face"),
    "__init__": {"face"},
    "cli": {*ORDER, "web"},
    "web": {*ORDER},
    "__main__": {"cli"},
}

AT_THE_ROOT = {"errors", "frozen", "on_demand", "watch", "__init__"}
FOR_ALL = {"errors", "frozen", "on_demand", "watch"}
"""Modules at the root that every package may import."""

HOMES: dict[str, set[str]] = {
    "pydantic": {"files"},
    "duckdb": {"engines"},
    "pyspark": {"engines"},
    "pandas": {"engines"},
    "polars": {"engines"},
    "pyarrow": {"engines"},
    "psycopg": {"engines", "ledger"},
    "pkcs11": {"ledger"},
    "rfc3161_client": {"ledger"},
    "asn1crypto": {"ledger"},
    "sqlite3": {"ledger"},
    "opendp": {"exchange"},
    "dp_accounting": {"exchange"},
    "typer": {"cli"},
    "starlette": {"web"},
    "uvicorn": {"web"},
    "jinja2": {"web"},
    "rich": {"cli", "present"},
    "highspy": {"design", "geometry", "exchange"},
}
"""Libraries that only these packages may import."""

SOLVERS = {"scipy", "highspy", "ortools", "cvxpy", "clarabel", "pulp", "pyscipopt", "numba"}
NO_SOLVER = ("numerics", "model", "files", "certify")
"""What the checker stands on: none of these may import a solver, so no proof rests on one."""

HEAVY = {"numpy", "scipy", "pydantic", "duckdb", "flint", "highspy", "cryptography"}

STANDALONE = "verify_standalone.py"


def imported(tree: ast.AST, module: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """Every dotted name that a module imports, with its line; `module` is the file's own dotted package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(module[: len(module) - node.level + 1]) if node.level else ""
            stem = ".".join(part for part in (base, node.module or "") if part)
            for alias in node.names:
                yield f"{stem}.{alias.name}", node.lineno
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", None) == "discreet":
            yield f"discreet.{node.attr}", node.lineno
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in {"import_module", "__import__", "when_called"} and isinstance(node.args[0].value, str):
                yield node.args[0].value, node.lineno


def complaints(source: Path) -> list[str]:
    """Every import against the table under a source folder, as file:line and words."""
    found = []
    for file in sorted(source.rglob("*.py")):
        parts = file.relative_to(source).with_suffix("").parts
        package = parts[0]
        tree = ast.parse(file.read_text(encoding="utf-8"), filename=str(file))
        for name, line in imported(tree, ("discreet", *parts[:-1])):
            trouble = complaint(package, file.name, name)
            if trouble:
                found.append(f"{file.relative_to(source)}:{line}: {trouble}")
        if package not in MAY_IMPORT and package not in AT_THE_ROOT and file.name != STANDALONE:
            found.append(f"{file.relative_to(source)}: {package} has no row in the import table")
    return found


def complaint(package: str, file: str, name: str) -> str | None:
    """What is wrong with one import, if anything is."""
    top, _, rest = name.partition(".")
    if file == STANDALONE:
        return None if top in sys.stdlib_module_names else f"the standalone verifier imports {top}"
    if top == "discreet":
        target = rest.partition(".")[0]
        rooms = {*MAY_IMPORT, *FOR_ALL}
        if target not in rooms or target == package or target in MAY_IMPORT.get(package, set()):
            return None
        if target in FOR_ALL and package not in AT_THE_ROOT:
            return None
        return f"{package} may not import {target}"
    if top in HOMES and package not in HOMES[top]:
        return f"{package} may not import {top}, whose home is {' and '.join(sorted(HOMES[top]))}"
    if top in SOLVERS and package in NO_SOLVER:
        return f"{package} may not import the solver library {top}"
    return None


INSIDE_CERTIFY: dict[str, set[str]] = {
    "edges": set(),
    "value": set(),
    "duality": set(),
    "bounds": {"value", "duality"},
    "optimality": {"value", "bounds"},
    "robust": {"bounds", "optimality"},
    "whole_set": {"value", "optimality"},
    "unbiased": set(),
    "verdict": {"edges", "value", "optimality", "robust", "unbiased"},
    "__init__": {"edges", "optimality"},
}
"""The rooms of the checker and which of the others each may use; what decides privacy uses none."""


DESIGN_ROOMS = (
    "memory", "schedule", "pace", "crew", "watchdog", "reports", "proposal", "solver", "program", "units", "certified", "ladder",
    "concentrated", "routes", "comparison", "result", "restricted", "askable", "best_mechanism", "processes", "questions",
    "__init__",
)  # fmt: skip
"""The rooms of `design`: arrays know no problem, routes no comparison, and nobody a question."""
INSIDE_DESIGN = {room: set(DESIGN_ROOMS[:place]) for place, room in enumerate(DESIGN_ROOMS)}


def inner_complaints(source: Path, table: dict[str, set[str]], package: str) -> list[str]:
    """Every import between the rooms of one package that its own table does not allow."""
    found = []
    for file in sorted((source / package).rglob("*.py")):
        parts = file.relative_to(source / package).with_suffix("").parts
        tree = ast.parse(file.read_text(encoding="utf-8"), filename=str(file))
        for name, line in imported(tree, ("discreet", package, *parts[:-1])):
            top, own, inside = (*name.split("."), "", "")[:3]
            if (top, own) == ("discreet", package) and inside in table and inside not in {parts[0], *table.get(parts[0], ())}:
                found.append(f"{file.relative_to(source)}:{line}: {parts[0]} may not import {inside}")
        if parts[0] not in table:
            found.append(f"{file.relative_to(source)}: {parts[0]} has no row in the table of {package}")
    return found


def test_the_rooms_of_the_checker_keep_their_order() -> None:
    assert inner_complaints(SOURCE, INSIDE_CERTIFY, "certify") == []
    seen: set[str] = set()
    for room, used in INSIDE_CERTIFY.items():
        assert used <= seen
        seen.add(room)


def test_the_rooms_of_design_keep_their_order() -> None:
    assert inner_complaints(SOURCE, INSIDE_DESIGN, "design") == []
    assert {path.stem for path in (SOURCE / "design").iterdir() if path.stem != "__pycache__"} == set(DESIGN_ROOMS)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("design/solver/interior.py", "from discreet.design.program.listed import solvable"),
        ("design/program/listed.py", "def f():\n    from discreet.design.routes import order"),
        ("design/ladder/climb.py", "from ..routes.ladder import Ladder"),
        ("design/routes/program.py", "from discreet.design.comparison.way import Way"),
        ("design/best_mechanism.py", "from discreet.design.questions.frontier import frontier"),
    ],
)
def test_an_import_against_the_order_of_design_is_caught(tmp_path: Path, file: str, text: str) -> None:
    planted = tmp_path / file
    planted.parent.mkdir(parents=True, exist_ok=True)
    planted.write_text(text, encoding="utf-8")
    assert len(inner_complaints(tmp_path, INSIDE_DESIGN, "design")) == 1


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("certify/edges/privacy.py", "from discreet.certify.bounds.dual import dual_upper_bound"),
        ("certify/value/path.py", "from discreet.certify import verdict"),
        ("certify/value/path.py", "from ..bounds import chain"),
        ("certify/bounds/dual.py", "def f():\n    from discreet.certify.edges.privacy import privacy"),
        ("certify/corner.py", "x = 1"),
    ],
)
def test_an_import_against_the_order_of_the_checker_is_caught(tmp_path: Path, file: str, text: str) -> None:
    planted = tmp_path / file
    planted.parent.mkdir(parents=True, exist_ok=True)
    planted.write_text(text, encoding="utf-8")
    assert len(inner_complaints(tmp_path, INSIDE_CERTIFY, "certify")) == 1


def test_the_source_keeps_to_the_table() -> None:
    assert complaints(SOURCE) == []


def test_the_table_is_acyclic_and_complete() -> None:
    assert set(MAY_IMPORT) - {"cli", "web", "__main__", "__init__"} == set(ORDER) == set(discreet.PACKAGES)
    for package in ORDER:
        assert MAY_IMPORT[package] <= above(package), package


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("certify/privacy.py", "from discreet.design import solve", "certify may not import design"),
        ("certify/privacy.py", "def f():\n    import discreet.design.lp", "certify may not import design"),
        ("certify/privacy.py", "from .. import design", "certify may not import design"),
        ("certify/privacy.py", "from ..design.solver import x", "certify may not import design"),
        ("certify/privacy.py", "import discreet\ndiscreet.design.solve()", "certify may not import design"),
        ("certify/a.py", "import_module('discreet.design')", "certify may not import design"),
        ("certify/a.py", "when_called('discreet.design.solver.solve', 'solve')", "certify may not import design"),
        ("certify/privacy.py", "import scipy.optimize", "solver library scipy"),
        ("certify/privacy.py", "from highspy import Highs", "may not import highspy"),
        ("numerics/logs.py", "from discreet.model import problem", "numerics may not import model"),
        ("model/prior.py", "from pydantic import BaseModel", "whose home is files"),
        ("publish/commit.py", "from discreet import design", "publish may not import design"),
        ("engines/spark.py", "from discreet.ledger import spend", "engines may not import ledger"),
        ("views/design.py", "from discreet.present import Figure", "views may not import present"),
        ("publish/release.py", "from discreet.views.view import View", "publish may not import views"),
        ("present/figure.py", "import duckdb", "whose home is engines"),
        ("publish/release.py", "from discreet.exchange import judge", "publish may not import exchange"),
        ("currencies/pair.py", "import dp_accounting", "whose home is exchange"),
        ("model/deep/inner.py", "from ...files import reading", "model may not import files"),
        ("watch.py", "from discreet.errors import InputError", "watch may not import errors"),
        ("helpers/odds.py", "x = 1", "no row in the import table"),
        ("certify/verify_standalone.py", "import numpy", "standalone verifier imports numpy"),
        (
            "certify/verify_standalone.py",
            "from discreet import model",
            "standalone verifier imports discreet",
        ),
        ("certify/verify_standalone.py", "from . import privacy", "standalone verifier imports discreet"),
    ],
)
def test_an_import_against_the_table_is_caught(tmp_path: Path, file: str, text: str, words: str) -> None:
    planted = tmp_path / file
    planted.parent.mkdir(parents=True, exist_ok=True)
    planted.write_text(text, encoding="utf-8")
    found = complaints(tmp_path)
    assert len(found) >= 1 and all(words in line for line in found)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("certify/privacy.py", "from discreet.model import kernel\nfrom discreet.errors import Refuted"),
        ("certify/privacy.py", "from . import bracket\nfrom ..files import reading"),
        ("design/solver.py", "import highspy, scipy\nfrom discreet.certify import privacy"),
        ("cli/commands/certify.py", "import typer\nfrom discreet import __version__, certify"),
        ("verify_standalone.py", "import json, fractions"),
    ],
)
def test_an_import_of_the_table_is_let_through(tmp_path: Path, file: str, text: str) -> None:
    allowed = tmp_path / file
    allowed.parent.mkdir(parents=True, exist_ok=True)
    allowed.write_text(text, encoding="utf-8")
    assert complaints(tmp_path) == []


def loaded_by(statement: str) -> set[str]:
    """The modules in memory after a statement in a fresh interpreter."""
    program = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_checker_loads_no_solver_not_even_through_others() -> None:
    names = loaded_by("import discreet.certify")
    assert not {name for name in names if name.split(".")[0] in SOLVERS}
    assert not {name for name in names if name.startswith("discreet.design")}


def test_importing_discreet_loads_nothing_heavy() -> None:
    names = {name.split(".")[0] for name in loaded_by("import discreet")}
    assert not names & {"typer", "rich", *HEAVY}


def test_every_command_file_loads_nothing_heavy() -> None:
    statement = "from discreet.cli import main\nfor name in main.command_names():\n    main.load(name)"
    names = {name.split(".")[0] for name in loaded_by(statement)}
    assert not names & HEAVY
