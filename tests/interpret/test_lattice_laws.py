"""Laws of sums: the error that a law states bounds what exact rationals show, and would be refuted if it were smaller."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import TooLarge
from discreet.interpret import lattice_laws
from discreet.interpret.lattice_laws import LatticeLaw, certain, convolved, law_of, repeated, sum_law
from discreet.interpret.many_sums import many_sums

Exact = dict[int, Fraction]


def exactly(law: LatticeLaw) -> Exact:
    """The masses as the rationals that the doubles are."""
    return {law.start + k: Fraction(float(p)) for k, p in enumerate(law.masses)}


def added(first: Exact, second: Exact) -> Exact:
    found: Exact = {}
    for a, p in first.items():
        for b, q in second.items():
            found[a + b] = found.get(a + b, Fraction(0)) + p * q
    return found


def distance(law: LatticeLaw, truth: Exact) -> Fraction:
    """Σ |p̂ − p| over all whole numbers."""
    stated = exactly(law)
    return sum((abs(stated.get(k, Fraction(0)) - truth.get(k, Fraction(0))) for k in {*stated, *truth}), Fraction(0))


def normalised(law: LatticeLaw) -> tuple[LatticeLaw, Exact]:
    """A law whose truth is its masses divided by their exact sum."""
    raw = exactly(law)
    total = sum(raw.values(), Fraction(0))
    truth = {k: p / total for k, p in raw.items()}
    return LatticeLaw(law.start, law.masses, float(distance(law, truth)) * 1.01 + 1e-300, law.least, law.most), truth


def random_law(random: np.random.Generator, length: int, start: int) -> LatticeLaw:
    """Masses over many powers of ten."""
    masses = random.random(length) ** random.integers(1, 12)
    return law_of([start + k for k in range(length)], masses / masses.sum(), 0.0)


@pytest.mark.parametrize("seed", range(6))
def test_the_error_of_a_sum_holds_against_exact_rationals(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(seed)
    if seed % 2:
        monkeypatch.setattr(lattice_laws, "LONGEST_DIRECT", 2)  # by transforms
    pairs = [normalised(random_law(random, int(random.integers(1, 30)), int(random.integers(-9, 9)))) for _ in range(4)]
    truth = {0: Fraction(1)}
    for _, one in pairs:
        truth = added(truth, one)
    law = sum_law((law, 1) for law, _ in pairs)
    off = distance(law, truth)
    assert 0 < off <= Fraction(law.error) < Fraction(1, 10**9)
    assert law.least == min(truth) and law.most == max(truth)


def test_what_is_cut_off_is_counted() -> None:
    chances = np.array([2.0**-k for k in range(1, 101)])
    law = law_of(range(100), chances / chances.sum(), 0.0)
    assert len(law) < 60 and law.most == 99
    assert Fraction(law.error) >= sum((Fraction(float(p)) for p in (chances / chances.sum())[len(law) :]), Fraction(0)) > 0


def test_repeating_is_adding_again_and_again() -> None:
    one = law_of([0, 1, 3], np.array([0.5, 0.25, 0.25]), 0.0)
    many = repeated(one, 11)
    truth = {0: Fraction(1)}
    for _ in range(11):
        truth = added(truth, exactly(one))
    assert distance(many, truth) <= Fraction(many.error)
    assert len(repeated(one, 0)) == 1 and repeated(one, 0).start == 0


def test_intervals_leave_out_at_most_what_is_allowed() -> None:
    law = repeated(law_of([0, 1], np.array([0.5, 0.5]), 0.0), 20)
    low, high = law.interval(0.05)
    assert (low, high) == (6, 14)
    below = law.at_most(low - 1)
    assert below[0] <= below[1] <= 0.05 < law.at_most(low)[1]
    assert law.holds(low, high) >= 0.9 and law.holds(-1, 30) == 1.0
    assert law.interval(1e-30) == (0, 20), "where rounding decides, the whole range"


def test_a_vague_law_gives_a_wide_interval() -> None:
    vague = LatticeLaw(10, np.ones(1), 0.5, 0, 100)
    assert vague.interval(0.05) == (0, 100) and vague.at_most(10)[0] < 0.5 and vague.at_most(10)[1] == 1


def test_mirrored_is_the_law_of_the_negative() -> None:
    law = law_of([0, 2], np.array([0.25, 0.75]), 0.0).mirrored()
    assert exactly(law)[-2] == Fraction(3, 4) and (law.least, law.most) == (-2, 0)
    assert convolved(law, certain(2)).at_most(0)[0] == pytest.approx(0.75)


@pytest.mark.parametrize("cells", [3, 40, 900])
def test_many_sums_agree_with_single_ones(cells: int) -> None:
    random = np.random.default_rng(cells)
    laws = [random_law(random, int(random.integers(1, 40)), int(random.integers(-5, 5))) for _ in range(12)]
    counts = random.multinomial(cells, np.full(12, 1 / 12), 8)
    for row, law in zip(counts, many_sums(laws, counts), strict=True):
        single = sum_law(zip(laws, row.tolist(), strict=True))
        assert (law.least, law.most) == (single.least, single.most)
        for value in range(single.start, single.start + len(single), max(1, len(single) // 20)):
            (a, b), (c, d) = law.at_most(value), single.at_most(value)
            assert a <= d and c <= b, "two brackets of one number"
        assert law.error < 1e-8


def test_a_total_with_too_many_values_is_refused() -> None:
    with pytest.raises(TooLarge, match="larger common step"):
        law_of([0, 1 << 26], np.array([0.5, 0.5]), 0.0)
