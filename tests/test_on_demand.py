"""Names on demand: every name that a package offers is found where its table says, and nothing else is."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from pathlib import Path

import pytest

from discreet.on_demand import on_demand

PACKAGES = (
    "currencies", "design", "face", "files", "geometry", "interpret", "ledger", "mechanisms", "present", "publish",
)  # fmt: skip


def seen_by_type_checkers(source: str) -> dict[str, str]:
    """Name to module, for every import under `if TYPE_CHECKING`."""
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for line in node.body:
                assert isinstance(line, ast.ImportFrom) and line.module is not None
                found |= {alias.asname or alias.name: line.module for alias in line.names}
    return found


@pytest.mark.parametrize("name", PACKAGES)
def test_every_offered_name_is_there(name: str) -> None:
    package = import_module(f"discreet.{name}")
    offered = [getattr(package, each) for each in package.__all__]
    assert len(offered) == len(set(package.__all__)) and all(each is not None for each in offered)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_type_checker_and_a_person_see_every_offered_name(name: str) -> None:
    package = import_module(f"discreet.{name}")
    typed = seen_by_type_checkers(inspect.getsource(package))
    assert set(typed) == set(package.__all__) <= set(dir(package))
    for each, module in typed.items():
        assert getattr(import_module(module), each) is getattr(package, each)


@pytest.mark.parametrize("name", PACKAGES)
def test_no_offered_name_is_hidden_by_a_module(name: str) -> None:
    # Importing discreet.currencies.profile would bind the module over a function `profile` that the package offers.
    package = import_module(f"discreet.{name}")
    modules = {path.stem for path in Path(inspect.getfile(package)).parent.iterdir()}
    assert not modules & set(package.__all__)


@pytest.mark.parametrize("name", PACKAGES)
def test_another_name_is_not(name: str) -> None:
    package = import_module(f"discreet.{name}")
    with pytest.raises(AttributeError, match=f"module 'discreet.{name}' has no attribute 'nothing_of_the_kind'"):
        _ = package.nothing_of_the_kind


def test_a_module_is_imported_when_its_name_is_asked_for() -> None:
    find = on_demand("fractions_of", {"Fraction": "missing"})
    with pytest.raises(ModuleNotFoundError):
        find("Fraction")
