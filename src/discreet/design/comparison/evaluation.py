"""Beyond expected loss: how a mechanism behaves at each value of the statistic, added up, and for readers of its raw output.

bias(ω) = E[a | ω] − ω and risk(ω) = E[ℓ(a, ω) | ω] of following the recommended actions; the bias given ω also averages over the
databases with that ω. Over many cells biases add up while errors average out: the error of a total over n cells is
n²·bias² + n·variance, so a design that shrinks towards its prior is not for adding up, and says so.
Unbiased: an estimator g(s) with E[g(s) | h] = ω(h) for every state h, when the linear system has a solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.design.memory import BYTES_PER_NEIGHBOURS, MOST_NEIGHBOURS, must_fit
from discreet.errors import InputError, TooLarge
from discreet.model.actions import Action
from discreet.model.decision import Decision
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Believed, Problem, believed
from discreet.model.progression import Progression
from discreet.model.record import Behaviour
from discreet.model.replies import loss_table
from discreet.model.unbiased import unbiased_values
from discreet.model.universe import Universe
from discreet.numerics.exact import counted

MOST_LISTED, MOST_STATES = 8_000_000, 120_000
"""Pairs of outputs and states, and states, that are looked at one by one: half a gigabyte."""
MOST_IN_WORLDS = 2_000_000
"""Of such pairs, where many worlds are looked at."""
BYTES_PER_LISTED = 64


@dataclass(frozen=True, eq=False)
class Evaluation(Behaviour):
    """Also arrays over the ascending values of the statistic with positive prior mass, and the unbiased estimator by output."""

    omegas: np.ndarray
    prior: np.ndarray
    bias: np.ndarray
    risk: np.ndarray
    unbiased: np.ndarray | None


@dataclass(frozen=True, eq=False)
class Seen:
    """Everything about a mechanism that an evaluation needs, in floats: kernel [output, ground state], masses, ω.

    `values` are those that ω takes, ascending, and `column` which of them each state has.
    """

    kernel: np.ndarray
    masses: np.ndarray
    omegas: np.ndarray
    values: tuple[Fraction, ...]
    column: np.ndarray


def seen(mechanism: Mechanism, problem: Problem | None = None) -> Seen:
    """The mechanism on the finest states of a problem with the same universe (its own unless another is given)."""
    problem = problem or mechanism.problem
    must_be_listed(mechanism, problem)
    space = problem.finest()
    belief: Believed = believed(problem, space)
    vectors = np.asarray(space.vectors)
    if mechanism.summary.ordered:
        states = np.arange(len(space))
    elif problem.exchangeable:
        states = mechanism.states_of(vectors)
    else:
        states = mechanism.states_of(problem.people.histograms_of(vectors))
    column = np.array(belief.column)
    omegas = np.array([float(w) for w in belief.values])[column]
    return Seen(mechanism.probabilities.take(states, axis=1), belief.weights.floats(), omegas, belief.values, column)


def states_listed(problem: Problem) -> int:
    """How many finest states a problem has: histograms when order does not matter, else databases, else names."""
    universe = problem.universe
    if not isinstance(universe, Universe):
        return len(universe.names)
    return universe.histogram_count if problem.exchangeable else universe.database_count


def must_be_listed(mechanism: Mechanism, problem: Problem) -> None:
    """Refuse, before any work, a table of states and outputs that would not fit."""
    states, outputs = states_listed(problem), mechanism.kernel.width
    if states * outputs > MOST_LISTED or states > MOST_STATES:
        raise TooLarge(
            "There are too many states to look at one by one",
            size=f"{counted(states)} states and {outputs:,} outputs",
            fits=f"{MOST_LISTED:,} pairs and {MOST_STATES:,} states",
            remedy="try fewer respondents or types",
        )
    universe = problem.universe
    pairs = universe.histogram_pairs if isinstance(universe, Universe) and problem.exchangeable else 0
    if pairs > MOST_NEIGHBOURS:
        raise TooLarge(
            "There are too many neighbours to look at states one by one",
            size=f"{counted(pairs)} pairs of neighbours",
            fits=f"{MOST_NEIGHBOURS:,}",
            remedy="try fewer respondents or types",
        )
    must_fit(BYTES_PER_NEIGHBOURS * pairs, f"a list of {counted(pairs)} pairs of neighbours")
    must_fit(BYTES_PER_LISTED * states * outputs, f"looking at {counted(states)} states and {outputs:,} outputs one by one")


def why_not_listed(mechanism: Mechanism) -> str | None:
    """Why the finest states are not listed; None when they are."""
    problem = mechanism.problem
    if not isinstance(problem.universe, Universe):
        return None
    states, outputs = states_listed(problem), mechanism.kernel.width
    words = f"{counted(states)} states and {outputs:,} outputs are too many to list"
    if states * outputs > MOST_IN_WORLDS:
        return words
    try:
        must_be_listed(mechanism, problem)
    except (TooLarge, MemoryError):
        return words
    return None


def evaluate(mechanism: Mechanism) -> Evaluation:
    """Bias, risk and unbiased estimator of following the recommended actions of a single decision with numeric actions."""
    view = seen(mechanism)
    decision = mechanism.problem.decisions[0]
    actions = recommended(mechanism)
    numeric = all(isinstance(a, Fraction) for a in actions)
    numbers = np.array([float(a) for a in actions]) if numeric else np.full(len(actions), np.nan)
    distinct, column = view.values, view.column
    mass = np.bincount(column, view.masses, len(distinct))
    held = mass > 0
    expected = numbers @ view.kernel
    bias = _given(column, view.masses * (expected - view.omegas), mass)
    risk = _given(column, view.masses * _risk(decision, view, actions, distinct, column), mass)
    error2 = (view.masses * ((numbers**2) @ view.kernel - 2 * view.omegas * expected + view.omegas**2)).sum()
    mean_bias = float((view.masses * (expected - view.omegas)).sum())
    estimator = unbiased_values(mechanism) if numeric else None
    variance = None if estimator is None else float(view.masses @ ((estimator**2) @ view.kernel - view.omegas**2))
    return Evaluation(
        slope=_slope(view, expected),
        average_bias=mean_bias,
        spread=float(error2 - mean_bias**2),
        worst_risk=float(risk[held].max()),
        unbiased_variance=variance,
        omegas=np.array([float(w) for w in distinct])[held],
        prior=mass[held],
        bias=bias[held],
        risk=risk[held],
        unbiased=estimator,
    )


def recommended(mechanism: Mechanism, maker: int = 0) -> Sequence[Action]:
    """What each output recommends to one of the decision makers."""
    kept = mechanism.kernel.recommended or (None,)
    if isinstance(kept, Progression):
        return kept
    each = [action[maker] if isinstance(action, tuple) else action for action in kept]
    actions = [a for a in each if a is not None]
    if len(actions) < len(each):
        raise InputError(
            "The mechanism recommends no actions",
            found="an output without action",
            allowed="an action for each output",
            remedy="design it again",
        )
    return actions


def _risk(
    decision: Decision,
    view: Seen,
    actions: Sequence[Action],
    distinct: tuple[Fraction, ...],
    column: np.ndarray,
) -> np.ndarray:
    table = loss_table(decision, actions, distinct)
    return (view.kernel * table[:, column]).sum(axis=0)


def _given(column: np.ndarray, weighted: np.ndarray, mass: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.bincount(column, weighted, len(mass)) / mass


def _slope(view: Seen, expected: np.ndarray) -> float:
    """The regression of the recommended action on ω under the prior: below one, high cells are reported too low."""
    mean = view.masses @ view.omegas
    centred = view.omegas - mean
    variance = view.masses @ centred**2
    return float(view.masses @ (expected * centred) / variance) if variance > 0 else 1.0
