"""Sentences made from numbers, in one place: what a problem asks, what a design reaches, what a promise means.

Every sentence is plain, says its units, and follows from its arguments alone, so that tests can hold it to them.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

from discreet.interpret.promised_limits import promised_shift
from discreet.interpret.sentences import attacker_sentence
from discreet.model.actions import NamedActions, RealActions
from discreet.model.decision import Decision
from discreet.model.gap import size
from discreet.model.guarantee import RELATIONS, Guarantee
from discreet.model.problem import Problem
from discreet.model.promises import ConcentratedPromise, PurePromise
from discreet.model.universe import Universe
from discreet.numerics.digits import about, at_least, between, given, percent_about, percent_at_most

AUTHORS = {
    "SY": "Schmutte and Yoder (2024)",
    "GRS": "Ghosh, Roughgarden and Sundararajan (2012)",
    "GV": "Geng and Viswanath (2015)",
}
PEOPLE = {"woman": "women", "man": "men", "person": "people", "child": "children"}
USE = "To add up, use discreet total on the release, or its column to_add_up."
ARGUMENTS = {
    "chain bound": "a bound along chains of neighbouring databases",
    "set-aside bound": "a bound on what may be said of one respondent, given sums over the others",
    "urn bound": "a bound on mean counts of types, given how many have the likeliest one",
    "boxes bound": "a bound on the counts of a few types, all others told",
    "crowd bound": "a bound on the count and the sum of the far types beside a few nearer ones, all others told",
    "told bound": "a bound on the count and the sum of the far types, all others told",
    "quotient bound": "a bound on states taken together",
    "bounds of each maker": "bounds for each decision maker alone, which add up",
    "minimax duality": "a bound under a mixture of the priors (minimax duality)",
}


def problem_words(problem: Problem) -> str:
    """What is published, about whom, and what for."""
    universe = problem.universe
    if not isinstance(universe, Universe):
        return f"{len(universe.names)} databases are told apart by name; the statistic is a table. {decisions_words(problem)}"
    many = f"{universe.largest:,}" if universe.fixed else f"{universe.smallest:,} to {universe.largest:,}"
    values = listed([number(v) for v in universe.values])
    return (
        f"A cell has {many} {plural(problem.unit)}; each has one of the values {values}. "
        f"{_statistic_words(problem)} {decisions_words(problem)}"
    )


def _statistic_words(problem: Problem) -> str:
    kind = problem.statistic.kind
    if kind == "count":
        values = problem.universe.values  # type: ignore[union-attr]
        of = listed([number(values[t]) for t in problem.statistic.of], "or")  # type: ignore[union-attr]
        return f"The statistic is how many of them have the value {of}."
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
    return f"{name}Whoever reads it chooses {_actions_words(decision)}{decision.loss.words()}."


def _actions_words(decision: Decision) -> str:
    actions = decision.actions
    if isinstance(actions, RealActions):
        return "a number"
    if isinstance(actions, NamedActions):
        return f"one of {listed(list(actions.labels))}"
    if all(a.denominator == 1 for a in actions.numbers):
        return f"a whole number from {number(actions.numbers[0])} to {number(actions.numbers[-1])}"
    return f"one of {len(actions)} numbers"


def loss_name(problem: Problem) -> str:
    """What the expected loss is an expectation of."""
    measures = {decision.loss.measure for decision in problem.decisions}
    return f"expected {measures.pop() if len(measures) == 1 else 'loss'}"


def gain_words(own: float, other: float, name: str) -> str:
    """How much less the design loses than a baseline."""
    if other <= 0 or own >= other:
        return f"The design's expected loss is {about(own)}; that of {name} is {about(other)}."
    share = 1 - own / other
    return f"The design's expected loss is {about(own)} where {name} leaves {about(other)}: {percent_about(share)} less."


def proof_words(loss: Fraction | float, lower: Fraction | float, kept: str = PurePromise.adjective) -> str:
    """What the bound says: a loss that this design has at most, and one that no mechanism with its kind of promise goes below."""
    most, least = Fraction(loss), Fraction(lower)
    gap = Fraction((most - least) / size(most, least)) if most != least else Fraction(0)
    if gap <= 0:
        near = "is the best possible"
    elif gap < Fraction(1, 100):
        near = f"is within one part in {floor(1 / gap):,} of the best possible"
    else:
        near = f"is within {percent_at_most(gap)} of the best possible"
    return f"No {kept} mechanism can have an expected loss below {at_least(least, 9)}, so this one {near}."


def tight_words(low: Fraction, high: Fraction) -> str:
    """The smallest ε for which the promise holds, known from both sides."""
    known = between(low, high, 9, words="lies between {} and {}")
    return f"The smallest ε for which the promise holds {known if known.startswith('lies') else f'is {known}'}."


def guarantee_words(guarantee: Guarantee) -> str:
    """The promise in a sentence."""
    what = {
        "replace-one": f"whatever one {guarantee.unit}'s record says",
        "add-remove-one": f"whether or not one {guarantee.unit} is in the data",
        "given": "whichever of two neighbouring databases is true",
    }[guarantee.neighbours]
    numbers = {key: number(level) for key, level in guarantee.promise.numbers.items()}
    return (
        f"Every published value is almost as likely {what}: {guarantee.promise.meaning(numbers)} "
        f"({RELATIONS[guarantee.neighbours]} neighbours)."
    )


def attacker_words(guarantee: Guarantee, sure: Fraction | float = Fraction(1, 2)) -> str:
    """How sure an attacker can become about one respondent; without a pure ε there is no limit that holds after every value."""
    if not isinstance(guarantee.promise, PurePromise):
        letter, usual = guarantee.promise.letter, ""
        if isinstance(guarantee.promise, ConcentratedPromise):
            shift = promised_shift(guarantee.promise)
            usual = " " + attacker_sentence(
                sure, shift.size, neighbours=guarantee.neighbours, unit=guarantee.unit, except_for=shift.except_for
            )
        words = f"Under a promise of {letter}, how sure an attacker can become has no limit that holds after every published value."
        return words + usual
    return attacker_sentence(sure, guarantee.epsilon, neighbours=guarantee.neighbours, unit=guarantee.unit)


def theorem_words(theorem: str) -> str:
    """A theorem by the names of its authors, as a reader finds it among the sources; another argument in a few words."""
    for key, authors in AUTHORS.items():
        if theorem.startswith(f"{key} "):
            place = theorem.removeprefix(f"{key} ").replace("Prop. ", "Proposition ").replace("Thm ", "Theorem ")
            return f"{authors}, {place}"
    return ARGUMENTS.get(theorem, theorem)


UNBIASED = {
    "everywhere": "Bias exactly 0 at every state, likely or not: published values may be added up.",
    "nearby": "Bias exactly 0 on average over the prior, and unrelated to every count: published values may be added up, and a "
    "slightly wrong prior moves totals in second order only.",
}
"""What the two ways of being unbiased mean to whoever adds up."""


def rival_words(problem: Problem) -> str:
    """Whom a bound speaks about."""
    kind = "" if problem.unbiased is None else f" with values unbiased {problem.unbiased}"
    return f"no {problem.promise.adjective} mechanism{kind}"


def adding_words(slope: float) -> str:
    """What to use for sums over cells, and why not the recommended actions."""
    if abs(slope - 1) < 0.05:
        return "Recommended actions follow the statistic one for one on average, so sums over cells are not pulled together."
    if slope > 1:
        return (
            f"{USE} Recommended actions move {about(slope, 3)} for each unit of the statistic, so differences between cells are "
            "exaggerated; their sums and rankings inherit that."
        )
    return (
        f"{USE} Recommended actions move only {about(slope, 3)} for each unit of the statistic, so high cells are reported too low "
        "and low ones too high; their sums and rankings inherit that."
    )


def listed(words: list[str], last: str = "and") -> str:
    """a, b and c."""
    if len(words) > 8:
        words = [*words[:3], "…", words[-1]]
        return ", ".join(words)
    return f" {last} ".join(([", ".join(words[:-1])] if words[:-1] else []) + words[-1:])


def plural(unit: str) -> str:
    """More than one of a unit."""
    if unit in PEOPLE:
        return PEOPLE[unit]
    if unit.endswith("y") and unit[-2:-1] not in "aeiou":
        return unit[:-1] + "ies"
    return unit + ("es" if unit.endswith(("s", "x", "ch", "sh")) else "s")


def number(x: Fraction) -> str:
    """A rational as people write it."""
    text = given(x)
    return text if len(text) <= 12 else about(x, 10)
