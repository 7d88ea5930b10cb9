"""What a guarantee means to a Bayesian and to a respondent.

**Log odds** (SY-OA Prop. S.1). For a product prior the log odds of θ_i = a against θ_i = b move by at most ε, and some
product prior (one that knows all others) attains the tight ε. For a prior that links respondents the odds move by

    log P(s | θ_i = a) − log P(s | θ_i = b),   P(s | θ_i = a) = Σ_θ π(θ | θ_i = a) m(s|θ),

which can be more: others' answers speak about θ_i too. `largest_shift` says how far, under a given prior.

**Complaint** (CY). I(X_i; Y) may exceed I(X_i; Y | X^{−i}) when respondents are correlated; `leakage` shows both.

**Economic reading** (DR 1.3). For a utility u ≥ 0 of what follows from the output, e^−ε E_y u ≤ E_x u ≤ e^ε E_y u:
taking part changes nobody's prospects by more than the factor e^ε. (The notes' "faces harm" reads "faces no harm".)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.currencies.bracket import Bracket
from discreet.currencies.channel import LossChannel, whole_channel
from discreet.currencies.tight import TightEpsilon, log_of, tight_epsilon
from discreet.errors import InputError, TooLarge
from discreet.model.mechanism import Mechanism
from discreet.model.priors import Prior
from discreet.model.universe import Universe
from discreet.numerics.arrays import Floats
from discreet.numerics.exact import exact

MOST_DATABASES = 200_000


@dataclass(frozen=True)
class Shift:
    """The largest move of log odds: exactly log `ratio`, for `types` (a, b) of `respondent` after `output`."""

    ratio: Fraction | None
    bracket: Bracket
    respondent: int
    types: tuple[int, int]
    output: str


@dataclass(frozen=True)
class Leakage:
    """I(X_i; Y), and I(X_i; Y | X^{−i}) when all other respondents are known, in nats."""

    alone: Bracket
    given_others: Bracket


@dataclass(frozen=True)
class Economic:
    """The largest ratio E_x u / E_y u over neighbours x, y, where, and the e^ε that bounds it; None: infinite."""

    ratio: Fraction | None
    edge: tuple[str, str] | None
    factor: Fraction | None

    @property
    def holds(self) -> bool:
        """Whether the ratio is at most e^ε, compared exactly."""
        return self.factor is None or (self.ratio is not None and self.ratio <= self.factor)


def product_prior_shift(mechanism: Mechanism) -> TightEpsilon:
    """The largest move of log odds under any product prior: the tight ε, with the edge and output that attain it."""
    return tight_epsilon(mechanism)


def largest_shift(mechanism: Mechanism, prior: Prior | None = None) -> Shift:
    """The largest move of the log odds between two types of one respondent, under the given prior."""
    chances, types, rows = _believed(mechanism, prior)
    kinds = _universe(mechanism).types
    best: tuple[float, int, int, int, int] | None = None
    for respondent in range(types.shape[1]):
        likelihoods = _likelihoods(chances, types[:, respondent], rows, kinds)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(likelihoods)
            gaps = logs[:, :, None] - logs[:, None, :]
        gaps[np.isnan(gaps)] = -np.inf
        output, a, b = (int(k) for k in np.unravel_index(int(gaps.argmax()), gaps.shape))
        if best is None or gaps[output, a, b] > best[0]:
            best = (float(gaps[output, a, b]), respondent, output, a, b)
    assert best is not None
    _, respondent, output, a, b = best
    above = _exact_likelihood(mechanism, prior, types, respondent, a, output)
    below = _exact_likelihood(mechanism, prior, types, respondent, b, output)
    ratio = above / below if below else None
    return Shift(ratio, log_of(ratio), respondent, (a, b), mechanism.outputs[output].label)


def leakage(mechanism: Mechanism, respondent: int, prior: Prior | None = None) -> Leakage:
    """What a release tells about one respondent, to one who knows nobody else and to one who knows all others."""
    chances, types, rows = _believed(mechanism, prior)
    kinds = _universe(mechanism).types
    own = types[:, respondent]
    weights = np.array([chances[own == t].sum() for t in range(kinds)])
    alone = _information(weights, _likelihoods(chances, own, rows, kinds))
    others = np.delete(types, respondent, axis=1)
    groups = np.unique(others, axis=0, return_inverse=True)[1].reshape(-1)
    given = 0.0
    for group in range(int(groups.max()) + 1):
        here = groups == group
        given += _information(chances[here], rows[:, here])
    slack = (rows.size + 64) * 2.0**-50
    return Leakage(Bracket(max(alone - slack, 0.0), alone + slack), Bracket(max(given - slack, 0.0), given + slack))


def economic(source: Mechanism | LossChannel, utility: Sequence[object]) -> Economic:
    """The effect of one respondent on the expectation of a non-negative utility of the output, exact."""
    channel = whole_channel(source)
    values = [exact(u, "utility") for u in utility]
    if len(values) != len(channel.outputs) or min(values) < 0:
        raise InputError(
            "The economic reading needs a utility from 0 on for every output",
            found=f"{len(values)} utilities",
            allowed=f"{len(channel.outputs)} numbers from 0 on",
            remedy="add a constant to make them non-negative",
        )
    outputs = range(len(values))
    states = {int(s) for edge in channel.edges for s in edge}
    expected = {s: sum((values[y] * channel.exact(y, s) for y in outputs if values[y]), Fraction(0)) for s in states}
    ratio: Fraction | None = Fraction(1)
    edge: tuple[str, str] | None = None
    for one, other in channel.edges.tolist():
        high, low = (one, other) if expected[one] >= expected[other] else (other, one)
        if expected[low] == 0 < expected[high]:
            ratio, edge = None, (channel.labels[high], channel.labels[low])
            break
        if ratio is not None and expected[low] and expected[high] / expected[low] > ratio:
            ratio, edge = expected[high] / expected[low], (channel.labels[high], channel.labels[low])
    return Economic(ratio, edge, tight_epsilon(channel).ratio)


def _universe(mechanism: Mechanism) -> Universe:
    universe = mechanism.problem.universe
    if not isinstance(universe, Universe) or not universe.fixed:
        raise InputError(
            "This speaks about single respondents of a fixed number",
            found="databases listed by name, or of any size",
            allowed="respondents = N",
            remedy="use a problem with a fixed number of respondents",
        )
    if universe.database_count > MOST_DATABASES:
        raise TooLarge(
            "Correlated priors are looked at database by database",
            size=f"{universe.respondents} respondents",
            fits=f"{MOST_DATABASES:,} databases",
            remedy="ask about fewer respondents or types",
        )
    return universe


def _believed(mechanism: Mechanism, prior: Prior | None) -> tuple[Floats, np.ndarray, Floats]:
    """Prior chance of each database, types [database, respondent], probabilities [output, database]."""
    universe = _universe(mechanism)
    belief = prior if prior is not None else mechanism.problem.prior
    belief.check(universe)
    types = np.array(list(universe.databases()), dtype=np.int64)
    chances = np.array([float(belief.of_database(tuple(row), universe)) for row in types.tolist()])
    return chances, types, mechanism.probabilities[:, _states(mechanism, types)]


def _states(mechanism: Mechanism, types: np.ndarray) -> np.ndarray:
    if mechanism.summary.ordered:
        return mechanism.states_of(types)
    kinds = _universe(mechanism).types
    return mechanism.states_of(np.stack([(types == t).sum(axis=1) for t in range(kinds)], axis=1))


def _likelihoods(chances: Floats, own: np.ndarray, rows: Floats, kinds: int) -> Floats:
    """P(output | θ_i = t) as [output, t]; NaN for a type that cannot be."""
    found = np.full((rows.shape[0], kinds), np.nan)
    for t in range(kinds):
        here = own == t
        total = chances[here].sum()
        if total > 0:
            found[:, t] = rows[:, here] @ (chances[here] / total)
    return found


def _exact_likelihood(
    mechanism: Mechanism, prior: Prior | None, types: np.ndarray, respondent: int, kind: int, output: int
) -> Fraction:
    universe = _universe(mechanism)
    belief = prior if prior is not None else mechanism.problem.prior
    here = types[types[:, respondent] == kind]
    states = _states(mechanism, here)
    joint = total = Fraction(0)
    for row, state in zip(here.tolist(), states.tolist(), strict=True):
        chance = belief.of_database(tuple(row), universe)
        total += chance
        if chance:
            joint += chance * mechanism.probability(output, state)
    return joint / total


def _information(weights: Floats, rows: Floats) -> float:
    """Σ_x w_x Σ_y W log(W/q) for weights that sum to at most one, q the mixture for normalised weights."""
    present = weights > 0
    w, rows = weights[present], rows[:, present]
    if w.sum() == 0:
        return 0.0
    mixed = rows @ (w / w.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(rows > 0, rows * np.log(rows / mixed[:, None]), 0.0)
    return float(terms.sum(axis=0) @ w)
