"""Perturbation tables of the cell-key method: what noise a count gets, decided by a key in [0, 1).

Row i lists intervals of the key in order, each with its noise v and its length, the chance of v; the published count is
i + v. Counts beyond the last row use the last `repeats` rows over and over (one row in `ptable` and `cellKey`, 250 in
the ONS tables).

As a mechanism on one cell whose key is uniform and unknown: counts are states, neighbours are counts one apart (a
respondent is added or left out), and beyond the last row nothing new happens, because noise that does not depend on the
count leaks the same at every count. One more state than rows therefore covers all counts; where outputs below a limit
are suppressed, so do the counts that noise can take across it.

Lemma (zeros). A table that is unbiased (Σ v·p = 0) and never negative (v ≥ −i) keeps zeros: at i = 0 all noise is
non-negative with mean 0. Then outputs above 0 are impossible at 0 and δ(1 → 0) = 1 − p(1 → 0) at every ε: no ε makes it
small. Reference: Fraser & Wooton (2006); Giessing (2016) for D, V and maximum entropy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from discreet.errors import InputError, TooLarge
from discreet.exchange.finite_mechanism import FiniteMechanism
from discreet.geometry.channel import Channel
from discreet.numerics.exact import brief

MOST_ROWS = 1_500
LARGEST_NOISE = 1_000
RELATION = "counts one apart are neighbours (a respondent is added or left out)"
ACROSS_TABLES = (
    "This is about one cell, once. Across cells and tables nothing is promised: cell keys are sums of the same record keys, "
    "so the noise of different cells is not independent and no rule of composition applies; a respondent counted in k cells "
    "is exposed in each of them, and whoever learns record keys can take the noise off. Moving a respondent from one cell to "
    "another changes two cells."
)

Row = tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True)
class PerturbationTable:
    """Intervals (noise, chance) of the key for every count from 0 on, in the order of the key."""

    rows: tuple[Row, ...]
    repeats: int = 1
    name: str = field(default="", compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if len(self.rows) < 2 or not 1 <= self.repeats < len(self.rows):
            raise InputError(
                "A perturbation table has a row for the count 0, at least one more, and repeats some of the others",
                found=f"{len(self.rows)} rows, {self.repeats} of them repeated",
                allowed="2 rows or more",
                remedy="complete the table",
            )
        if len(self.rows) > MOST_ROWS:
            raise TooLarge(
                "This table has too many counts",
                size=f"{len(self.rows):,} rows",
                fits=f"{MOST_ROWS:,} rows",
                remedy="end it where the noise no longer depends on the count",
            )
        for count, row in enumerate(self.rows):
            if not row or min(p for _, p in row) < 0 or sum((p for _, p in row), Fraction(0)) != 1:
                raise InputError(
                    f"The chances at count {count} are no distribution",
                    found=f"a sum of {brief(sum((p for _, p in row), Fraction(0)))}",
                    allowed="numbers from 0 on that sum to one",
                    remedy="correct the row",
                )
            if max(abs(v) for v, _ in row) > LARGEST_NOISE:
                raise TooLarge(
                    f"The noise at count {count} is too large",
                    size=f"{max(abs(v) for v, _ in row):,}",
                    fits=f"{LARGEST_NOISE:,}",
                    remedy="tables of counts have small noise; for magnitudes use another method",
                )

    def law(self, count: int) -> dict[int, Fraction]:
        """The chance of each noise at a count, intervals with the same noise put together."""
        found: dict[int, Fraction] = {}
        for v, p in self.rows[self.row_of(count)]:
            if p:
                found[v] = found.get(v, Fraction(0)) + p
        return dict(sorted(found.items()))

    def row_of(self, count: int) -> int:
        """The row that a count uses."""
        last = len(self.rows) - 1
        return count if count <= last else last - self.repeats + 1 + (count - last - 1) % self.repeats

    def mean(self, count: int) -> Fraction:
        """E[noise] at a count."""
        return sum((v * p for v, p in self.law(count).items()), Fraction(0))

    def variance(self, count: int) -> Fraction:
        """Var[noise] at a count."""
        return sum((v * v * p for v, p in self.law(count).items()), Fraction(0)) - self.mean(count) ** 2

    @cached_property
    def largest_noise(self) -> int:
        """D: no noise is further from 0."""
        return max(abs(v) for count in range(len(self.rows)) for v in self.law(count))

    @cached_property
    def settled(self) -> int | None:
        """The first count from which on the noise no longer changes; None when the rows that recur differ."""
        last = len(self.rows) - 1
        while last > 1 and self.law(last - 1) == self.law(len(self.rows) - 1):
            last -= 1
        return last if self.repeats <= len(self.rows) - last else None

    @cached_property
    def keeps_zeros(self) -> bool:
        return self.law(0) == {0: Fraction(1)}

    @cached_property
    def never_negative(self) -> bool:
        return all(count + min(self.law(count)) >= 0 for count in range(len(self.rows)))

    def blocked(self) -> tuple[int, ...]:
        """Positive outputs up to D that no count is ever published as (the js of `ptable`)."""
        used = {count + v for count in range(len(self.rows) + 1) for v in self.law(count)}
        return tuple(j for j in range(1, self.largest_noise + 1) if j not in used)

    def mechanism(self, below: int | None = None) -> FiniteMechanism:
        """A finite mechanism on counts up to one that is like all larger; outputs smaller than `below` are suppressed as one."""
        past = 0 if below is None else below + self.largest_noise + 1
        last = max(len(self.rows), past + self.repeats) if self.settled is None else max(self.settled + 1, past)
        counts = range(last + 1)
        laws = [{self._shown(count + v, below): Fraction(0) for v in self.law(count)} for count in counts]
        for count, law in zip(counts, laws, strict=True):
            for v, p in self.law(count).items():
                law[self._shown(count + v, below)] += p
        outputs = sorted({output for law in laws for output in law})
        hidden = None if below is None else below - 1
        labels = tuple(f"below {below}" if output == hidden and below is not None else str(output) for output in outputs)
        rows = tuple(tuple(law.get(output, Fraction(0)) for law in laws) for output in outputs)
        edges = tuple((i, i + 1) for i in range(last))
        return FiniteMechanism(Channel(tuple(map(str, counts)), labels, rows), edges, RELATION, self.name, self.notes)

    @staticmethod
    def _shown(output: int, below: int | None) -> int:
        return output if below is None or output >= below else below - 1

    def _repr_html_(self) -> str:
        return self.mechanism()._repr_html_()


def checked_row(entries: list[tuple[int, Fraction]], count: int, source: str) -> Row:
    """The intervals of one count, refused in words when they are no distribution."""
    total = sum((p for _, p in entries), Fraction(0))
    if not entries or min(p for _, p in entries) < 0 or total != 1:
        raise InputError(
            f"The chances at count {count} in {source} are no distribution",
            found=f"a sum of {brief(total)}",
            allowed="numbers from 0 on that sum to one",
            remedy="correct the row; rounded chances must still add up",
        )
    return tuple(entries)


def complete(rows: dict[int, list[tuple[int, Fraction]]], source: str) -> tuple[Row, ...]:
    """Rows for every count from 0 to the last; a missing count is refused, a missing 0 is kept as it is."""
    if not rows or min(rows) < 0:
        raise InputError(
            f"{source} has no counts from 0 on",
            found=f"{min(rows, default='nothing')}",
            allowed="counts 0, 1, 2, …",
            remedy="correct the counts",
        )
    last = max(rows)
    if last >= MOST_ROWS:
        raise TooLarge(
            "This table has too many counts",
            size=f"counts up to {last:,}",
            fits=f"up to {MOST_ROWS - 1:,}",
            remedy="end it where the noise no longer depends on the count",
        )
    missing = [count for count in range(1, last + 1) if count not in rows]
    if missing:
        raise InputError(
            f"{source} leaves out counts",
            found=f"no row for {', '.join(map(str, missing[:5]))}",
            allowed=f"every count up to {last}",
            remedy="complete the table",
        )
    rows.setdefault(0, [(0, Fraction(1))])
    return tuple(checked_row(rows[count], count, source) for count in range(last + 1))
