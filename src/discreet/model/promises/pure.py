"""Pure ε-differential privacy: m(s|θ) ≤ e^ε m(s|θ′) for every output s and all neighbours θ, θ′ (SY eq. (1))."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.promises.promise import Promise, must_not_be_negative
from discreet.numerics.exact import brief

LARGEST_EPSILON = Fraction(10_000)


@dataclass(frozen=True)
class PurePromise(Promise):
    """ε: probabilities differ by a factor of at most e^ε. Adds up over rows and cells."""

    epsilon: Fraction
    kind = "pure"
    keys = ("epsilon",)
    adjective = "purely ε-private"
    constraint = "m(s|θ) ≤ e^ε · m(s|θ′)"

    def __post_init__(self) -> None:
        must_not_be_negative(self)

    def must_be_askable(self) -> None:
        if self.epsilon > LARGEST_EPSILON:
            raise InputError(
                "The privacy level ε must be a number from 0 on",
                found=brief(self.epsilon),
                allowed=f"0 to {LARGEST_EPSILON}",
                remedy="set privacy.epsilon, for instance 1.0",
            )

    def keeps(self, other: Promise) -> bool:
        return isinstance(other, PurePromise) and self.epsilon <= other.epsilon

    def over(self, rows: int, cells: int) -> PurePromise:
        return PurePromise(cells * rows * self.epsilon)

    def meaning(self, numbers: dict[str, str]) -> str:
        return f"probabilities differ by a factor of at most e^ε with ε = {numbers['epsilon']}"


def pure_epsilon(promise: Promise) -> Fraction:
    """The ε of a purely ε-private promise; others have none, and whoever needs one cannot go on."""
    if not isinstance(promise, PurePromise):
        raise InputError(
            "This needs a promise of pure ε",
            found=promise.brief(),
            allowed="a problem or mechanism with privacy.epsilon alone",
            remedy="ask for pure ε-differential privacy here",
        )
    return promise.epsilon
