"""Names on demand: every name that a package offers is found where its table says, and nothing else is."""

from __future__ import annotations

from importlib import import_module

import pytest

from discreet.on_demand import on_demand

PACKAGES = ("design", "files", "geometry", "interpret", "ledger", "present", "publish")


@pytest.mark.parametrize("name", PACKAGES)
def test_every_offered_name_is_there(name: str) -> None:
    package = import_module(f"discreet.{name}")
    offered = [getattr(package, each) for each in package.__all__]
    assert len(offered) == len(set(package.__all__)) and all(each is not None for each in offered)


@pytest.mark.parametrize("name", PACKAGES)
def test_another_name_is_not(name: str) -> None:
    package = import_module(f"discreet.{name}")
    with pytest.raises(AttributeError, match=f"module 'discreet.{name}' has no attribute 'nothing_of_the_kind'"):
        _ = package.nothing_of_the_kind


def test_a_module_is_imported_when_its_name_is_asked_for() -> None:
    find = on_demand("fractions_of", {"Fraction": "missing"})
    with pytest.raises(ModuleNotFoundError):
        find("Fraction")
