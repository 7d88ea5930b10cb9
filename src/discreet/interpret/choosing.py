"""Choosing ε or ρ: what a range of levels means, side by side, in this problem's own units.

For each level of the problem's promise: how sure an attacker can become about one respondent (alone, and with `together`
respondents who answer alike; under ρ except with a small chance); how well anyone can tell a low from a high value of the statistic
(the limit for any mechanism, and the exact power for the design, when there is one); what the decision loses (a frontier is passed
in). Low and high are prior quantiles of ω, each at its most probable histogram (about so, where histograms are too many to list):
two databases, so that the limit on tests applies with their distance. Limits are rounded up.

References: SY-OA Prop. S.1, BG Thm 8. PEERS' users: "setting epsilon is very hard": this is the table they ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import InputError
from discreet.interpret.beliefs import log_histogram_law
from discreet.interpret.bounds import moved_bracket
from discreet.interpret.channel import kernel_logs
from discreet.interpret.power import neyman_pearson
from discreet.interpret.promised_limits import promised_power, promised_shift
from discreet.interpret.regions import quantile_positions
from discreet.interpret.sentences import attacker_sentence
from discreet.interpret.typical_cells import typical_cells
from discreet.model.mechanism import Mechanism
from discreet.model.priors import TablePrior
from discreet.model.problem import Problem
from discreet.model.promises import LETTERS
from discreet.model.statistic import on_histograms
from discreet.model.universe import MOST_STATES
from discreet.numerics.digits import about, given, percent_at_most, percent_given

DEFAULT_EPSILONS = tuple(Fraction(x) for x in ("1/10", "1/4", "1/2", "1", "2", "4"))


@dataclass(frozen=True)
class Choice:
    """One level in words and numbers. `loss` and `power` are None when no design was given."""

    level: Fraction
    attacker: float
    attacker_together: float
    power_limit: float
    power: float | None
    loss: float | None
    sentence: str


@dataclass(frozen=True)
class Choices:
    """The rows for all levels of ε or ρ (`key`), and what they compare: the likeliest histograms behind a low and a high value."""

    rows: tuple[Choice, ...]
    sure: float
    together: int
    alpha: float
    low: Fraction
    high: Fraction
    distance: int
    loss_name: str
    key: str = "epsilon"
    except_for: Fraction = Fraction(0)
    """The chance with which the attacker's limit may not hold: 0 under pure ε."""


Frontier = Sequence[tuple[Fraction | float, float]]


def choose(
    problem: Problem,
    levels: Iterable[Fraction] = DEFAULT_EPSILONS,
    *,
    frontier: Frontier | None = None,
    mechanism_at: Callable[[Fraction], Mechanism] | None = None,
    sure: float = 0.5,
    together: int = 4,
    alpha: float = 0.05,
    spread: float = 0.8,
) -> Choices:
    """The table at levels of the problem's promise.

    `frontier` holds pairs (level, loss); `mechanism_at(level)` gives a design whose power is computed.
    """
    asked, letter = sorted(set(levels)), problem.promise.letter
    if not asked or asked[0] < 0:
        raise InputError(
            f"Choosing needs a range of {letter}",
            found=", ".join(map(str, asked)) or "none",
            allowed="numbers from 0",
            remedy="for instance 0.25, 0.5, 1, 2",
        )
    people = problem.people_for(
        "Databases listed by name have no respondents to protect one by one", "see the limits of a mechanism instead"
    )
    together = min(together, people.largest)
    terms = problem.promise.keys[0], promised_shift(problem.promise).except_for
    if people.histogram_count > MOST_STATES:
        cells = typical_cells(problem, spread)
        low, high = on_histograms(problem.statistic, np.array(cells), people)
    else:
        low, high = typical_range(problem, spread)
        cells = typical_histogram(problem, low), typical_histogram(problem, high)
    distance = int(problem.neighbours.distance(*cells))  # type: ignore[arg-type]
    losses = {float(e): float(loss) for e, loss in frontier} if frontier is not None else {}
    rows = []
    for level in asked:
        promise = problem.promise.at(level)
        alone, alike = promised_shift(promise), promised_shift(promise, together)
        power, limit = None, promised_power(promise, alpha, distance).value
        if mechanism_at is not None:
            power = min(telling_power(mechanism_at(level), *cells, alpha), limit)
        rows.append(
            Choice(
                level=level,
                attacker=moved_bracket(sure, alone.size).upper,
                attacker_together=moved_bracket(sure, alike.size).upper,
                power_limit=limit,
                power=power,
                loss=losses.get(float(level)),
                sentence=attacker_sentence(sure, alone.size, neighbours=problem.neighbours.name, except_for=alone.except_for),
            )
        )
    return Choices(tuple(rows), sure, together, alpha, low, high, distance, _loss_name(problem), *terms)


def typical_range(problem: Problem, spread: float) -> tuple[Fraction, Fraction]:
    """A low and a high value of the statistic: prior quantiles that hold `spread` of the probability between them."""
    values, law = _statistic_law(problem)
    low = int(quantile_positions(law, (1 - spread) / 2))
    high = int(quantile_positions(law, (1 + spread) / 2))
    if low == high:
        high = min(high + 1, len(values) - 1)
        low = high - 1 if low == high else low
    return values[low], values[high]


def typical_histogram(problem: Problem, value: Fraction) -> tuple[int, ...]:
    """The most probable histogram with this value of the statistic (the first among equals)."""
    universe = problem.people
    vectors = universe.histograms()
    logs = log_histogram_law(vectors, problem.prior, universe)
    omegas = on_histograms(problem.statistic, vectors, universe)
    inside = np.array([omega == value for omega in omegas])
    return tuple(vectors[int(np.argmax(np.where(inside, logs, -np.inf)))].tolist())


def telling_power(mechanism: Mechanism, low: Sequence[int], high: Sequence[int], alpha: float) -> float:
    """The exact power of the best test of one histogram against another, or the other way round: the smaller."""
    if mechanism.summary.ordered:
        raise InputError(
            "The power is computed for mechanisms that ignore the order of respondents",
            found=f"summary {mechanism.summary.kind!r}",
            allowed="'histogram' or 'linear'",
            remedy="leave the design out",
        )
    laws = np.exp(kernel_logs(mechanism, np.array([low, high]), "histogram")).T.tolist()
    return min(
        float(neyman_pearson(laws[0], laws[1], float(alpha)).power),
        float(neyman_pearson(laws[1], laws[0], float(alpha)).power),
    )


def in_words(choices: Choices) -> list[str]:
    """One line for each level."""
    telling = f"Telling {given(choices.low)} from {given(choices.high)}, each with the likeliest data behind it, succeeds"
    alarms = f"of the time (false alarms {percent_given(choices.alpha)})."
    lines = []
    for row in choices.rows:
        if row.power is None:
            told = f"at most {percent_at_most(row.power_limit)}"
        else:
            told = f"at most {percent_at_most(row.power)} of the time with this design, with any other at most "
            told += percent_at_most(row.power_limit)
        loss = "" if row.loss is None else f" {choices.loss_name}: {about(row.loss)}."
        lines.append(f"{LETTERS[choices.key]} = {given(row.level)}: {row.sentence} {telling} {told} {alarms}{loss}")
    return lines


def _statistic_law(problem: Problem) -> tuple[tuple[Fraction, ...], np.ndarray]:
    universe = problem.people
    if isinstance(problem.prior, TablePrior) and problem.statistic.ordered:
        raise InputError(
            "A typical range needs a statistic of the histogram",
            found="statistic.by = 'database'",
            allowed="sum, mean, count, or a table by histogram",
            remedy="see the limits of a mechanism instead",
        )
    vectors = universe.histograms()
    weights = np.exp(log_histogram_law(vectors, problem.prior, universe))
    omegas = on_histograms(problem.statistic, vectors, universe)
    values = tuple(sorted(set(omegas)))
    at = {value: i for i, value in enumerate(values)}
    law = np.bincount([at[v] for v in omegas], weights=weights, minlength=len(values))
    return values, law


def _loss_name(problem: Problem) -> str:
    measures = {d.loss.measure for d in problem.decisions}
    return f"Expected {measures.pop() if len(measures) == 1 else 'loss'}"
