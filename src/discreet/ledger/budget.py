"""Budgets: how much of a promise is left, in one currency that is fixed when the ledger is made.

`pure`          Σ ε_i ≤ E                                     (basic composition, valid for adaptive choices)
`zcdp`          Σ ρ_i ≤ R                                     (additive filter; a pure ε costs at most ε²/2)
`approximate`   Σ δ_i ≤ δ/2, and either  Σ ε_i ≤ E
                                 or      √(2·ln(2/δ)·S) + S/2 ≤ E  with S = Σ 2ρ_i
                (basic composition, Rogers et al. 2016; a fully adaptive filter, Whitehouse, Ramdas, Rogers & Wu 2023,
                Thm 1, with ρ in place of ε²/2: the supermartingale below needs no more)

Why "either … or" is still (E, δ)-DP: outcomes at whose end the filter holds have a loss L above E with probability at most
δ/2, since exp((α−1)(L − αΣρ)) is a supermartingale; outcomes at whose end the sum holds satisfy P ≤ e^E Q + Σδ_i by basic
composition. Every outcome is of one kind. A batch counts in both: in the sum by its composed (ε, δ), in the filter by the ρ
of its members.

All sums are exact. The square root is removed by squaring and ln(2/δ) replaced by a rational above it, so nothing is
granted beyond what the theorems allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import BudgetExceeded, InputError
from discreet.model.promises import LETTERS, Promise
from discreet.numerics.brackets import log_bracket
from discreet.numerics.digits import at_most
from discreet.numerics.exact import exact, format_exact

CURRENCIES = ("pure", "zcdp", "approximate")
LOG_BITS = 96


@dataclass(frozen=True)
class Cost:
    """What one release, or one batch, costs: (ε, δ), and ρ when a smaller one than ε²/2 is known and proved, or nothing but ρ is.

    With both δ > 0 and ρ, each of the two is proved by itself: a batch is (ε, δ)-DP, and it is ρ-zCDP.
    """

    epsilon: Fraction | None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None

    def __post_init__(self) -> None:
        negative = any(level is not None and level < 0 for level in (self.epsilon, self.rho))
        if negative or not 0 <= self.delta < 1 or (self.epsilon is None and (self.rho is None or self.delta)):
            raise InputError(
                "A cost cannot be negative, and states ε, ε with δ, or ρ",
                found=str(self) or "nothing",
                allowed="ε >= 0, 0 <= δ < 1, ρ >= 0",
                remedy="correct it",
            )

    @classmethod
    def of(cls, *promises: Promise) -> Cost:
        """The cost of a release that keeps each of these promises."""
        numbers: dict[str, Any] = {"epsilon": None}
        for promise in promises:
            numbers |= promise.numbers
        return cls(**numbers)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Cost:
        """The cost in an event."""
        numbers = {key: exact(document[key], key) for key in LETTERS if key in document}
        return cls(numbers.get("epsilon"), numbers.get("delta", Fraction(0)), numbers.get("rho"))

    @property
    def pure(self) -> Fraction:
        """ε, of which a release that promises only ρ has none."""
        if self.epsilon is None:
            raise InputError(
                "A release that promises only ρ has no cost in ε",
                found=str(self),
                allowed="a release with a proved ε",
                remedy="use a ledger in the currency 'zcdp' or 'approximate'",
            )
        return self.epsilon

    @property
    def zcdp(self) -> Fraction:
        """ρ: half the square of a pure ε unless a smaller one is stated."""
        if self.rho is not None:
            return self.rho
        if self.delta:
            raise InputError(
                "A release with δ > 0 has no zCDP cost",
                found=f"δ = {format_exact(self.delta)}",
                allowed="δ = 0",
                remedy="use a ledger in the currency 'approximate'",
            )
        return self.pure**2 / 2

    @property
    def square(self) -> Fraction:
        """What the adaptive filter adds up: 2ρ, or ε² of the part that is left when a δ is set aside."""
        return self.pure**2 if self.rho is None else 2 * self.rho

    def covers(self, other: Cost) -> bool:
        """Whether whoever pays this has paid at least the other, in every currency."""
        paid = self.epsilon is None or (other.epsilon is not None and self.epsilon >= other.epsilon)
        return paid and self.delta >= other.delta and self.square >= other.square

    def __str__(self) -> str:
        return ", ".join(f"{LETTERS[key]} = {text}" for key, text in self.document().items())

    def brief(self, currency: str) -> str:
        """What a ledger of this currency charges, for people, rounded up."""
        if self.epsilon is None or (currency == "zcdp" and not self.delta):
            return f"ρ = {at_most(self.zcdp)}"
        level = f"ε = {at_most(self.epsilon)}"
        return f"{level}, δ = {at_most(self.delta)}" if self.delta else level

    def document(self) -> dict[str, str]:
        """The cost as exact text."""
        numbers = {"epsilon": self.epsilon, "delta": self.delta or None, "rho": self.rho}
        return {key: format_exact(number) for key, number in numbers.items() if number is not None}


@dataclass(frozen=True)
class Budget:
    """A cap in a currency for one population and privacy unit."""

    currency: str
    cap: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.currency not in CURRENCIES:
            raise InputError("This currency is not known", found=self.currency, allowed=CURRENCIES, remedy="choose one of these")
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
        if cost.delta and self.currency != "approximate":
            raise InputError(
                f"A ledger of {'pure ε' if self.currency == 'pure' else 'ρ'} takes no release with δ > 0",
                found=str(cost),
                allowed="δ = 0",
                remedy="use a ledger in the currency 'approximate'",
            )
        if self.currency == "pure":
            return Spent(spent.first + cost.pure, spent.second)
        if self.currency == "zcdp":
            return Spent(spent.first + cost.zcdp, spent.second)
        total = None if spent.total is None or cost.epsilon is None else spent.total + cost.epsilon
        return Spent(spent.first + cost.square, spent.second + cost.delta, total)

    def allows(self, spent: Spent) -> bool:
        """Whether the sums are within the cap."""
        if self.currency != "approximate":
            return spent.first <= self.cap
        slack = self.delta / 2
        if spent.second > slack:
            return False
        if spent.total is not None and spent.total <= self.cap:
            return True
        log = log_bracket(1 / slack, LOG_BITS)[1]
        room = self.cap - spent.first / 2
        return room >= 0 and 2 * log * spent.first <= room**2

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
        by_sum = Fraction(0) if spent.total is None else max(self.cap - spent.total, Fraction(0))
        low, high = by_sum, self.cap
        for _ in range(60):
            middle = (low + high) / 2
            fits = self.allows(self.add(spent, Cost(middle)))
            low, high = (middle, high) if fits else (low, middle)
        return max(by_sum, Fraction(int(low * 10**12), 10**12))

    def remaining_delta(self, spent: Spent) -> Fraction:
        """How much δ is left for releases and batches; the other half of δ belongs to the filter."""
        return max(self.delta / 2 - spent.second, Fraction(0))

    def remaining_words(self, spent: Spent) -> str:
        """What is left, with its letter."""
        letter = "ρ" if self.currency == "zcdp" else "ε"
        level = f"{letter} = {format_exact(self.remaining(spent))}"
        return f"{level}, δ = {format_exact(self.remaining_delta(spent))}" if self.delta else level

    def document(self) -> dict[str, str]:
        """The budget as exact text."""
        found = {"currency": self.currency, "cap": format_exact(self.cap)}
        if self.delta:
            found["delta"] = format_exact(self.delta)
        return found


def must_charge(currency: str | None, cost: Cost) -> None:
    """Refuse, before anything is committed, a cost that a ledger of this currency has no number for."""
    if currency is not None:
        some = Fraction(1, 2) if currency == "approximate" else Fraction(0)
        Budget(currency, Fraction(1), some).add(Spent(), cost)


@dataclass(frozen=True)
class Spent:
    """Running sums: Σε, Σρ or Σ2ρ (first), Σδ (second), and Σε beside Σ2ρ (total): None once a release has no ε."""

    first: Fraction = Fraction(0)
    second: Fraction = Fraction(0)
    total: Fraction | None = Fraction(0)
