"""Mutants of a Python file: every comparison changed a little, and which of the changes nobody notices.

Every comparison operator is replaced by its neighbours (< by <= and >=, == by !=, in by not in, is by is not), `and` and
`or` are exchanged, and whole numbers beside a comparison move by one.
"""

from __future__ import annotations

import ast
import copy
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

SWAPS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # fmt: skip
SECONDS = 0.7


def mutants(text: str) -> Iterator[tuple[str, ast.Module]]:
    """(what was changed, the changed tree) for every mutation."""
    tree = ast.parse(text)
    lines = text.splitlines()
    for number, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.Compare):
            for i, operator in enumerate(node.ops):
                for other in SWAPS[type(operator)]:
                    yield _named(lines, node, f"{type(operator).__name__}→{other.__name__}", i), _changed(
                        tree, number, lambda n, i=i, other=other: n.ops.__setitem__(i, other())
                    )
            for i, side in enumerate([node.left, *node.comparators]):
                for place, inner in enumerate(ast.walk(side)):
                    if isinstance(inner, ast.Constant) and type(inner.value) is int:
                        for by in (1, -1):
                            yield _named(lines, node, f"{inner.value}→{inner.value + by}", i), _changed(
                                tree, number, lambda n, i=i, place=place, by=by: _move(n, i, place, by)
                            )
        elif isinstance(node, ast.BoolOp):
            other_word = ast.Or if isinstance(node.op, ast.And) else ast.And
            yield _named(lines, node, f"{type(node.op).__name__}→{other_word.__name__}", 0), _changed(
                tree, number, lambda n, other_word=other_word: setattr(n, "op", other_word())
            )


def _named(lines: list[str], node: ast.expr, change: str, place: int) -> str:
    text = ast.get_source_segment("\n".join(lines), node) or ""
    return f"{' '.join(text.split())} [{change} at {place}]"


def _changed(tree: ast.Module, number: int, change: Callable[[Any], Any]) -> ast.Module:
    fresh = copy.deepcopy(tree)
    change(next(node for i, node in enumerate(ast.walk(fresh)) if i == number))
    return ast.fix_missing_locations(fresh)


def _move(compare: ast.Compare, side: int, place: int, by: int) -> None:
    constant = list(ast.walk([compare.left, *compare.comparators][side]))[place]
    assert isinstance(constant, ast.Constant)
    constant.value += by


def load(tree: ast.Module, name: str) -> ModuleType:
    module = ModuleType(name)
    module.__file__ = name
    sys.modules[name] = module
    exec(compile(tree, name, "exec"), module.__dict__)  # noqa: S102 our own source with one operator changed
    return module


class TooSlow(Exception):
    """The mutant does not come to an end."""


def answers(module: ModuleType, questions: list[Callable[[ModuleType], Any]], known: list[Any] | None = None) -> list[Any]:
    """The module's answers; stops at the first that differs from the known ones."""
    found = []
    for k, question in enumerate(questions):
        try:
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
            answer: Any = question(module)
        except TooSlow:
            answer = "no end"
        except Exception as error:
            answer = type(error).__name__
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        found.append(answer)
        if known is not None and answer != known[k]:
            return found
    return found


def survivors(path: Path, questions: list[Callable[[ModuleType], Any]]) -> list[str]:
    """The mutants of a file that answer every question as the original does."""

    def alarm(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, alarm)
    try:
        text = path.read_text(encoding="utf-8")
        known = answers(load(ast.parse(text), f"original_{path.stem}"), questions)
        assert "no end" not in known
        alive = []
        for k, (name, tree) in enumerate(mutants(text)):
            try:
                module = load(tree, f"mutant_{path.stem}_{k}")
            except (Exception, SystemExit):
                continue
            if answers(module, questions, known) == known:
                alive.append(name)
        return alive
    finally:
        signal.signal(signal.SIGALRM, before)
