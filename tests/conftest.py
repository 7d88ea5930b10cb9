"""What all tests share: slow tests go last, and a missing program is either skipped in words or a failure.

A test marked `needs_chromium`, `needs_java` or `needs_postgres` is skipped with the command that installs the
program when it is missing; with CI=true it fails instead, so that nothing goes untested unnoticed.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


def tool_module(name: str) -> ModuleType:
    """One of the scripts under tools/, as a module."""
    specification = importlib.util.spec_from_file_location(f"tools_{name}", ROOT / "tools" / f"{name}.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


TOOLS = tool_module("system").TOOLS


def in_ci() -> bool:
    """Whether a missing program must fail the run."""
    return os.environ.get("CI", "").lower() in {"true", "1", "yes"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests last, otherwise in the order of the files."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look for the programs a test needs before it starts."""
    for name, tool in TOOLS.items():
        if item.get_closest_marker(f"needs_{name}") is None or tool.found() is not None:
            continue
        if in_ci():
            pytest.fail(tool.remedy(), pytrace=False)
        pytest.skip(tool.remedy())


@pytest.fixture
def root() -> Path:
    """The repository's folder."""
    return ROOT
