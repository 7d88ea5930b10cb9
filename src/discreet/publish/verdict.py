"""What verification says: checks, each in one of four classes, and whether nothing that can be checked is wrong."""

from __future__ import annotations

from dataclasses import dataclass, field

ENFORCED, ATTESTED, DETECTABLE, NOT_VERIFIABLE = (
    "enforced",
    "attested by signature",
    "detectable with externally kept heads",
    "not verifiable",
)


@dataclass(frozen=True)
class Check:
    """One statement about the release, its class, and whether it holds (None: nobody can tell from the folder)."""

    kind: str
    words: str
    holds: bool | None
    found: str = ""


@dataclass
class ReleaseVerdict:
    """All checks of a release."""

    checks: list[Check] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether nothing that can be checked is wrong."""
        return all(check.holds is not False for check in self.checks)

    def say(self, kind: str, words: str, holds: bool | None, found: str = "") -> None:
        """Add a check."""
        self.checks.append(Check(kind, words, holds, found))
