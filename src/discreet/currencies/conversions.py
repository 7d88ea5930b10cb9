"""Conversions between currencies: a table of edges, each with formula, source and whether it is tight.

`convert` reads a statement in another currency by one edge or by two, takes the chain with the smallest result, and
shows which it used. Results are rounded up. A tight edge cannot be improved: some pair attains it (`attaining`).

MI needs a finite alphabet when it comes from TV, and is sharper for two types; say what is known with `types` (values
one respondent can have) and `outputs`. Where no promise follows, for instance pure ε from zCDP, `convert` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from discreet.currencies import attaining, formulas
from discreet.currencies.attaining import Attaining
from discreet.currencies.bracket import Bracket
from discreet.currencies.statements import KINDS, Statement, check_number, unknown_kind
from discreet.errors import InputError
from discreet.numerics.exact import exact

Numbers = Mapping[str, Fraction]


@dataclass(frozen=True)
class Asked:
    """What is wanted of the target (its given number, if it has two) and known of the alphabet."""

    numbers: Numbers
    types: int | None = None
    outputs: int | None = None

    def get(self, name: str) -> Fraction | None:
        """A number that was given for the target."""
        return self.numbers.get(name)


@dataclass(frozen=True)
class Edge:
    """One conversion; `compute` returns the free number of the target, exact or bracketed, None where it is void."""

    source: str
    target: str
    formula: str
    reference: str
    tight: bool
    compute: Callable[[Numbers, Asked], tuple[str, Bracket | Fraction] | None]
    attained_by: Callable[[Numbers, Asked], Attaining] | None = None
    any_alphabet: bool = False
    """Tight only for respondents of unboundedly many types: not once `types` is given."""


@dataclass(frozen=True)
class Step:
    """An edge that was used and the statement that it led to."""

    edge: Edge
    result: Statement


@dataclass(frozen=True)
class Converted:
    """The statement reached and the one or two steps that led to it."""

    result: Statement
    steps: tuple[Step, ...]
    tight: bool
    """Whether no smaller number is true of every mechanism with the source statement."""


def convert(
    source: Statement, target: str, *, types: int | None = None, outputs: int | None = None, **wanted: object
) -> Converted:
    """The best statement of another kind that follows from `source`.

    For `approximate` give epsilon (the δ is computed) or delta (the ε is); for `renyi` give order.
    """
    if target not in KINDS:
        raise unknown_kind(target)
    asked = Asked({name: exact(value, name) for name, value in wanted.items()}, types, outputs)
    for name, value in asked.numbers.items():
        check_number(name, value)
    _must_be_asked(target, asked)
    if source.kind == target and target not in ("approximate", "renyi"):
        return Converted(source, (), True)
    chains: list[tuple[Step, ...]] = [(step,) for step in _steps(source, target, asked)]
    for middle in KINDS:
        if middle in (source.kind, target) or len(KINDS[middle]) > 1:
            continue
        for first in _steps(source, middle, Asked({}, types, outputs)):
            chains += [(first, last) for last in _steps(first.result, target, asked)]
    if not chains:
        raise _no_promise(source, target, asked)
    best = min(chains, key=lambda chain: (_size(chain[-1].result, asked), len(chain)))
    edge = best[0].edge
    tight = len(best) == 1 and edge.tight and not (edge.any_alphabet and types is not None)
    return Converted(best[-1].result, best, tight)


def edges(source: str | None = None, target: str | None = None) -> tuple[Edge, ...]:
    """The table, or the part of it from or to a kind."""
    from discreet.currencies.table import TABLE

    return tuple(e for e in TABLE if source in (None, e.source) and target in (None, e.target))


def _steps(source: Statement, target: str, asked: Asked) -> list[Step]:
    found = []
    for edge in edges(source.kind, target):
        computed = edge.compute(source.numbers, asked)
        if computed is not None:
            found.append(Step(edge, _stated(target, computed, asked, source)))
    return found


def _stated(target: str, computed: tuple[str, Bracket | Fraction], asked: Asked, source: Statement) -> Statement:
    if target == "tradeoff":
        return Statement("tradeoff", {}, tradeoff_corners(source))
    name, found = computed
    given = {key: value for key, value in asked.numbers.items() if key in KINDS[target] and key != name}
    return Statement(target, {**given, name: found if isinstance(found, Fraction) else Fraction(found.upper)})


def tradeoff_corners(source: Statement) -> tuple[tuple[float, float], ...]:
    """Corners of f for (ε, δ)-DP: (0, 1−δ), the point on the diagonal, (1−δ, 0), rounded to the lower left."""
    epsilon, delta = source.numbers["epsilon"], source.numbers.get("delta", Fraction(0))
    knee = (1 - formulas.total_variation(epsilon, delta).upper) / 2
    top = float(1 - delta)
    return ((0.0, top), (knee * (1 - 2.0**-50), knee * (1 - 2.0**-50)), (top, 0.0))


def _must_be_asked(target: str, asked: Asked) -> None:
    needed = {"approximate": ("epsilon", "delta"), "renyi": ("order",)}.get(target, ())
    given = [name for name in needed if name in asked.numbers]
    extra = sorted(set(asked.numbers) - set(needed))
    if (needed and len(given) != 1) or extra:
        raise InputError(
            f"A conversion to {target!r} needs to know which", found=", ".join(asked.numbers) or "nothing",
            allowed=" or ".join(needed) if needed else "no number", remedy="give exactly one of these"
            if needed else "leave the number out: it is computed",
        )


def _size(result: Statement, asked: Asked) -> Fraction:
    free = [value for name, value in result.numbers.items() if name not in asked.numbers]
    return free[0] if free else Fraction(0)


def _no_promise(source: Statement, target: str, asked: Asked) -> InputError:
    reached = sorted({e.target for e in edges(source.kind)})
    remedy = "choose another target"
    if target == "mi" and asked.types is None and asked.outputs is None:
        remedy = "say how many types or outputs there are: without a finite alphabet a small TV promises nothing"
    if asked.get("delta") is not None:
        remedy = "ask for a larger delta, or give epsilon instead"
    return InputError(
        f"No finite guarantee of kind {target!r} follows from this", found=str(source),
        allowed=f"in one step: {', '.join(reached) or 'nothing'}", remedy=remedy,
    )


__all__ = ["Asked", "Attaining", "Converted", "Edge", "Step", "attaining", "convert", "edges", "tradeoff_corners"]
