"""Where a learned prior comes from: the release that it follows from by a rule, so that anyone can compute it again."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InputError
from discreet.numerics.exact import brief


@dataclass(frozen=True)
class Origin:
    """The hash of a learning release, the version of the rule, the stratum, and by what share things may have changed since."""

    release: str
    rule: str
    stratum: tuple[str, ...] = ()
    change: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if len(self.release) != 64 or not set(self.release) <= set("0123456789abcdef"):
            raise InputError(
                "The prior does not name a release",
                found=self.release[:80] or "nothing",
                allowed="the SHA-256 of the manifest of a learning release, 64 hexadecimal digits",
                remedy="copy prior.release from what discreet learn wrote",
            )
        if not self.rule.strip():
            raise InputError(
                "The prior does not say by which rule it follows",
                found="an empty prior.rule",
                allowed="for instance discreet-fit/1",
                remedy="copy prior.rule from what discreet learn wrote",
            )
        if not 0 <= self.change <= 10:
            raise InputError(
                "The share by which things may have changed is out of range",
                found=brief(self.change),
                allowed="0 to 10",
                remedy="correct prior.change",
            )

    def __str__(self) -> str:
        where = f", stratum {' / '.join(self.stratum)}" if self.stratum else ""
        change = f", which may have changed by {brief(self.change)}" if self.change else ""
        return f"release {self.release}{where}{change}, by the rule {self.rule}"
