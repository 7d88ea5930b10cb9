"""Sentences made from numbers, in one place: what a problem asks, what a design reaches, what a promise means.

Every sentence is plain, says its units, and follows from its arguments alone, so that tests can hold it to them.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp

from discreet.model.actions import ListedActions, NamedActions, RealActions
from discreet.model.decision import Decision
from discreet.model.guarantee import RELATIONS, Guarantee
from discreet.model.problem import Problem
from discreet.model.universe import Universe

KINDS = {
    "squared-error": "the squared distance between the action and the statistic",
    "absolute-error": "the distance between the action and the statistic",
    "match": "whether the statistic was named exactly",
    "table": "a table of payoffs",
}


def problem_words(problem: Problem) -> str:
    """What is published, about whom, and what for."""
    universe = problem.universe
    if not isinstance(universe, Universe):
        return f"{len(universe.names)} databases are told apart by name; the statistic is a table. {decisions_words(problem)}"
    size = f"{universe.largest:,}" if universe.fixed else f"{universe.smallest:,} to {universe.largest:,}"
    values = listed([number(v) for v in universe.values])
    return (
        f"A cell has {size} {plural(problem.unit)}; each has one of the values {values}. "
        f"{_statistic_words(problem)} {decisions_words(problem)}"
    )


def _statistic_words(problem: Problem) -> str:
    kind = problem.statistic.kind
    if kind == "count":
        of = listed([str(t) for t in problem.statistic.of])  # type: ignore[union-attr]
        return f"The statistic is how many of them have type {of}."
    return {
        "sum": "The statistic is the sum of these values.",
        "mean": "The statistic is their average.",
        "table": "The statistic is given by a table.",
    }[kind]


def decisions_words(problem: Problem) -> str:
    """How the readers' actions are judged."""
    return " ".join(_decision_words(d) for d in problem.decisions)


def _decision_words(decision: Decision) -> str:
    name = f"{decision.name}: " if decision.name else ""
    if decision.kind == "pinball":
        q = number(decision.quantile or Fraction(1, 2))
        return f"{name}Whoever reads it chooses {_actions_words(decision)}; being too low costs {q} a unit, too high 1 − {q}."
    if decision.kind == "expression":
        return f"{name}Whoever reads it chooses {_actions_words(decision)} and is paid {decision.expression}."
    return f"{name}Whoever reads it chooses {_actions_words(decision)}; it is judged by {KINDS[decision.kind]}."


def _actions_words(decision: Decision) -> str:
    actions = decision.actions
    if isinstance(actions, RealActions):
        return "a number"
    if isinstance(actions, NamedActions):
        return f"one of {listed(list(actions.labels))}"
    assert isinstance(actions, ListedActions)
    if all(a.denominator == 1 for a in actions.numbers):
        return f"a whole number from {number(actions.numbers[0])} to {number(actions.numbers[-1])}"
    return f"one of {len(actions)} numbers"


def gain_words(own: float, other: float, name: str) -> str:
    """How much less the design loses than a baseline."""
    if other <= 0 or own >= other:
        return f"The design's expected loss is {significant(own)}; that of {name} is {significant(other)}."
    share = 1 - own / other
    return f"The design's expected loss is {significant(own)} where {name} leaves {significant(other)}: {share:.0%} less."


def proof_words(loss: float, lower: float) -> str:
    """What the bound says."""
    gap = (loss - lower) / max(abs(loss), 1e-12)
    return (
        f"No private mechanism can have an expected loss below {lower:.9g}, so this one is within "
        f"{'one part in ' + format(round(1 / gap), ',') if 0 < gap < 0.01 else format(max(gap, 0), '.1%')} of the best possible."
    )


def guarantee_words(guarantee: Guarantee) -> str:
    """The promise in a sentence."""
    what = {
        "replace-one": f"whatever one {guarantee.unit}'s record says",
        "add-remove-one": f"whether or not one {guarantee.unit} is in the data",
        "given": "whichever of two neighbouring databases is true",
    }[guarantee.neighbours]
    return (
        f"Every published value is almost as likely {what}: probabilities differ by a factor of at most e^ε with ε = "
        f"{number(guarantee.epsilon)} ({RELATIONS[guarantee.neighbours]} neighbours)."
    )


def attacker_words(epsilon: float, unit: str, sure: float = 0.5) -> str:
    """How sure an attacker can become about one yes-or-no fact."""
    odds = sure / (1 - sure) * exp(epsilon)
    after = odds / (1 + odds)
    return (
        f"Someone who is {sure:.0%} sure today of a yes-or-no fact about one {unit} can become at most {after:.0%} sure, if "
        "others' answers say nothing about this one's."
    )


def adding_words(slope: float) -> str:
    """Whether recommended actions may be added up over cells."""
    if abs(slope - 1) < 0.05:
        return "Recommended actions follow the statistic one for one on average, so sums over cells are not pulled together."
    return (
        f"Not for adding up: recommended actions move only {slope:.2f} for each unit of the statistic, so high cells are reported too "
        "low and low ones too high; totals and rankings over cells inherit that."
    )


def listed(words: list[str]) -> str:
    """a, b and c."""
    if len(words) > 8:
        words = [*words[:3], "…", words[-1]]
        return ", ".join(words)
    return " and ".join(([", ".join(words[:-1])] if words[:-1] else []) + words[-1:])


def plural(unit: str) -> str:
    """More than one of a unit."""
    return unit[:-1] + "ies" if unit.endswith("y") and unit[-2:-1] not in "aeiou" else unit + "s"


def number(x: Fraction) -> str:
    """A rational as people write it."""
    return str(x.numerator) if x.denominator == 1 else f"{float(x):.10g}"


def significant(x: float) -> str:
    """Four significant digits."""
    return f"{x + 0.0:.4g}"
