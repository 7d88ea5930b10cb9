"""The house rules that a machine can hold: what may stand in which file."""

from __future__ import annotations

import ast
import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "discreet"
LONGEST_FILE = 400
SELF_EVIDENT = 3
"""Statements of a function that need no words beside its name."""
NAMES_WITHOUT_MEANING = {"utils", "util", "helpers", "helper", "common", "misc"}


def tracked() -> list[Path]:
    """Every file under version control, or every file outside the environment where there is no history."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    hidden = {".venv", ".git", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}
    return [path for path in ROOT.rglob("*") if path.is_file() and not hidden & set(path.parts)]


def text_of(path: Path) -> str:
    """The text of a file; empty for a picture."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def sources() -> list[Path]:
    """Every Python file of the library."""
    return sorted(SOURCE.rglob("*.py"))


# ---- shape ---------------------------------------------------------------------------------------------


def test_what_arrays_hold_is_said_in_one_place() -> None:
    """Seventy files had an alias of their own for an array of doubles. Engines know the model alone."""
    alias = re.compile(r"^\w+ = NDArray\[np\.(float64|int64|bool_)\]$", re.MULTILINE)
    found = {str(path.relative_to(SOURCE)) for path in sources() if alias.search(text_of(path))}
    assert {place for place in found if place.split("/")[0] not in {"engines", "learning"}} == {"numerics/arrays.py"}


# ---- numbers -------------------------------------------------------------------------------------------


def significant(number: str) -> str:
    """The digits of a number from its first non-zero one, without sign, point, underscores and exponent."""
    return re.sub(r"[eE].*$", "", number).replace(".", "").replace("_", "").lstrip("-0")


def reference_prefixes() -> set[str]:
    """The first six significant digits of every reference number."""
    lines = (ROOT / "tests" / "reference_numbers.txt").read_text(encoding="utf-8").splitlines()
    words = [word for line in lines if not line.startswith("#") for word in line.split()]
    assert all(len(significant(word)) >= 6 for word in words)
    return {significant(word)[:6] for word in words}


def pasted(text: str) -> list[str]:
    """The numbers in a text that begin like a reference number."""
    prefixes = reference_prefixes()
    numbers = re.findall(r"\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+", text)
    return [number for number in numbers if significant(number)[:6] in prefixes]


def test_no_reference_number_is_pasted_into_the_library() -> None:
    files = [path for path in SOURCE.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert [(path.relative_to(ROOT), pasted(text_of(path))) for path in files if pasted(text_of(path))] == []


@pytest.mark.parametrize("text", ["loss = 2.325919", "x=-0.462117157", "y = '.462117'", "2_325_919", "4.62117e-1"])
def test_a_pasted_number_is_seen(text: str) -> None:
    assert pasted(text)


@pytest.mark.parametrize("text", ["loss = 2.3259", "64 + 2**53", "1e-12", "x[10:20]"])
def test_an_innocent_number_is_not(text: str) -> None:
    assert not pasted(text)


# ---- words ---------------------------------------------------------------------------------------------


def test_no_tracked_file_names_a_machine_or_a_package_index() -> None:
    # The words are spelled in two halves, so that this file does not hold them.
    halves = [("/wo", "rk/"), ("/ro", "ot/"), ("/ho", "me/"), ("/t", "mp/"), ("pythonhost", "ed.org"),
              ("py", "pi.org"), ("index", "-url"), ("find", "-links"), ("file:", "//")]  # fmt: skip
    words = ["".join(pair) for pair in halves]
    found = [(path.relative_to(ROOT), word) for path in tracked() for word in words if word in text_of(path)]
    assert found == []


def test_nothing_is_left_for_later() -> None:
    mark = re.compile("TO" + "DO|FIX" + "ME|X" + "XX|NotImplemented" + "Error")
    assert [path.relative_to(ROOT) for path in sources() if mark.search(text_of(path))] == []


def test_every_file_has_a_name_a_docstring_and_a_bearable_length() -> None:
    for path in sources():
        where = path.relative_to(ROOT)
        text = text_of(path)
        assert not {*path.relative_to(SOURCE).with_suffix("").parts} & NAMES_WITHOUT_MEANING, where
        assert ast.get_docstring(ast.parse(text)), f"{where} does not say what it is"
        # the verifier travels as one file; tests/standalone holds it to a length of its own
        assert len(text.splitlines()) <= LONGEST_FILE or path.name == "verify_standalone.py", f"{where} is too long to be one room"


def public_definitions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Functions of a module whose names do not begin with an underscore and whose bodies do not explain themselves."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and len(node.body) > SELF_EVIDENT:
            yield node


def test_every_public_function_says_what_it_is() -> None:
    silent = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in sources()
        for node in public_definitions(ast.parse(text_of(path)))
        if not ast.get_docstring(node)
    ]
    assert silent == []


def test_a_public_class_has_a_name_of_its_own() -> None:
    homes: dict[str, list[str]] = {}
    for path in sources():
        if path.name in ("verify_standalone.py", "schema.py"):  # stands alone; shapes of files, named as what they hold
            continue
        for node in ast.parse(text_of(path)).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    twice = {name: places for name, places in homes.items() if len(places) > 1}
    assert twice == {}


# ---- packaging -----------------------------------------------------------------------------------------


def project() -> dict[str, object]:
    """The [project] table."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert isinstance(table, dict)
    return table


def plain_name(requirement: str) -> str:
    """The distribution a requirement names."""
    return re.split(r"[\[<>=!~; ]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def constraints() -> dict[str, str]:
    """Name to version, as constraints.txt pins them."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"[a-z0-9.-]+==[A-Za-z0-9.+!]+", line) for line in lines)
    return dict(line.split("==") for line in lines)  # type: ignore[misc]


def test_every_dependency_that_is_installed_is_pinned() -> None:
    table = project()
    extras = table["optional-dependencies"]
    wanted = [*table["dependencies"], *extras["dev"]]  # type: ignore[index, misc]
    assert {plain_name(item) for item in wanted} <= set(constraints())


def test_no_dependency_is_under_the_gpl() -> None:
    for name in constraints():
        try:
            metadata = importlib.metadata.metadata(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        words = " ".join([metadata.get("License-Expression") or "", *(metadata.get_all("Classifier") or [])])
        assert not re.search(r"(?<!L)(?<!Lesser )(?<!Library or Lesser )\bA?GPL|\(GPL", words), (name, words)


def test_every_extra_named_in_the_library_exists() -> None:
    named = re.compile(r"MissingExtra\(\s*\"([a-z]+)\"")
    extras = set(project()["optional-dependencies"])  # type: ignore[call-overload]
    assert {extra for path in sources() for extra in named.findall(text_of(path))} <= extras


def test_continuous_integration_runs_the_whole_check() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "set -eu" in text_of(script) and "make test" in text_of(script)


# ---- tests -----------------------------------------------------------------------------------------------


def test_what_tests_share_is_found_through_one_setting() -> None:
    moved = re.compile(r"^\s*sys\.path\b", re.MULTILINE)
    assert [path.relative_to(ROOT) for path in (ROOT / "tests").rglob("*.py") if moved.search(text_of(path))] == []


def test_ctrl_c_reaches_what_a_test_starts_even_in_a_background_job() -> None:
    test = "tests/cli/test_shell.py::test_ctrl_c_ends_with_130_and_one_word"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
    ignoring = f"import os, signal; signal.signal(signal.SIGINT, signal.SIG_IGN); os.execv({sys.executable!r}, {command!r})"
    done = subprocess.run([sys.executable, "-c", ignoring], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


# ---- missing programs ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("ci", "word", "code"), [("", "SKIPPED", 0), ("true", "ERROR", 1)])
def test_a_missing_program_skips_in_words_and_fails_in_ci(tmp_path: Path, ci: str, word: str, code: int) -> None:
    (tmp_path / "conftest.py").write_text(
        f"import importlib.util, sys; sys.path.append({str(ROOT / 'tests')!r})\n"
        f"spec = importlib.util.spec_from_file_location('house', {str(ROOT / 'tests' / 'conftest.py')!r})\n"
        "house = importlib.util.module_from_spec(spec); spec.loader.exec_module(house)\n"
        "import dataclasses\n"
        "for name, tool in list(house.TOOLS.items()):\n"
        "    house.TOOLS[name] = dataclasses.replace(tool, programs=('no-such-program',))\n"
        "from_house = house.pytest_runtest_setup\n"
        "def pytest_runtest_setup(item): from_house(item)\n",
        encoding="utf-8",
    )
    (tmp_path / "test_planted.py").write_text(
        "import pytest\n\n@getattr(pytest.mark, 'needs_java')\ndef test_planted():\n    pass\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", "-W", "ignore", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env={**os.environ, "CI": ci})
    assert word.lower() in done.stdout.lower() and done.returncode == code, done.stdout
    assert "apt-get install default-jre-headless" in done.stdout


def test_examples_of_a_property_have_as_long_as_they_need() -> None:
    """A fifth of a second, which is what an example has unless somebody says otherwise, is too short on a busy machine."""
    assert settings.default is not None and settings.default.deadline is None and settings.default.derandomize
