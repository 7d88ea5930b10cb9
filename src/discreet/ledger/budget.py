"""Budgets: how much of a promise is left, in one currency that is fixed when the ledger is made.

`pure`          Σ ε_i ≤ E                                     (basic composition, valid for adaptive choices)
`zcdp`          Σ ρ_i ≤ R                                     (additive filter; a pure ε costs ε²/2)
`approximate`   √(2·ln(1/δ₁)·S) + S/2 ≤ E with S = Σ ε_i², and Σ δ_i ≤ δ₂, where δ₁ + δ₂ = δ
                (fully adaptive filter: Whitehouse, Ramdas, Rogers, Wu 2023, Thm 1; half of δ goes to each part)

All sums are exact. The square root is removed by squaring and ln(1/δ₁) replaced by a rational above it, so the filter never
grants more than the theorem allows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import BudgetExceeded, InputError
from discreet.numerics.brackets import log_bracket
from discreet.numerics.exact import format_exact

CURRENCIES = ("pure", "zcdp", "approximate")
LOG_BITS = 96


@dataclass(frozen=True)
class Cost:
    """What one release costs: ε and δ, and ρ when a smaller one than ε²/2 is known and proved."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None

    def __post_init__(self) -> None:
        if self.epsilon < 0 or not 0 <= self.delta < 1 or (self.rho is not None and self.rho < 0):
            raise InputError(
                "A cost cannot be negative",
                found=str(self),
                allowed="ε >= 0, 0 <= δ < 1, ρ >= 0",
                remedy="correct it",
            )

    @property
    def zcdp(self) -> Fraction:
        """ρ: half the square of a pure ε unless a smaller one is stated."""
        if self.delta:
            raise InputError(
                "A release with δ > 0 has no zCDP cost",
                found=f"δ = {format_exact(self.delta)}",
                allowed="δ = 0",
                remedy="use a ledger in the currency 'approximate'",
            )
        return self.epsilon**2 / 2 if self.rho is None else self.rho

    def __str__(self) -> str:
        parts = [f"ε = {format_exact(self.epsilon)}"]
        if self.delta:
            parts.append(f"δ = {format_exact(self.delta)}")
        if self.rho is not None:
            parts.append(f"ρ = {format_exact(self.rho)}")
        return ", ".join(parts)

    def document(self) -> dict[str, str]:
        """The cost as exact text."""
        found = {"epsilon": format_exact(self.epsilon)}
        if self.delta:
            found["delta"] = format_exact(self.delta)
        if self.rho is not None:
            found["rho"] = format_exact(self.rho)
        return found


@dataclass(frozen=True)
class Budget:
    """A cap in a currency for one population and privacy unit."""

    currency: str
    cap: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.currency not in CURRENCIES:
            raise InputError(
                "This currency is not known", found=self.currency, allowed=CURRENCIES, remedy="choose one of these"
            )
        if self.cap <= 0:
            raise InputError(
                "A budget is a positive number",
                found=format_exact(self.cap),
                allowed="above 0",
                remedy="correct it",
            )
        if (self.currency == "approximate") != (self.delta > 0) or self.delta >= 1:
            raise InputError(
                "Only the currency 'approximate' has a δ, and it needs one",
                found=f"δ = {format_exact(self.delta)}",
                allowed="0 < δ < 1 for approximate, no δ otherwise",
                remedy="give or leave out δ",
            )

    def spent(self, costs: Iterable[Cost]) -> Spent:
        """The sums that this currency looks at."""
        total = Spent()
        for cost in costs:
            total = self.add(total, cost)
        return total

    def add(self, spent: Spent, cost: Cost) -> Spent:
        """Sums after one more cost."""
        if self.currency == "pure":
            if cost.delta:
                raise InputError(
                    "A ledger of pure ε takes no release with δ > 0",
                    found=str(cost),
                    allowed="δ = 0",
                    remedy="use a ledger in the currency 'approximate'",
                )
            return Spent(spent.first + cost.epsilon, spent.second)
        if self.currency == "zcdp":
            return Spent(spent.first + cost.zcdp, spent.second)
        return Spent(spent.first + cost.epsilon**2, spent.second + cost.delta)

    def allows(self, spent: Spent) -> bool:
        """Whether the sums are within the cap."""
        if self.currency != "approximate":
            return spent.first <= self.cap
        slack = self.delta / 2
        log = log_bracket(1 / slack, LOG_BITS)[1]
        room = self.cap - spent.first / 2
        return spent.second <= slack and room >= 0 and 2 * log * spent.first <= room**2

    def must_allow(self, spent: Spent, cost: Cost) -> Spent:
        """The sums after the cost, or `BudgetExceeded` with both amounts."""
        after = self.add(spent, cost)
        if not self.allows(after):
            raise BudgetExceeded(str(cost), self.remaining_words(spent))
        return after

    def remaining(self, spent: Spent) -> Fraction:
        """The largest further ε (or ρ) that would be granted, rounded down for the approximate currency."""
        if self.currency != "approximate":
            return max(self.cap - spent.first, Fraction(0))
        low, high = Fraction(0), self.cap
        for _ in range(60):
            middle = (low + high) / 2
            fits = self.allows(Spent(spent.first + middle**2, spent.second))
            low, high = (middle, high) if fits else (low, middle)
        return Fraction(int(low * 10**12), 10**12)

    def remaining_words(self, spent: Spent) -> str:
        """What is left, with its letter."""
        letter = "ρ" if self.currency == "zcdp" else "ε"
        return f"{letter} = {format_exact(self.remaining(spent))}"

    def document(self) -> dict[str, str]:
        """The budget as exact text."""
        found = {"currency": self.currency, "cap": format_exact(self.cap)}
        if self.delta:
            found["delta"] = format_exact(self.delta)
        return found


@dataclass(frozen=True)
class Spent:
    """Running sums: Σε, Σρ or Σε² (first) and Σδ (second)."""

    first: Fraction = Fraction(0)
    second: Fraction = Fraction(0)
