"""What people do today who want to add up: noise on the statistic, taken at face value; beside it the truth."""

from __future__ import annotations

from discreet.design.comparison.information import FullInformation
from discreet.design.comparison.way import Way, inapplicable
from discreet.design.program.sections import Ground
from discreet.design.program.unbiased_noise import unbiased_noise, variance, why_not_noise
from discreet.design.proposal import Proposal
from discreet.errors import DiscreetError
from discreet.model.lattice import statistic_lattice
from discreet.model.problem import Problem
from discreet.model.record import Baseline
from discreet.watch import Watch


class UnbiasedNoise(Way):
    """Noise with mean zero on the statistic, taken at face value: the same variance whatever the data."""

    def __init__(self, name: str) -> None:
        self.name, self.words = name, f"{name} noise on the statistic at face value: unbiased"

    def loss(self, base: Ground, watch: Watch) -> float:
        return self.variance(base.problem)

    def variance(self, problem: Problem) -> float:
        """The variance, which needs no list of states."""
        if why_not_noise(problem) is not None:
            raise inapplicable("a sum, mean or count at ε > 0")
        return variance(problem, self.name)

    def propose(self, base: Ground, watch: Watch) -> Proposal | None:
        return unbiased_noise(base.problem, self.name)


class LaplaceAtFaceValue(UnbiasedNoise):
    """ω + Laplace(Δ/ε): variance 2(Δ/ε)²; a continuous output is not published."""

    def variance(self, problem: Problem) -> float:
        lattice = statistic_lattice(problem)
        if lattice is None or why_not_noise(problem) is not None:
            raise inapplicable("a sum, mean or count at ε > 0")
        wide = float(lattice.unit) * lattice.summary.step(problem.neighbours) / float(problem.epsilon)
        return 2 * wide**2 * float(problem.decision.weight)

    def propose(self, base: Ground, watch: Watch) -> Proposal | None:
        return None


NOISE_WAYS: tuple[UnbiasedNoise, ...] = (UnbiasedNoise("geometric"), UnbiasedNoise("staircase"), LaplaceAtFaceValue("laplace"))
UNBIASED_WAYS: tuple[Way, ...] = (FullInformation(), *NOISE_WAYS)


def unbiased_baselines(problem: Problem) -> dict[str, Baseline]:
    """The unbiased baselines of a problem whose states are too many to list."""
    found = {"full information": Baseline("full information", 0.0, FullInformation.words)}
    for way in NOISE_WAYS:
        try:
            found[way.name] = Baseline(way.name, -way.variance(problem), way.words)
        except DiscreetError as error:
            found[way.name] = Baseline(way.name, None, f"{way.words}; not computed: {error}")
    return found
