"""Designing perturbation tables: the least δ at an ε, or the least ε at a δ, with the same D and V; or a proof that none
is better.

The program proposes, rounding to whole keys makes the table exact, the checker states its δ in integers, and the bound
of the program at a ratio above e^ε says what no table with these rows can go below. Improving a given table allows, at
every count, no more mean squared noise than it has itself, and asks for exactly no bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.certify.edges.approximate import ApproximateProof, edge_leaks, tight_delta
from discreet.errors import InputError
from discreet.exchange.cell_keys.entropy import check_parameters, entropy_rows, row_variance
from discreet.exchange.cell_keys.perturbation import PerturbationTable
from discreet.exchange.cell_keys.program import Wanted, bound_at, solve
from discreet.exchange.cell_keys.rounding import whole_rows
from discreet.numerics.brackets import exp_bracket
from discreet.numerics.digits import at_most
from discreet.numerics.exact import brief, exact

KEYS = 10**8
"""Eight decimals, as the generators write."""
RATIO_BITS = 48
LARGEST_EPSILON = Fraction(12)
"""Beyond it e^ε is too large a number to stand beside chances in a program."""
WIDTH = Fraction(1, 1 << 12)
"""How close the two ends of a least ε are."""


@dataclass(frozen=True, eq=False)
class TableDesign:
    """A table, its exact δ at ε, the δ between positive counts, and what no table with the same demands goes below, proved."""

    table: PerturbationTable
    epsilon: Fraction
    delta: ApproximateProof
    inner: Fraction
    bound: Fraction
    wanted: Wanted

    @property
    def gap(self) -> Fraction:
        """By how much at most a better table could be better."""
        return self.delta.tight_high - self.bound


@dataclass(frozen=True, eq=False)
class Improvement:
    """A given table beside a redesigned one, whose bound holds for all that are unbiased and nowhere noisier than the given."""

    given: PerturbationTable
    given_delta: ApproximateProof
    given_inner: Fraction
    found: TableDesign

    @property
    def better_by(self) -> Fraction:
        """How much smaller the redesigned δ is, at least; 0 when it is not."""
        return max(self.given_delta.tight_low - self.found.delta.tight_high, Fraction(0))

    @property
    def none_better(self) -> bool:
        """Whether it is proved that no such table has a smaller δ."""
        return self.given_delta.tight_high <= self.found.bound

    @property
    def at_most_by(self) -> Fraction:
        """No such table is better by more."""
        return max(self.given_delta.tight_high - self.found.bound, Fraction(0))


@dataclass(frozen=True, eq=False)
class LeastEpsilon:
    """The least ε at a δ: the design holds at its own ε, and below `lower` no such table has this δ."""

    delta: Fraction
    lower: Fraction
    found: TableDesign


def wanted_table(
    noise: int, variance: object, *, blocked: tuple[int, ...] = (), monotone: bool = False, unbiased_zero: bool = True
) -> Wanted:
    """D, V and the other demands: V exactly at every count that can have it, the most that is possible at smaller ones."""
    number = exact(variance, "V")
    check_parameters(noise, number)
    last = noise + max(blocked, default=0)
    ends = [row_variance(count, noise, number) for count in range(last + 1)]
    variances = [(v, v) for v in ends]
    if not unbiased_zero:
        variances[0] = (Fraction(0), number)
    if monotone or blocked:
        variances = [(Fraction(0), v) for _, v in variances]
    return Wanted(noise, tuple(variances), blocked, monotone, unbiased_zero)


def design_table(wanted: Wanted, epsilon: object, keys: int = KEYS, name: str = "") -> TableDesign:
    """The table with the least δ at this ε, in whole keys."""
    level = _level(epsilon)
    below, above = exp_bracket(level, RATIO_BITS)
    found = solve(wanted, below)
    table = PerturbationTable(whole_rows(found.rows, found.inside, wanted, keys), name=name)
    delta, inner = leaks(table, level)
    return TableDesign(table, level, delta, inner, bound_at(wanted, above), wanted)


def improve(table: PerturbationTable, epsilon: object, keys: int = KEYS) -> Improvement:
    """A table that is unbiased, never negative and nowhere noisier than the given one, with the least δ at this ε."""
    level = _level(epsilon)
    wanted = demands_of(table)
    delta, inner = leaks(table, level)
    return Improvement(table, delta, inner, design_table(wanted, level, keys, f"{table.name} redesigned"))


def demands_of(table: PerturbationTable) -> Wanted:
    """What a table with the same D must satisfy to be nowhere noisier than this one."""
    last = table.settled
    if last is None:
        raise InputError(
            "The noise of this table depends on the count all the way, so there is no finite table to improve",
            found=f"{table.repeats} rows that recur",
            allowed="noise that is the same from some count on",
            remedy="certify it as it is",
        )
    noise = max(table.largest_noise, 1)
    if noise > 50:
        raise InputError(
            "The noise is too wide to be designed", found=f"D = {noise}", allowed="D up to 50", remedy="certify it as it is"
        )
    squares = [sum((v * v * p for v, p in table.law(count).items()), Fraction(0)) for count in range(last + 1)]
    return Wanted(noise, tuple((Fraction(0), square) for square in squares), table.blocked())


def least_epsilon(wanted: Wanted, delta: object, keys: int = KEYS) -> LeastEpsilon:
    """The least ε at which some such table has this δ, from both sides."""
    target = exact(delta, "delta")
    if not 0 < target < 1:
        raise InputError("delta is out of range", found=brief(target), allowed="0 < delta < 1", remedy="correct it")
    floor = bound_at(wanted, exp_bracket(LARGEST_EPSILON, RATIO_BITS)[1])
    if floor > target:
        raise InputError(
            "No ε is enough for this δ: tables that keep zeros give them away whatever the ε",
            found=f"δ = {brief(target)}",
            allowed=f"a δ of at least {at_most(floor, 9)}",
            remedy="ask for a larger δ, or allow bias at zero",
        )
    low, high = Fraction(0), LARGEST_EPSILON
    while high - low > WIDTH:
        middle = (low + high) / 2
        enough = bound_at(wanted, exp_bracket(middle, RATIO_BITS)[1]) <= target
        low, high = (low, middle) if enough else (middle, high)
    return LeastEpsilon(target, low, _first_that_reaches(wanted, target, high, keys))


def _first_that_reaches(wanted: Wanted, target: Fraction, least: Fraction, keys: int) -> TableDesign:
    """A table in whole keys with δ at most the target, at an ε as little above `least` as rounding asks for."""
    beyond = Fraction(0)
    while least + beyond <= LARGEST_EPSILON:
        found = design_table(wanted, least + beyond, keys)
        if found.delta.tight_high <= target:
            return found
        beyond = beyond * 2 if beyond else WIDTH
    raise InputError(
        "In whole keys no table was found that reaches this δ",
        found=f"{keys} keys",
        allowed="more keys, or a larger δ",
        remedy="ask for a slightly larger δ or for more keys",
    )


def entropy_table(noise: int, variance: object, *, at_most: bool = False, keys: int = KEYS, name: str = "") -> PerturbationTable:
    """The table of maximum entropy for D and V in whole keys: with variance V exactly, or at most V as `ptable` makes it."""
    number = exact(variance, "V")
    rows = entropy_rows(noise, number, at_most=at_most)
    wanted = wanted_table(noise, number)
    if at_most:
        wanted = Wanted(noise, tuple((Fraction(0), high) for _, high in wanted.variances))
    return PerturbationTable(whole_rows(rows, rows, wanted, keys), name=name or f"D{noise}V{brief(number)}")


def leaks(table: PerturbationTable, epsilon: Fraction, below: int | None = None) -> tuple[ApproximateProof, Fraction]:
    """The exact δ at ε with its edge, and that of edges between positive counts; outputs smaller than `below` are suppressed."""
    weights = table.mechanism(below).weights
    inner = max((leak.high for leak in edge_leaks(weights, epsilon) if "0" not in (leak.first, leak.second)), default=Fraction(0))
    return tight_delta(weights, epsilon), inner


def _level(epsilon: object) -> Fraction:
    level = exact(epsilon, "epsilon")
    if not 0 <= level <= LARGEST_EPSILON:
        raise InputError("epsilon is out of range", found=brief(level), allowed=f"0 to {LARGEST_EPSILON}", remedy="correct it")
    return level
