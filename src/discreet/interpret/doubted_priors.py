"""Totals under a prior that may be off: every probability by a share, in the same way in every cell, as far as the release allows.

The true probabilities (where cells differ, their means) are p_t·e^θ_t (normalised) with θ_t ~ N(0, share²) for each type, the same
θ in all cells. To first order

    E[ω | s, θ] = E[ω | s] + G_s·θ,     log P(s | θ) = log P(s) + S_s·θ − ½ θᵀ(S_s S_sᵀ)θ

so that what was published in all cells gives θ a normal posterior with precision Λ = I/share² + Σ_c S_c S_cᵀ and mean Λ⁻¹ Σ_c S_c,
and a total with slope g = Σ_c G_c is shifted by g·Λ⁻¹ΣS and widened by a normal of variance gᵀΛ⁻¹g. An approximation (Laplace's,
with the observed information by scores) for small shares; slopes and scores are central differences of exact posteriors.

Totals of several regions share θ, so they are not independent of one another. Given θ they are: what compares them (shares, ranks)
is averaged over `scenarios`, values of θ that stand for its posterior, in pairs around its centre.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.errors import InputError
from discreet.interpret.cell_posteriors import cell_posteriors
from discreet.interpret.lattice_laws import LatticeLaw, convolved
from discreet.interpret.totals import CellBeliefs, PublishedGroup, Total
from discreet.model.priors import DirichletMultinomialPrior, IidPrior, Prior, ReferencePrior
from discreet.numerics.arrays import Floats, Integers

Doubtable = IidPrior | DirichletMultinomialPrior
STEP = Fraction(1, 1000)
REACH = 9.0
LARGEST_SHARE = 0.5
PAIRS = 16
"""Of values of θ that stand for its posterior."""


@dataclass(frozen=True, eq=False)
class Doubt:
    """For each class of cells the slope of its mean in θ [class, type], and the posterior of θ given the whole release."""

    share: float
    slopes: Floats
    scores: Floats
    centre: Floats
    covariance: Floats

    def given(self, beliefs: CellBeliefs) -> Doubt:
        """The same for another release of these classes."""
        counts = np.bincount(beliefs.classes, minlength=len(self.slopes))
        precision = np.eye(self.scores.shape[1]) / self.share**2 + (self.scores * counts[:, None]).T @ self.scores
        covariance = np.asarray(np.linalg.inv(precision), dtype=np.float64)
        return replace(self, centre=covariance @ (counts @ self.scores), covariance=covariance)

    def move(self, beliefs: CellBeliefs, cells: Integers, less: Integers | None = None) -> tuple[float, float]:
        """By how much the total over cells is shifted, and the variance that is added."""
        counts = beliefs.counts(cells) - (0 if less is None else beliefs.counts(less))
        slope = counts @ self.slopes
        return float(slope @ self.centre), max(float(slope @ self.covariance @ slope), 0.0)

    @property
    def scenarios(self) -> Floats:
        """Equally probable values of θ [value, type]: points of Kronecker's lattice as normal quantiles, and their mirrors."""
        from scipy.special import ndtri

        types = len(self.centre)
        # the powers of the root of x^(T+1) = x + 1 are as far from common fractions as such numbers can be
        root = 2.0
        for _ in range(60):
            root = (1 + root) ** (1 / (types + 1))
        points = (0.5 + np.arange(1, PAIRS + 1)[:, None] * root ** -np.arange(1.0, types + 1)) % 1
        normal = ndtri(points)
        normal /= np.sqrt((normal**2).mean(axis=0))
        moved = normal @ np.linalg.cholesky(self.covariance).T
        return np.asarray(self.centre + np.concatenate([moved, -moved]))

    def shifted(self, beliefs: CellBeliefs, totals: Sequence[Total], regions: Sequence[Integers]) -> list[list[Total]]:
        """The totals over regions in every scenario."""
        slopes = np.stack([beliefs.counts(cells) @ self.slopes for cells in regions])
        return [[doubted(one, float(by), 0.0) for one, by in zip(totals, slopes @ theta, strict=True)] for theta in self.scenarios]


def doubt(groups: Sequence[PublishedGroup], beliefs: CellBeliefs, share: float) -> Doubt:
    """How the totals of a release hang on its prior, and what the release says about the prior itself."""
    if not 0 < share <= LARGEST_SHARE:
        raise InputError(
            "A prior is doubted by a share of its probabilities",
            found=str(share),
            allowed=f"above 0, up to {LARGEST_SHARE:g}",
            remedy="for instance 0.1",
        )
    slopes, scores = [], []
    for group in groups:
        prior = _doubtable(group.prior or group.mechanisms[0].problem.prior)
        rows = np.unique(group.outputs, axis=0)
        columns = [_differences(group, rows, prior, t) for t in range(len(_strengths(prior)))]
        slopes.append(np.stack([mean for mean, _ in columns], axis=1) * float(group.scale))
        scores.append(np.stack([log for _, log in columns], axis=1))
    if len({part.shape[1] for part in slopes}) > 1:
        raise InputError(
            "The cells have different types, so no one error of the prior is theirs",
            found="mechanisms with different values",
            allowed="the same values in every cell",
            remedy="ask without --doubt",
        )
    slope, score = np.concatenate(slopes), np.concatenate(scores)
    types = score.shape[1]
    return Doubt(share, slope, score, np.zeros(types), np.eye(types)).given(beliefs)


def _differences(group: PublishedGroup, rows: Integers, prior: Doubtable, t: int) -> tuple[Floats, Floats]:
    """Central differences in θ_t of the mean and of the log probability of each combination of outputs."""
    ends = []
    for sign in (1, -1):
        found = cell_posteriors(group.mechanisms, rows, _moved(prior, t, 1 + sign * STEP))
        numbers = np.array([float(value) for value in found.values])
        ends.append((found.probabilities @ numbers, found.log_evidence))
    width = 2 * float(STEP)
    return (ends[0][0] - ends[1][0]) / width, (ends[0][1] - ends[1][1]) / width


def _strengths(prior: Doubtable) -> tuple[Fraction, ...]:
    """The probabilities of the types, or numbers in the same ratios: where cells differ, the mean of each probability."""
    return prior.probabilities if isinstance(prior, IidPrior) else prior.concentration


def _moved(prior: Doubtable, t: int, factor: Fraction) -> Doubtable:
    """The prior with the probability of one type multiplied, all normalised; cells differ by as much as before."""
    numbers = [x * factor if k == t else x for k, x in enumerate(_strengths(prior))]
    scale = sum(_strengths(prior), Fraction(0)) / sum(numbers, Fraction(0))
    moved = tuple(x * scale for x in numbers)
    return IidPrior(moved, prior.size) if isinstance(prior, IidPrior) else DirichletMultinomialPrior(moved, prior.size)


def _doubtable(prior: Prior) -> Doubtable:
    if isinstance(prior, ReferencePrior):
        return prior.iid
    if isinstance(prior, (IidPrior, DirichletMultinomialPrior)):
        return prior
    raise InputError(
        "Only a prior of independent respondents, or of cells that differ by a concentration, is doubted",
        found=f"a prior of kind {prior.kind}",
        allowed="iid, reference, exchangeable by concentration, or learned",
        remedy="ask without --doubt, or give such a prior; cells that share a mechanism with larger ones have none",
    )


def doubted(total: Total, shift: float, variance: float) -> Total:
    """The total moved and widened; it stays in its range."""
    unit = float(total.unit)
    law = convolved(total.law, _normal(shift / unit, variance**0.5 / unit))
    first, last = max(total.law.least - law.start, 0), min(total.law.most - law.start, len(law) - 1)
    kept = law.masses[first : last + 1] if first <= last else np.ones(1)
    nearest = total.law.most if law.start > total.law.most else total.law.least
    start = law.start + first if first <= last else nearest
    inside = LatticeLaw(start, kept / kept.sum(), min(law.error * 2, 2.0), total.law.least, total.law.most)
    return replace(total, law=inside, mean=total.mean + shift, variance=total.variance + variance)


def _normal(centre: float, deviation: float) -> LatticeLaw:
    """A normal law rounded to whole numbers."""
    from scipy.special import ndtr

    if deviation < 1e-6:
        low = int(np.floor(centre))
        part = centre - low
        return LatticeLaw(low, np.array([1 - part, part]), 0.0, low, low + 1)
    low, high = int(np.floor(centre - REACH * deviation)), int(np.ceil(centre + REACH * deviation))
    edges = ndtr((np.arange(low, high + 2) - 0.5 - centre) / deviation)
    masses = np.diff(edges)
    return LatticeLaw(low, masses / masses.sum(), 1e-15, low, high)
