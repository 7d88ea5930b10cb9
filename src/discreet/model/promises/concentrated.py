"""Zero-concentrated differential privacy: D_α(m(·|θ) ‖ m(·|θ′)) ≤ ρα for every order α > 1 and all neighbours θ, θ′.

ρ adds up under composition, and over k edges it grows to k²ρ. Pure ε implies ρ = ε·tanh(ε/2).
Reference: Bun & Steinke (2016), Def. 1.1, Lemma 2.3, Prop. 1.9.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import InputError
from discreet.frozen import dataclass
from discreet.model.promises.promise import Promise, must_not_be_negative
from discreet.numerics.exact import brief

LARGEST_RHO = Fraction(10_000)


@dataclass(frozen=True)
class ConcentratedPromise(Promise):
    """ρ: Rényi divergences of order α are at most ρα."""

    rho: Fraction
    kind = "zcdp"
    keys = ("rho",)
    adjective = "ρ-zCDP"
    constraint = "D_α(m(·|θ) ‖ m(·|θ′)) ≤ ρα for every α > 1"

    def __post_init__(self) -> None:
        must_not_be_negative(self)

    def must_be_askable(self) -> None:
        if not 0 < self.rho <= LARGEST_RHO:
            raise InputError(
                "The privacy level ρ must be a number above 0",
                found=brief(self.rho),
                allowed=f"above 0, up to {LARGEST_RHO}",
                remedy='set privacy.rho, for instance "1/2"; a value that tells nothing at all is epsilon = 0',
            )

    def keeps(self, other: Promise) -> bool:
        return isinstance(other, ConcentratedPromise) and self.rho <= other.rho

    def over(self, rows: int, cells: int) -> ConcentratedPromise:
        return ConcentratedPromise(cells * rows**2 * self.rho)

    def meaning(self, numbers: dict[str, str]) -> str:
        return f"their Rényi divergence of order α is at most ρα for every α above 1, with ρ = {numbers['rho']}"


def concentrated_rho(promise: Promise) -> Fraction:
    """The ρ of a concentrated promise; others have none, and whoever needs one cannot go on."""
    if not isinstance(promise, ConcentratedPromise):
        raise InputError(
            "This needs a promise of ρ",
            found=promise.brief(),
            allowed="a problem or mechanism with privacy.rho",
            remedy="ask for ρ-zCDP here",
        )
    return promise.rho
