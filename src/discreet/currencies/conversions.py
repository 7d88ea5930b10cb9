"""Conversions between currencies: a table of edges, each with formula, source and whether it is tight.

`convert` reads a statement in another currency by up to `MOST_STEPS` edges, takes the chain with the smallest result, and
shows which it used. Results are rounded up. A tight edge cannot be improved: some pair attains it (`attaining`).

MI needs a finite alphabet when it comes from TV, and is sharper for two types; say what is known with `types` (values
one respondent can have) and `outputs`. Where nothing finite follows, for instance pure ε from zCDP, `convert` says so and why;
where something may follow that is not in the table, it says only that (`WHY_NOT`).
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
MOST_STEPS = 3
WHY_NOT = (
    (("approximate", "tv", "mi"), ("epsilon", "kl", "zcdp", "renyi", "gaussian"), "some output may rule one neighbour out"),
    (("approximate", "tv"), ("approximate",), "an output may rule one neighbour out with more than this probability"),
    (("approximate", "tv"), ("mi",), "an output may name the type, and types may be ever more"),
    (("kl",), ("epsilon", "zcdp", "renyi", "gaussian"), "rare outputs may have losses of any size"),
    (("renyi",), ("epsilon", "zcdp", "renyi", "gaussian"), "moments of higher order may be infinite"),
    (("zcdp", "gaussian"), ("epsilon",), "losses have no largest value, as those of normal noise"),
)
"""(sources, targets, reason): pairs of neighbours show in each case that no finite number follows. δ = 0 is pure ε."""


@dataclass(frozen=True)
class Sought:
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
    compute: Callable[[Numbers, Sought], tuple[str, Bracket | Fraction] | None]
    attained_by: Callable[[Numbers, Sought], Attaining] | None = None
    any_alphabet: bool = False
    """Tight only for respondents of unboundedly many types: not once `types` is given."""
    same: bool = False
    """The same promise in other words: before another edge it takes nothing from that one's tightness."""


@dataclass(frozen=True)
class Arrow:
    """An edge that was used and the statement that it led to."""

    edge: Edge
    result: Statement


@dataclass(frozen=True)
class Converted:
    """The statement reached and the steps that led to it."""

    result: Statement
    steps: tuple[Arrow, ...]
    tight: bool
    """Whether no smaller number is true of every mechanism with the source statement."""


def convert(source: Statement, target: str, *, types: int | None = None, outputs: int | None = None, **wanted: object) -> Converted:
    """The best statement of another kind that follows from `source`.

    For `approximate` give epsilon (the δ is computed) or delta (the ε is); for `renyi` give order.
    """
    if target not in KINDS:
        raise unknown_kind(target)
    asked = Sought({name: exact(value, name) for name, value in wanted.items()}, types, outputs)
    for name, value in asked.numbers.items():
        check_number(name, value)
    _must_be_asked(target, asked)
    if source.kind == target and target != "approximate" and asked.get("order") in (None, source.numbers.get("order")):
        return Converted(source, (), True)
    chains = [
        (*chain, last)
        for start, chain in _reached(source, target, Sought({}, types, outputs))
        for last in _steps(start, target, asked)
    ]
    if not chains:
        raise _no_promise(source, target, asked)
    best = min(chains, key=lambda chain: (_size(chain[-1].result, asked), len(chain)))
    counted = [step.edge for step in best if not step.edge.same]
    tight = len(counted) <= 1 and all(e.tight and not (e.any_alphabet and types is not None) for e in counted)
    return Converted(best[-1].result, best, tight)


def _reached(source: Statement, target: str, asked: Sought) -> list[tuple[Statement, tuple[Arrow, ...]]]:
    """The source, and the best statement of every kind with one number on the way, with the steps to each.

    A smaller number is a stronger promise and every edge keeps that order, so the best of each kind is enough.
    """
    found: dict[str, tuple[Statement, tuple[Arrow, ...]]] = {}
    latest: list[tuple[Statement, tuple[Arrow, ...]]] = [(source, ())]
    for _ in range(MOST_STEPS - 1):
        grown = []
        for start, chain in latest:
            for middle in KINDS:
                if middle in (source.kind, target, "tradeoff") or len(KINDS[middle]) > 1:
                    continue
                for step in _steps(start, middle, asked):
                    known = found.get(middle)
                    if known is None or _size(step.result, asked) < _size(known[0], asked):
                        found[middle] = step.result, (*chain, step)
                        grown.append(found[middle])
        latest = grown
    return [(source, ()), *found.values()]


def edges(source: str | None = None, target: str | None = None) -> tuple[Edge, ...]:
    """The table, or the part of it from or to a kind."""
    from discreet.currencies.table import TABLE

    return tuple(e for e in TABLE if source in (None, e.source) and target in (None, e.target))


def _steps(source: Statement, target: str, asked: Sought) -> list[Arrow]:
    found = []
    for edge in edges(source.kind, target):
        computed = edge.compute(source.numbers, asked)
        if computed is not None:
            found.append(Arrow(edge, _stated(target, computed, asked, source)))
    return found


def _stated(target: str, computed: tuple[str, Bracket | Fraction], asked: Sought, source: Statement) -> Statement:
    if target == "tradeoff":
        return Statement("tradeoff", {}, tradeoff_corners(source))
    name, found = computed
    given = {key: value for key, value in asked.numbers.items() if key in KINDS[target] and key != name}
    return Statement(target, {**given, name: found if isinstance(found, Fraction) else Fraction(found.upper)})


def tradeoff_corners(source: Statement) -> tuple[tuple[Fraction, Fraction], ...]:
    """Corners of f for (ε, δ)-DP, exact but for the point on the diagonal, which is rounded to the lower left.

    A bound on TV is (0, TV)-DP.
    """
    epsilon, delta = source.numbers.get("epsilon", Fraction(0)), source.numbers.get("delta", source.numbers.get("tv", Fraction(0)))
    knee, top, nothing = (1 - Fraction(formulas.total_variation(epsilon, delta).upper)) / 2, 1 - delta, Fraction(0)
    return ((nothing, top), (knee, knee), (top, nothing))


def _must_be_asked(target: str, asked: Sought) -> None:
    needed = {"approximate": ("epsilon", "delta"), "renyi": ("order",)}.get(target, ())
    given = [name for name in needed if name in asked.numbers]
    extra = sorted(set(asked.numbers) - set(needed))
    if (needed and len(given) != 1) or extra:
        raise InputError(
            f"A conversion to {target!r} needs to know which",
            found=", ".join(asked.numbers) or "nothing",
            allowed=" or ".join(needed) if needed else "no number",
            remedy="give exactly one of these" if needed else "leave the number out: it is computed",
        )


def _size(result: Statement, asked: Sought) -> Fraction:
    free = [value for name, value in result.numbers.items() if name not in asked.numbers]
    return free[0] if free else Fraction(0)


def _no_promise(source: Statement, target: str, asked: Sought) -> InputError:
    reached = sorted({e.target for e in edges(source.kind) if not e.same})
    remedy = "choose another target"
    if target == "mi" and asked.types is None and asked.outputs is None:
        remedy = "say how many types or outputs there are: without a finite alphabet a small TV promises nothing"
    if asked.get("delta") is not None:
        remedy = "ask for a larger delta, or give epsilon instead"
    why = why_not(source.kind, "epsilon" if asked.get("delta") == 0 else target)
    what = (
        f"No finite guarantee of kind {target!r} follows from this: {why}"
        if why
        else (f"No way from this to a guarantee of kind {target!r} is in the table, which does not mean that there is none")
    )
    return InputError(what, found=str(source), allowed=f"in one step: {', '.join(reached) or 'nothing'}", remedy=remedy)


def why_not(source: str, target: str) -> str | None:
    """Why no finite statement of the second kind follows from one of the first (above 0), or None where that is not known."""
    for sources, targets, reason in WHY_NOT:
        if source in sources and target in targets:
            return reason
    return None


__all__ = ["Arrow", "Attaining", "Converted", "Edge", "Sought", "attaining", "convert", "edges", "tradeoff_corners", "why_not"]
