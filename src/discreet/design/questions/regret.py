"""Regret: what a mechanism costs a reader whose prior or payoff differs from the designer's.

`under` values a mechanism for another problem on the same universe in two ways: following its recommended actions, and replying
best to its outputs with the other prior. Regret is the loss of following against the best mechanism for that other problem.
The neighbourhood of an iid prior p with radius κ has the corners (1−κ)p + κ·e_t, one for each type t.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import nan

import numpy as np

from discreet.design.best_mechanism import design
from discreet.design.comparison.evaluation import (
    MOST_STATES,
    must_be_listed,
    recommended,
    seen,
    states_listed,
)
from discreet.design.comparison.truths import SummedWorld, why_not_summed
from discreet.errors import InputError, TooLarge
from discreet.model.actions import NamedActions, RealActions
from discreet.model.mechanism import Claims, Mechanism
from discreet.model.priors import IidPrior, ReferencePrior
from discreet.model.problem import Problem
from discreet.model.replies import best_replies, reply_loss
from discreet.model.universe import Universe
from discreet.numerics.digits import number_at_least, number_at_most
from discreet.watch import SILENT, Watch


@dataclass(frozen=True)
class Under:
    """A mechanism under another problem: loss when followed, loss when re-read, bias of the followed action."""

    followed: float
    reread: float
    bias: float


@dataclass(frozen=True)
class Regret:
    """The loss of following against the least possible loss for that problem (between `least` and `reached`)."""

    under: Under
    least: float
    reached: float
    prior: tuple[Fraction, ...] | None = None

    @property
    def regret(self) -> float:
        """At least this much is lost by following."""
        return self.under.followed - self.reached

    @property
    def regret_at_most(self) -> float:
        """No more than this is lost by following."""
        return self.under.followed - self.least


def must_compare(own: Problem, other: Problem) -> None:
    """Refuse, before any design, a problem for which the mechanisms of another may not be valued."""
    _must_share(own, other)
    for mine, theirs in zip(own.decisions, other.decisions, strict=True):
        shared = mine.actions == theirs.actions
        if not isinstance(mine.actions, RealActions):
            shared = all(action in theirs.actions for action in mine.actions)
        if not theirs.is_loss and not shared:
            raise _other_actions()


def _must_share(own: Problem, other: Problem) -> None:
    """Readers may differ in prior, statistic and payoff, and in nothing else."""
    if len(other.decisions) != len(own.decisions):
        raise InputError(
            "The other problem has another number of decision makers",
            found=f"{len(other.decisions)}",
            allowed=f"{len(own.decisions)}",
            remedy="keep the number of [[decision]] tables",
        )
    if other.universe != own.universe or other.neighbours != own.neighbours:
        raise InputError(
            "The other problem speaks about another universe",
            found="other respondents, values or neighbours",
            allowed="the same [data]",
            remedy="change only the prior, the statistic or the decision",
        )


def _other_actions() -> InputError:
    return InputError(
        "The mechanism recommends actions that the other decision does not have",
        found="other actions",
        allowed="the same actions, or a loss",
        remedy="compare mechanisms for decisions with the same actions",
    )


def under(mechanism: Mechanism, problem: Problem) -> Under:
    """The mechanism for a reader with another prior or another payoff, on the same universe."""
    _must_share(mechanism.problem, problem)
    if why_not_listed_for(mechanism, problem) is not None:
        return _under_by_sums(mechanism, problem)
    view = seen(mechanism, problem)
    distinct, at = view.values, view.column
    mass = np.zeros((len(view.masses), len(distinct)))
    mass[np.arange(len(at)), at] = view.masses
    joint = view.kernel @ mass
    followed = reread = 0.0
    for i, decision in enumerate(problem.decisions):
        weight = float(decision.weight)
        actions = recommended(mechanism, i)
        if not decision.is_loss and any(a not in decision.actions for a in actions):
            raise _other_actions()
        followed += weight * float(reply_loss(decision, joint, distinct, actions).sum())
        reread += weight * best_replies(decision, joint, distinct).loss
    first = recommended(mechanism)
    numeric = all(isinstance(a, Fraction) for a in first)
    numbers = np.array([float(a) for a in first]) if numeric else np.full(len(first), np.nan)
    bias = float(view.masses @ (numbers @ view.kernel - view.omegas))
    return Under(followed, reread, bias)


def why_not_listed_for(mechanism: Mechanism, problem: Problem) -> str | None:
    """Why the states of another problem are not looked at one by one; None when they are."""
    try:
        must_be_listed(mechanism, problem)
    except TooLarge as error:
        return str(error)
    return None


def _under_by_sums(mechanism: Mechanism, problem: Problem) -> Under:
    """The same through the law of the weighted sum that the mechanism reads: exact for squared error, else an estimate."""
    there = replace(mechanism, problem=problem, claims=Claims())
    if why_not_summed(there) is not None or any(isinstance(d.actions, NamedActions) for d in problem.decisions):
        must_be_listed(mechanism, problem)
    world = SummedWorld(there)
    own = world.tilted(0.0)
    reread = own.loss
    if len(problem.decisions) == 1:
        again = replace(there, kernel=there.kernel.with_actions(world.replies([0.0])))
        reread = min(reread, world.reading(again).tilted(0.0).loss)
    return Under(own.loss, reread, nan if own.bias is None else own.bias)


def must_be_valued(problem: Problem) -> None:
    """Refuse, before any design, a problem under whose priors no mechanism can be valued: too many states, and no sum."""
    universe = problem.universe
    if isinstance(universe, Universe) and states_listed(problem) > MOST_STATES:
        named = any(isinstance(d.actions, NamedActions) for d in problem.decisions)
        if named or problem.statistic.weights(universe) is None:
            problem.finest()


def regret(mechanism: Mechanism, problem: Problem, watch: Watch = SILENT, gap: float = 1e-4, seconds: float = 30.0) -> Regret:
    """The mechanism against the best one for another problem."""
    best = design(problem, watch, gap=gap, seconds=seconds, compare=False)
    prior = problem.prior
    shown = prior.probabilities if isinstance(prior, (IidPrior, ReferencePrior)) else None
    seen_there = under(mechanism, problem)
    # Whoever re-reads the mechanism has one for the other problem: the best there loses no more than that.
    return Regret(seen_there, number_at_least(best.lower_bound), min(number_at_most(best.loss), seen_there.reread), shown)


def corner_priors(problem: Problem, radius: Fraction) -> list[IidPrior]:
    """The corners (1−κ)p + κ·e_t of the neighbourhood of an iid prior."""
    prior = problem.prior
    if not isinstance(prior, (IidPrior, ReferencePrior)):
        raise InputError(
            "Neighbourhoods are drawn around iid priors",
            found=prior.kind,
            allowed="iid or reference",
            remedy="give an alternative problem instead",
        )
    if not 0 < radius < 1:
        raise InputError(
            "The radius is a share of probability",
            found=str(radius),
            allowed="between 0 and 1",
            remedy="for instance 0.05",
        )
    p = prior.probabilities
    return [IidPrior(tuple((1 - radius) * x + radius * (s == t) for s, x in enumerate(p)), prior.size) for t in range(len(p))]


def regrets_around(mechanism: Mechanism, radius: Fraction, watch: Watch = SILENT, seconds: float = 30.0) -> list[Regret]:
    """Regret at every corner of the neighbourhood, worst first."""
    problem = mechanism.problem
    found = [
        regret(mechanism, replace(problem, prior=prior), watch, seconds=seconds)
        for prior in corner_priors(problem, radius)
        if not watch.cancelled()
    ]
    return sorted(found, key=lambda r: -r.regret)
