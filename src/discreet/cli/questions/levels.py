"""Levels as they are typed: of the promise that a problem asks for, and of no other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.model.problem import Problem

Typed = TypeVar("Typed")


def levels_asked(problem: Problem, typed: Mapping[str, Typed | None]) -> Typed | None:
    """What was typed for the problem's own promise, by the names of the options; refuses levels of another."""
    own = next(name for name in typed if name.startswith(problem.promise.keys[0]))
    for name, levels in typed.items():
        if levels and name != own:
            raise InputError(
                "Levels are of the promise that the problem asks for",
                found=f"--{name} for a problem of {problem.promise.brief()}",
                allowed=f"--{own}",
                remedy=f"use --{own}",
            )
    return typed[own]
