"""Totals over cells: the posterior of a sum, of a difference of sums, with mean, interval and the chance to exceed a threshold.

Given the published values, cells are independent when they are independent beforehand, so the posterior of S = Σ_c ω_c is the
convolution of the cells' posteriors (lattice_laws), and means and variances add: E[S] = Σ_c E[ω_c], so that regions within regions
agree. Cells with the same posterior are one class and are convolved by repeated squaring. A mean over respondents is added up as
the sum behind it: size times mean.

Beside it stands the unbiased sum Σ_c g(s_c), which rests on no prior unless
the mechanism is unbiased nearby only; its standard error is that expected under the prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import floor, gcd, lcm, sqrt

import numpy as np

from discreet.errors import InputError
from discreet.interpret.cell_posteriors import cell_posteriors
from discreet.interpret.lattice_laws import LatticeLaw, law_of, sum_law
from discreet.interpret.many_sums import many_sums
from discreet.interpret.regions import check_level
from discreet.interpret.unbiased_reading import UnbiasedReading, unbiased_reading
from discreet.model.mechanism import Mechanism
from discreet.model.priors import Prior
from discreet.numerics.arrays import Floats, Integers
from discreet.numerics.exact import exact


@dataclass(frozen=True, eq=False)
class PublishedGroup:
    """Cells of one size that the same mechanisms speak of: places of the cells, outputs [cell, mechanism], what is believed.

    `scale` turns the statistic into what is added up: the size of the cells for a mean, else 1.
    """

    cells: Integers
    mechanisms: tuple[Mechanism, ...]
    outputs: Integers
    prior: Prior | None = None
    scale: Fraction = Fraction(1)


@dataclass(frozen=True, eq=False)
class CellBeliefs:
    """What is believed of each cell after everything that was published of it; cells that are alike share a class.

    A cell of class k has the value offsets[k] + unit·K with K of the law laws[k].
    """

    classes: Integers
    unit: Fraction
    offsets: tuple[Fraction, ...]
    laws: tuple[LatticeLaw, ...]
    means: Floats
    variances: Floats
    unbiased: Floats
    unbiased_variances: Floats
    published: Floats
    log_evidence: Floats

    def __len__(self) -> int:
        return len(self.classes)

    def counts(self, cells: Integers) -> Integers:
        """How many of these cells each class has."""
        return np.bincount(self.classes[cells], minlength=len(self.laws))


@dataclass(frozen=True, eq=False)
class Total:
    """The posterior of a sum over cells, or of a difference of two; S = offset + unit·K with K of the law.

    `unbiased` and `published` are the sums of the unbiased and of the published values, None where cells have none.
    """

    cells: int
    unit: Fraction
    offset: Fraction
    law: LatticeLaw = field(repr=False)
    mean: float
    variance: float
    unbiased: float | None
    standard_error: float | None
    published: float | None

    @property
    def standard_deviation(self) -> float:
        return sqrt(max(self.variance, 0.0))

    def value(self, step: int) -> Fraction:
        """The total at a step of the lattice."""
        return self.offset + step * self.unit

    def interval(self, level: float = 0.9) -> tuple[Fraction, Fraction]:
        """The equal-tailed interval, rounded outwards: at most (1 − level)/2 is surely left out on each side."""
        low, high = self.law.interval((1 - check_level(level)) / 2)
        return self.value(low), self.value(high)

    def holds(self, low: Fraction, high: Fraction) -> float:
        """A number that the probability of low ≤ S ≤ high is surely at least."""
        return self.law.holds(-floor(-(low - self.offset) / self.unit), floor((high - self.offset) / self.unit))

    def exceeds(self, threshold: Fraction) -> tuple[float, float]:
        """A bracket of P(S > threshold)."""
        low, high = self.law.at_most(floor((threshold - self.offset) / self.unit))
        return max(1 - high, 0.0), min(1 - low, 1.0)

    @cached_property
    def probabilities(self) -> tuple[list[Fraction], Floats]:
        """The likely values and their probabilities."""
        return [self.value(self.law.start + k) for k in range(len(self.law))], self.law.masses


def cell_beliefs(groups: Sequence[PublishedGroup]) -> CellBeliefs:
    """Beliefs about the cells of all groups together, which must be numbered 0, 1, … without a gap."""
    found: list[tuple[PublishedGroup, Integers, Integers, Floats, Floats, Floats, tuple[Fraction, ...]]] = []
    for group in groups:
        rows, which = np.unique(group.outputs, axis=0, return_inverse=True)
        known = cell_posteriors(group.mechanisms, rows, group.prior)
        values = tuple(value * group.scale for value in known.values)
        found.append((group, rows, which.reshape(-1), known.probabilities, known.errors, known.log_evidence, values))
    unit = _common_step([values for *_, values in found])
    classes = np.full(sum(len(group.cells) for group in groups), -1, dtype=np.int64)
    laws: list[LatticeLaw] = []
    offsets: list[Fraction] = []
    pieces: dict[str, list[Floats]] = {"mean": [], "variance": [], "unbiased": [], "spread": [], "published": [], "evidence": []}
    for group, rows, which, chances, errors, evidence, values in found:
        classes[group.cells] = which + len(laws)
        steps = [int((value - values[0]) / unit) for value in values]
        laws += [law_of(steps, row, float(error)) for row, error in zip(chances, errors, strict=True)]
        offsets += [values[0]] * len(rows)
        numbers = np.array([float(value) for value in values])
        means = chances @ numbers
        pieces["mean"].append(means)
        pieces["variance"].append(np.maximum(chances @ numbers**2 - means**2, 0.0))
        value, variance = _unbiased(group, rows)
        pieces["unbiased"].append(value * float(group.scale))
        pieces["spread"].append(variance * float(group.scale) ** 2)
        pieces["published"].append(_published(group, rows) * float(group.scale))
        pieces["evidence"].append(evidence)
    whole = {name: np.concatenate(parts) for name, parts in pieces.items()}
    return CellBeliefs(
        classes, unit, tuple(offsets), tuple(laws), whole["mean"], whole["variance"], whole["unbiased"], whole["spread"],
        whole["published"], whole["evidence"],
    )  # fmt: skip


def _common_step(lists: Sequence[tuple[Fraction, ...]]) -> Fraction:
    """The largest step of which every difference of two values of one cell is a whole multiple."""
    differences = {value - values[0] for values in set(lists) for value in values}
    bottom = lcm(*(x.denominator for x in differences))
    return Fraction(gcd(*(int(x * bottom) for x in differences)) or 1, bottom)


def _unbiased(group: PublishedGroup, rows: Integers) -> tuple[Floats, Floats]:
    """The unbiased value and its variance for each combination of outputs; NaN where there is none."""
    readings = [unbiased_reading(mechanism, group.prior) for mechanism in group.mechanisms]
    known: list[tuple[int, UnbiasedReading]] = [(j, r) for j, r in enumerate(readings) if r is not None]
    if not known:
        return np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    sure = [(j, r) for j, r in known if r.variance == 0]
    used = sure[:1] or known
    weights = np.array([1.0 if sure else 1 / r.variance for _, r in used])
    weights /= weights.sum()
    values = sum(w * r.values[rows[:, j]] for w, (j, r) in zip(weights, used, strict=True))
    variance = float(sum(w**2 * r.variance for w, (_, r) in zip(weights, used, strict=True)))
    return np.asarray(values), np.full(len(rows), variance)


def _published(group: PublishedGroup, rows: Integers) -> Floats:
    """What the one release publishes (the recommended action, else the code) where it is a number; NaN elsewhere."""
    if len(group.mechanisms) > 1:
        return np.full(len(rows), np.nan)
    outputs = [group.mechanisms[0].kernel.output(place) for place in rows[:, 0].tolist()]
    told = [number_in(output.label) if output.action is None else output.action for output in outputs]
    return np.array([float(value) if isinstance(value, Fraction) else np.nan for value in told])


def number_in(label: str) -> Fraction | None:
    """The number that a label is, if it is one."""
    try:
        return exact(label)
    except InputError:
        return None


def total(beliefs: CellBeliefs, cells: Integers, less: Integers | None = None) -> Total:
    """The total over cells, less that over other cells; a cell that is in both counts for nothing."""
    plus = _distinct(beliefs, cells, "the region")
    if less is None:
        counts, taken = beliefs.counts(plus), np.zeros(len(beliefs.laws), dtype=np.int64)
    else:
        minus = _distinct(beliefs, less, "the other region")
        counts = beliefs.counts(np.setdiff1d(plus, minus))
        taken = beliefs.counts(np.setdiff1d(minus, plus))
    signed = counts - taken
    both = counts + taken
    used = np.flatnonzero(both).tolist()
    parts = [(beliefs.laws[k], int(counts[k])) for k in used]
    parts += [(beliefs.laws[k].mirrored(), int(taken[k])) for k in used if taken[k]]
    offset = sum((int(signed[k]) * beliefs.offsets[k] for k in used), Fraction(0))
    unbiased, error = _sum(beliefs.unbiased, signed, used), _sum(beliefs.unbiased_variances, both, used)
    return Total(
        cells=int(both.sum()),
        unit=beliefs.unit,
        offset=offset,
        law=sum_law(parts),
        mean=float(signed[used] @ beliefs.means[used]),
        variance=float(both[used] @ beliefs.variances[used]),
        unbiased=unbiased,
        standard_error=None if error is None or unbiased is None else sqrt(error),
        published=_sum(beliefs.published, signed, used),
    )


def _sum(column: Floats, counts: Integers, used: list[int]) -> float | None:
    found = float(counts[used] @ column[used])
    return None if found != found else found


def _distinct(beliefs: CellBeliefs, cells: Integers, what: str) -> Integers:
    """Places of cells, refused when there are none or one is there twice."""
    places = np.asarray(cells, dtype=np.int64)
    if not len(places):
        raise InputError(
            f"There is no cell in {what}",
            found="no cells",
            allowed="at least one cell",
            remedy="check the names of the keys",
        )
    if int(places.min()) < 0 or int(places.max()) >= len(beliefs):
        raise InputError(
            f"There is no cell at a place of {what}",
            found=f"{int(places.min())} to {int(places.max())}",
            allowed=f"0 to {len(beliefs) - 1}",
            remedy="number cells as the release lists them",
        )
    distinct = np.unique(places)
    if len(distinct) != len(places):
        raise InputError(
            f"A cell is in {what} twice",
            found=f"{len(places) - len(distinct)} repetitions",
            allowed="each cell once",
            remedy="remove the repetitions: a cell is added up once",
        )
    return distinct


def region_totals(beliefs: CellBeliefs, regions: Sequence[Integers]) -> list[Total]:
    """The total over each of many regions, which may share cells."""
    counts = np.stack([beliefs.counts(_distinct(beliefs, cells, f"region {i + 1}")) for i, cells in enumerate(regions)])
    offsets = _offsets(beliefs.offsets, counts)
    means, variances = counts @ beliefs.means, counts @ beliefs.variances
    found = []
    for i, law in enumerate(many_sums(beliefs.laws, counts)):
        used = np.flatnonzero(counts[i]).tolist()
        unbiased, error = _sum(beliefs.unbiased, counts[i], used), _sum(beliefs.unbiased_variances, counts[i], used)
        found.append(Total(
            int(counts[i].sum()), beliefs.unit, offsets[i], law, float(means[i]), float(variances[i]), unbiased,
            None if error is None or unbiased is None else sqrt(error), _sum(beliefs.published, counts[i], used),
        ))  # fmt: skip
    return found


def _offsets(offsets: Sequence[Fraction], counts: Integers) -> list[Fraction]:
    """Σ_k counts[r, k]·offset_k, exactly; few classes differ in it."""
    distinct = sorted(set(offsets))
    place = np.array([distinct.index(offset) for offset in offsets])
    grouped = np.stack([counts[:, place == d].sum(axis=1) for d in range(len(distinct))], axis=1)
    return [sum((n * offset for n, offset in zip(row, distinct, strict=True)), Fraction(0)) for row in grouped.tolist()]
