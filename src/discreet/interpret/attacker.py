"""The attacker's view of one respondent: how far prior odds can move to posterior odds.

For types a, b of respondent i and a published value s, the log odds of a against b move by ln P(s|θ_i=a)/P(s|θ_i=b).
given prior      the exact shift under that prior, for every type and every output
product priors   others' answers say nothing about yours: at most max over databases of the others of
                 |ln m(s|a, x)/m(s|b, x)|, which is the mechanism's own ε, and no prior can do better
any prior        others may move with you: at most ln of the largest over the smallest probability of s among
                 databases with θ_i = a and with θ_i = b; for k respondents who move together at most k·ε

References: SY-OA Prop. S.1 (two types; holds for any number pairwise), BG Thm 11 with point masses, fn 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np

from discreet.errors import InputError
from discreet.interpret.beliefs import beliefs
from discreet.interpret.bounds import SLACK, moved_bracket
from discreet.interpret.channel import kernel_logs, output_count, position_of, state_logs
from discreet.interpret.posteriors import posterior
from discreet.model.mechanism import Mechanism
from discreet.model.priors import Prior
from discreet.model.universe import Universe
from discreet.numerics.arrays import Flags, Floats


@dataclass(frozen=True)
class OddsShift:
    """What one published value does to beliefs about one respondent's type, under one prior."""

    output: str
    prior: tuple[float, ...]
    posterior: tuple[float, ...]

    def log_shift(self, first: int, second: int) -> float:
        """How far the log odds of the first type against the second moved."""
        with np.errstate(divide="ignore"):
            after = np.log(self.posterior[first]) - np.log(self.posterior[second])
            before = np.log(self.prior[first]) - np.log(self.prior[second])
        return float(after - before)


@dataclass(frozen=True)
class WorstShift:
    """The largest move of log odds, with the output that causes it; infinite when some type becomes impossible."""

    shift: float
    output: int

    def at_most(self, proved: Fraction | float = inf) -> Fraction | float:
        """What may be promised as a limit: the shift raised by more than what floats round, or less if that is proved."""
        return min(self.shift + SLACK * (1 + self.shift), proved)

    def surest(self, prior: float, proved: Fraction | float = inf) -> float:
        """How sure someone can become at most who is `prior` sure today, rounded up."""
        return moved_bracket(prior, self.at_most(proved)).upper


def odds_shift(mechanism: Mechanism, output: str | int | Fraction, prior: Prior | None = None, respondent: int = 0) -> OddsShift:
    """Prior and posterior of one respondent's type under a given prior."""
    place = position_of(mechanism, output)
    after = posterior(mechanism, output, prior, about="respondent", respondent=respondent)
    before = prior_types(mechanism, prior, respondent)
    label = str(output) if isinstance(output, str) else f"{output}"
    return OddsShift(label if label else str(place), tuple(before.tolist()), tuple(after.probabilities.tolist()))


def prior_types(mechanism: Mechanism, prior: Prior | None, respondent: int) -> Floats:
    """P(θ_i = t) before anything is published."""
    universe = _respondents(mechanism)
    prior = mechanism.problem.prior if prior is None else prior
    prior.check(universe)
    rows = getattr(prior, "rows", None)
    if rows is not None:
        return np.array([float(p) for p in rows[respondent]])
    chances = getattr(prior, "probabilities", None)
    if chances is not None:
        return np.array([float(p) for p in chances])
    concentration = getattr(prior, "concentration", None)
    if concentration is not None:
        return np.array([float(c / sum(concentration)) for c in concentration])
    table = getattr(prior, "by_label", None)
    if table is not None:
        sums = np.zeros(universe.types)
        for label, p in table.items():
            sums[int(label.split(",")[respondent])] += float(p)
        return sums
    held = beliefs([mechanism], prior)
    sizes = np.maximum(held.vectors.sum(axis=1, keepdims=True), 1)
    types = np.exp(held.log_weights) @ (held.vectors / sizes)
    return np.asarray(types / types.sum())


def worst_product(mechanism: Mechanism, output: str | int | Fraction | None = None) -> WorstShift:
    """The largest move of anyone's log odds when others' answers say nothing about theirs.

    It is the largest log ratio of probabilities over adjacent states: over all outputs, the mechanism's tight ε.
    """
    logs = state_logs(mechanism)
    edges = mechanism.space.edges
    if len(edges) == 0:
        return WorstShift(0.0, 0)
    a, b = logs[:, edges[:, 0]], logs[:, edges[:, 1]]
    with np.errstate(invalid="ignore"):
        shifts = np.where(a == b, 0.0, np.abs(a - b)).max(axis=1)
    return _at(mechanism, shifts, output)


def worst_correlated(mechanism: Mechanism, output: str | int | Fraction | None = None, together: int | None = None) -> WorstShift:
    """The largest move of log odds when others' answers may move with yours.

    `together` is how many respondents (you included) are known to move as one; None allows everybody, which is the
    largest log ratio over all connected pairs of states with different types present.
    """
    universe = _respondents(mechanism)
    if together is not None and not 1 <= together <= universe.largest:
        raise InputError(
            "How many respondents move together",
            found=str(together),
            allowed=f"1 to {universe.largest}",
            remedy="count yourself as one",
        )
    space = mechanism.space
    logs = state_logs(mechanism)
    if together is None:
        shifts = _everybody(mechanism, universe)
        return _at(mechanism, shifts, output)
    shifts = np.zeros(len(logs))
    for start in range(len(space)):
        steps = space.distances(start)
        near = (steps >= 0) & (steps <= together)
        with np.errstate(invalid="ignore"):
            gaps = np.where(logs[:, near] == logs[:, [start]], 0.0, np.abs(logs[:, near] - logs[:, [start]]))
        shifts = np.maximum(shifts, gaps.max(axis=1))
    return _at(mechanism, shifts, output)


def _everybody(mechanism: Mechanism, universe: Universe) -> Floats:
    """max over types a ≠ b of [max over databases with an a] − [min over databases with a b]."""
    if mechanism.summary.ordered:
        vectors = np.array(list(universe.databases()))
        logs = kernel_logs(mechanism, vectors, "database")
        # Fix one respondent: by symmetry of "some respondent" the worst over respondents is taken.
        best = np.zeros(output_count(mechanism))
        for i in range(universe.largest):
            best = np.maximum(best, _spread(logs, [vectors[:, i] == t for t in range(universe.types)]))
        return best
    vectors = universe.histograms()
    logs = kernel_logs(mechanism, vectors, "histogram")
    return _spread(logs, [vectors[:, t] > 0 for t in range(universe.types)])


def _spread(logs: Floats, present: list[Flags]) -> Floats:
    highs = np.stack([logs[:, mask].max(axis=1) for mask in present])
    lows = np.stack([logs[:, mask].min(axis=1) for mask in present])
    found = np.zeros(logs.shape[0])
    for a in range(len(present)):
        for b in range(len(present)):
            if a != b:
                with np.errstate(invalid="ignore"):
                    gap = np.where(highs[a] == -inf, 0.0, highs[a] - lows[b])
                found = np.maximum(found, gap)
    return found


def _at(mechanism: Mechanism, shifts: Floats, output: str | int | Fraction | None) -> WorstShift:
    place = int(np.argmax(shifts)) if output is None else position_of(mechanism, output)
    return WorstShift(float(shifts[place]), place)


def _respondents(mechanism: Mechanism) -> Universe:
    need, remedy = "Databases listed by name have no respondents", "ask about whole databases with the limits"
    return mechanism.problem.people_for(need, remedy)
