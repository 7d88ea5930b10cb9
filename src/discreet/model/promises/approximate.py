"""(ε, δ)-differential privacy: Σ_s (m(s|θ) − e^ε m(s|θ′))_+ ≤ δ for all neighbours θ, θ′, with δ > 0.

Over k edges δ grows to δ·Σ_{i<k} e^{iε}, rounded up here. References: Dwork & Roth (2014), Def. 2.4 and Thm 2.2.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.promises.promise import Promise, must_not_be_negative
from discreet.model.promises.pure import PurePromise
from discreet.numerics.brackets import rational_above_exp

BITS = 128


@dataclass(frozen=True)
class ApproximatePromise(Promise):
    """(ε, δ): a factor of at most e^ε, apart from a probability of δ."""

    epsilon: Fraction
    delta: Fraction
    kind = "approximate"
    keys = ("epsilon", "delta")
    adjective = "(ε, δ)-private"
    constraint = "Σ_s (m(s|θ) − e^ε · m(s|θ′))_+ ≤ δ"

    def __post_init__(self) -> None:
        must_not_be_negative(self)
        if not 0 < self.delta < 1:
            raise InputError(
                "The δ of a promise lies between 0 and 1",
                found=self.brief(),
                allowed="0 < δ < 1",
                remedy="correct it, or leave it out for pure ε",
            )

    def must_be_askable(self) -> None:
        PurePromise(self.epsilon).must_be_askable()

    def keeps(self, other: Promise) -> bool:
        return isinstance(other, ApproximatePromise) and self.epsilon <= other.epsilon and self.delta <= other.delta

    def over(self, rows: int, cells: int) -> ApproximatePromise:
        growth = sum((rational_above_exp(i * self.epsilon, BITS) for i in range(rows)), Fraction(0))
        return ApproximatePromise(cells * rows * self.epsilon, cells * self.delta * growth)

    def meaning(self, numbers: dict[str, str]) -> str:
        return f"{PurePromise(self.epsilon).meaning(numbers)}, apart from a probability of δ = {numbers['delta']}"
