"""Where a prior comes from: the release, or the public counts, that it follows from by a rule that anyone can apply again."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import InputError
from discreet.frozen import dataclass
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


@dataclass(frozen=True)
class PublicCounts:
    """Counts of each type in public data that may be old, noisy, or from elsewhere, and what they leave uncertain.

    With n records (each count raised by `pseudo_count`) and proportions p, a share has the variance

        Var p_t = p_t(1 − p_t)/(n + 1) + (noise/n)² + (change·p_t)²

    by how few were counted, by the deviation of noise in each count, and by the share that may have changed since. `concentration`
    is that of the Dirichlet law with the mean p and, over all types, this variance, its total with three digits.
    """

    counts: tuple[int, ...]
    source: str
    change: Fraction
    noise: Fraction = Fraction(0)
    pseudo_count: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if len(self.counts) < 2 or min(self.counts) < 0 or self.pseudo_count < 0 or min(self.counts) + self.pseudo_count == 0:
            raise InputError(
                "Public counts that may have changed leave no type without a chance",
                found=", ".join(map(str, self.counts)) or "no counts",
                allowed="two types or more, each with a count above 0 or a prior.pseudo_count",
                remedy="set prior.pseudo_count, for instance 0.5",
            )
        if not 0 <= self.change <= 10 or self.noise < 0:
            raise InputError(
                "What public counts leave uncertain is out of range",
                found=f"change {brief(self.change)}, noise {brief(self.noise)}",
                allowed="a change from 0 to 10, noise from 0",
                remedy="correct prior.change and prior.noise",
            )
        must_have_source(self.source)

    @property
    def concentration(self) -> tuple[Fraction, ...]:
        """Of the law that follows."""
        raised = [c + self.pseudo_count for c in self.counts]
        n = sum(raised, Fraction(0))
        shares = [c / n for c in raised]
        chance = sum((p * (1 - p) for p in shares), Fraction(0))
        wide = len(shares) * (self.noise / n) ** 2 + sum(((self.change * p) ** 2 for p in shares), Fraction(0))
        correlation = min(1 / (n + 1) + wide / chance, Fraction(99, 100))
        total = Fraction(f"{float(1 / correlation - 1):.2e}")
        return tuple(total * p for p in shares)

    def __str__(self) -> str:
        return f"public counts ({self.source}), which may have changed by {brief(self.change)}"


def must_have_source(source: str) -> None:
    """Refuse public data that nobody could look up."""
    if not source.strip():
        raise InputError(
            "The reference data has no source",
            found="an empty prior.source",
            allowed="where the counts come from, in words",
            remedy='name the public source, for instance source = "household survey 2024, table B11"',
        )
