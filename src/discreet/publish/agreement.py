"""Do the published cells look as the prior said? From published values alone, so at no cost.

Before publication cell c was to show output s with probability p_c(s) = Σ_x π(x) m(s|x). With z(s) the posterior mean after
s, standardised by its mean and deviation under p_c, three sums over cells have mean zero and a known variance if the prior is
right:

    level       Σ z                      the prior's mean is too low (above 0) or too high
    spread      Σ (z² − 1)               cells differ more (above 0) or less than the prior says
    coverage    Σ (1[s ∈ I_c] − P(I_c))   outputs in the central 90 % of p_c

Each is told in deviations; beyond `ALARM` (one right prior in 5,000, for the three together one in 1,700) the prior is called
wrong. Cells are taken as independent, which they are given a prior that does not come from themselves; a learned one does, a
little.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discreet.errors import InputError
from discreet.interpret.reading import readings
from discreet.model.mechanism import Mechanism
from discreet.numerics.arrays import Floats
from discreet.publish.folder import altered, bundle_in
from discreet.publish.tables import places_of, texts_of

LEVEL = 0.9
ALARM = 3.7


@dataclass(frozen=True)
class Agreement:
    """How published cells compare with what was said of them: each sum in deviations, and what it says as a number."""

    cells: int
    level: float
    """In deviations."""
    shift: float
    """The mean of z: by how many deviations of a published cell the level is off."""
    spread: float
    ratio: float
    """The variance of published cells, as a share of what the prior said."""
    coverage: float
    covered: float
    """The share of cells inside the central interval."""
    promised: float
    """The probability of it."""

    @property
    def holds(self) -> bool:
        """Whether nothing contradicts the prior."""
        return max(abs(self.level), abs(self.spread), abs(self.coverage)) <= ALARM


def agreement(folder: str | Path) -> Agreement:
    """Compare the cells of a release with the prior of its mechanisms."""
    where = Path(folder)
    wrong, extra = altered(where)
    if wrong or extra:
        raise InputError(
            "The release was changed after it was published",
            found=", ".join([*wrong, *extra]),
            allowed="the files that were published",
            remedy="look at it with: discreet verify DIR",
        )
    bundle = bundle_in(where)
    if bundle.asked is not None:
        raise InputError(
            "The numbers of a learning release are believed to be anything beforehand",
            found="a learning release",
            allowed="a release of cells",
            remedy="look at the release that was designed with what was learned",
        )
    codes = np.array(texts_of((where / "release.csv").read_bytes(), "code"), dtype=object)
    sums = np.zeros(3)
    variances = np.zeros(3)
    promised = 0.0
    for kind, at in places_of(bundle.served).items():
        laws = _Laws.of(bundle.used[kind])
        place = {output.label: i for i, output in enumerate(bundle.used[kind].outputs)}
        drawn = np.array([place[text.removeprefix("'")] for text in codes[at]])
        sums += [
            laws.scores[drawn].sum(),
            (laws.scores[drawn] ** 2 - 1).sum(),
            laws.inside[drawn].sum() - len(at) * laws.promised,
        ]
        variances += len(at) * np.array([1.0, laws.fourth - 1, laws.promised * (1 - laws.promised)])
        promised += len(at) * laws.promised
    count = len(bundle.cells)
    level, spread, coverage = (float(s / max(v, 1e-12) ** 0.5) for s, v in zip(sums, variances, strict=True))
    return Agreement(
        count,
        level,
        float(sums[0] / count),
        spread,
        float(1 + sums[1] / count),
        coverage,
        float((sums[2] + promised) / count),
        promised / count,
    )


@dataclass(frozen=True, eq=False)
class _Laws:
    """Of one mechanism, for each output: its standardised posterior mean, and whether it is in the central interval."""

    scores: Floats
    inside: Floats
    promised: float
    fourth: float

    @classmethod
    def of(cls, mechanism: Mechanism) -> _Laws:
        found = readings(mechanism, level=LEVEL)
        law = np.exp(found.log_probability)
        means = np.where(law > 0, np.nan_to_num(found.mean), 0.0)
        centre = float(law @ means)
        deviation = float(law @ (means - centre) ** 2) ** 0.5
        scores = (means - centre) / deviation if deviation > 0 else np.zeros_like(means)
        order = np.argsort(means, kind="stable")
        below = np.empty_like(law)
        below[order] = np.cumsum(law[order])
        inside = ((below > (1 - LEVEL) / 2) & (below - law < (1 + LEVEL) / 2)).astype(float)
        return cls(scores, inside, float(min(law @ inside, 1.0)), float(law @ scores**4) if deviation > 0 else 1.0)
