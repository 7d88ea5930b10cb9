"""Python files that are no part of a package, as modules: the scripts of tools/, and the standalone verifier."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent


def module_at(path: Path, name: str) -> ModuleType:
    """A Python file as a module of that name; dataclasses look for themselves among the modules."""
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


def tool(name: str) -> ModuleType:
    """A script of tools/, under the name by which others of that folder import it."""
    return module_at(ROOT / "tools" / f"{name}.py", name)
