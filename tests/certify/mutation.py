"""Mutants of a Python file: every comparison changed a little, and which of the changes nobody notices.

Every comparison operator is replaced by its neighbours (< by <= and >=, == by !=, in by not in, is by is not), `and` and
`or` are exchanged, and whole numbers beside a comparison move by one.
"""

from __future__ import annotations

import ast
import signal
import sys
import warnings
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


def mutants(text: str, only: str = "", besides: str = "") -> Iterator[tuple[str, ast.Module]]:
    """(what was changed, the changed tree) for every mutation; the tree is that of the mutation until the next is asked for.

    Of one function only, or of everything besides one.
    """
    tree = ast.parse(text)
    named = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == (only or besides)]
    within = [inner for function in named for inner in ast.walk(function)]
    for node in within if only else [node for node in ast.walk(tree) if not besides or node not in within]:
        if isinstance(node, ast.Compare):
            words = _words(text, node)
            for i, operator in enumerate(node.ops):
                for other in SWAPS[type(operator)]:
                    node.ops[i] = other()
                    yield f"{words} [{type(operator).__name__}→{other.__name__} at {i}]", tree
                node.ops[i] = operator
            for i, side in enumerate([node.left, *node.comparators]):
                for inner in ast.walk(side):
                    if isinstance(inner, ast.Constant) and type(inner.value) is int:
                        number = inner.value
                        for inner.value in (number + 1, number - 1):
                            yield f"{words} [{number}→{inner.value} at {i}]", tree
                        inner.value = number
        elif isinstance(node, ast.BoolOp):
            words, word = _words(text, node), node.op
            node.op = ast.Or() if isinstance(word, ast.And) else ast.And()
            yield f"{words} [{type(word).__name__}→{type(node.op).__name__} at 0]", tree
            node.op = word


def _words(text: str, node: ast.expr) -> str:
    return " ".join((ast.get_source_segment(text, node) or "").split())


def load(tree: ast.Module, name: str) -> ModuleType:
    module = ModuleType(name)
    module.__file__ = name
    sys.modules[name] = module
    exec(compile(tree, name, "exec"), module.__dict__)  # noqa: S102 our own source with one operator changed
    return module


class TooSlow(Exception):
    """The mutant does not come to an end."""


def answers(module: ModuleType, questions: list[Callable[[ModuleType], Any]], known: list[Any] | None = None) -> list[Any]:
    """The module's answers, an error by its words; stops at the first that differs from the known ones.

    Only who is compared with known answers may be too slow, and only by the time that it has computed itself.
    """
    found = []
    for k, question in enumerate(questions):
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0 if known is None else SECONDS)
            answer: Any = question(module)
        except TooSlow:
            answer = "no end"
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        found.append(answer)
        if known is not None and answer != known[k]:
            return found
    return found


def survivors(path: Path, questions: list[Callable[[ModuleType], Any]], **functions: str) -> list[str]:
    """The mutants of a file that answer every question as the original does."""

    def alarm(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, alarm)
    try:
        text = path.read_text(encoding="utf-8")
        known = answers(load(ast.parse(text), f"original_{path.stem}"), questions)
        alive = []
        for k, (name, tree) in enumerate(mutants(text, **functions)):
            try:
                module = load(tree, f"mutant_{path.stem}_{k}")
            except (Exception, SystemExit):
                continue
            with warnings.catch_warnings(action="ignore"):
                same = answers(module, questions, known) == known
            if same:
                alive.append(name)
        return alive
    finally:
        signal.signal(signal.SIGVTALRM, before)


def unexplained(
    path: Path, questions: list[Callable[[ModuleType], Any]], equivalent: dict[str, str], **functions: str
) -> list[str]:
    """The survivors of a file that are not listed, as `file: what was changed`, with a reason."""
    return [name for name in survivors(path, questions, **functions) if f"{path.stem}: {name}" not in equivalent]


def limited(module: ModuleType, name: str, limit: int, ask: Callable[[ModuleType], Any]) -> Any:
    """The answer under another limit of size."""
    before = getattr(module, name)
    setattr(module, name, limit)
    try:
        return ask(module)
    finally:
        setattr(module, name, before)
