"""Totals: exact posteriors of sums by enumeration, agreement of regions, coverage, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import discreet
from discreet.errors import InputError
from discreet.interpret.comparing_totals import ranks, share
from discreet.interpret.posteriors import posterior, posterior_after
from discreet.interpret.totals import CellBeliefs, PublishedGroup, Total, cell_beliefs, region_totals, total
from discreet.mechanisms.geometric import geometric_mechanism
from discreet.model.kernel import Output, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.summary import HistogramSummary, LinearSummary

Law = dict[Fraction, Fraction]


def noisy(size: int, statistic: str = "sum", epsilon: str = "1", values: tuple[str, ...] = ("0", "1")) -> Mechanism:
    chances = ["0.7", "0.3"] if len(values) == 2 else ["0.6", "0.3", "0.1"]
    problem = discreet.problem(
        respondents=size, values=list(values), probabilities=chances, statistic=statistic, actions="real", epsilon=epsilon
    ).problem
    return geometric_mechanism(problem, LinearSummary(tuple(range(len(values)))))


def table(size: int) -> Mechanism:
    """A table kernel that reads the histogram of three types."""
    like = noisy(size, values=("0", "1", "3"))
    states = like.problem.universe.histograms()  # type: ignore[union-attr]
    total = 1 << 20
    rows = [[total // 2 - 1000 * int(h[1]) - 3000 * int(h[2]) for h in states]]
    rows.append([total - w for w in rows[0]])
    labels = tuple(",".join(map(str, h)) for h in states.tolist())
    outputs = (Output("low", Fraction(1)), Output("high", Fraction(2)))
    kernel = TableKernel(labels, outputs, tuple(map(tuple, rows)), total)
    return Mechanism(like.problem, HistogramSummary(), kernel, like.guarantee)


def enumerated(cells: list[list[tuple[Mechanism, int]]]) -> Law:
    """The posterior of the total from every combination of the cells' exact posteriors."""
    whole: Law = {Fraction(0): Fraction(1)}
    for published in cells:
        found = posterior_after([(m, m.kernel.output(place).label) for m, place in published], exact=True)
        grown: Law = {}
        for (value, p), (more, q) in product(whole.items(), zip(found.numbers, found.exact or (), strict=True)):
            grown[value + more] = grown.get(value + more, Fraction(0)) + p * q
        whole = grown
    return whole


def agrees(found: Total, truth: Law) -> None:
    """Every probability is off by at most the stated error; mean and variance follow."""
    values, chances = found.probabilities
    stated = dict(zip(values, (Fraction(float(p)) for p in chances), strict=True))
    off = sum((abs(stated.get(v, Fraction(0)) - truth.get(v, Fraction(0))) for v in {*stated, *truth}), Fraction(0))
    assert off <= Fraction(found.law.error)
    mean = sum((v * p for v, p in truth.items()), Fraction(0))
    assert found.mean == pytest.approx(float(mean), rel=1e-10)
    assert found.variance == pytest.approx(float(sum((v - mean) ** 2 * p for v, p in truth.items())), rel=1e-9)


def beliefs_of(*groups: tuple[tuple[Mechanism, ...], list[list[int]]], scale: Fraction = Fraction(1)) -> CellBeliefs:
    found, start = [], 0
    for mechanisms, outputs in groups:
        cells = np.arange(start, start + len(outputs))
        found.append(PublishedGroup(cells, mechanisms, np.array(outputs), scale=scale))
        start += len(outputs)
    return cell_beliefs(found)


def test_cells_of_different_sizes_and_mechanisms_add_up_exactly() -> None:
    small, large, odd = noisy(2), noisy(4, epsilon="2"), table(3)
    held = beliefs_of(((small,), [[0], [1]]), ((large,), [[3]]), ((odd,), [[0], [1], [0]]))
    cells = [[(small, 0)], [(small, 1)], [(large, 3)], [(odd, 0)], [(odd, 1)], [(odd, 0)]]
    agrees(total(held, np.arange(6)), enumerated(cells))
    agrees(total(held, np.array([1, 5])), enumerated([cells[1], cells[5]]))


def test_two_releases_about_one_cell_count_together() -> None:
    first, second = noisy(3), noisy(3, epsilon="1/2")
    held = beliefs_of(((first, second), [[0, 3], [2, 1]]))
    agrees(total(held, np.arange(2)), enumerated([[(first, 0), (second, 3)], [(first, 2), (second, 1)]]))
    alone = total(beliefs_of(((first,), [[0], [2]])), np.arange(2))
    assert total(held, np.arange(2)).mean != pytest.approx(alone.mean)


def test_means_are_added_up_as_the_sums_behind_them() -> None:
    summed, averaged = noisy(4), noisy(4, "mean")
    one = total(beliefs_of(((summed,), [[1], [4]])), np.arange(2))
    other = total(beliefs_of(((averaged,), [[1], [4]]), scale=Fraction(4)), np.arange(2))
    assert other.mean == pytest.approx(one.mean) and other.interval() == one.interval()


def test_regions_within_regions_agree() -> None:
    held = beliefs_of(((noisy(4),), [[k % 5] for k in range(40)]))
    parts = [np.arange(i, i + 10) for i in range(0, 40, 10)]
    whole = total(held, np.arange(40))
    assert sum(one.mean for one in region_totals(held, parts)) == pytest.approx(whole.mean, rel=1e-13)
    assert sum(one.unbiased or 0 for one in region_totals(held, parts)) == pytest.approx(whole.unbiased or 0, rel=1e-12)


def test_differences_forget_common_cells() -> None:
    one = noisy(3)
    held = beliefs_of(((one,), [[0], [3], [2]]))
    found = total(held, np.array([0, 1]), np.array([1, 2]))
    first, second = posterior(one, "0", exact=True), posterior(one, "2", exact=True)
    truth: Law = {}
    for a, p in zip(first.numbers, first.exact or (), strict=True):
        for b, q in zip(second.numbers, second.exact or (), strict=True):
            truth[a - b] = truth.get(a - b, Fraction(0)) + p * q
    agrees(found, truth)
    low, high = found.exceeds(Fraction(0))
    assert Fraction(low) <= sum((p for v, p in truth.items() if v > 0), Fraction(0)) <= Fraction(high)


def test_the_unbiased_sum_rests_on_no_prior() -> None:
    """Averaged over draws at a fixed database it is the truth, and its standard error is what is seen."""
    one = noisy(4)
    random = np.random.default_rng(5)
    kernel = one.probabilities
    held = beliefs_of(((one,), [[k] for k in range(5)]))
    sums = [held.unbiased[random.choice(5, 100, p=kernel[:, 3] / kernel[:, 3].sum())].sum() for _ in range(400)]
    spread = np.std(sums) / 20
    assert abs(np.mean(sums) - 300) < 5 * spread  # false alarm below one in a million


def test_intervals_cover_what_they_say() -> None:
    """Totals over 60 cells of 4 drawn from the prior; 400 × 5 regions, so that five deviations are 3.4 points."""
    one = noisy(4)
    random = np.random.default_rng(7)
    truth = random.binomial(4, 0.3, (400, 300))
    kernel = np.cumsum(one.probabilities / one.probabilities.sum(axis=0), axis=0)
    outputs = (random.random((400, 300, 1)) > kernel[:, truth].transpose(1, 2, 0)).sum(axis=2).clip(0, 4)
    held = beliefs_of(((one,), [[k] for k in range(5)]))
    hits, promised = [], []
    for release in range(400):
        for region in range(5):
            at = slice(60 * region, 60 * region + 60)
            places = outputs[release, at]
            counts = np.bincount(places, minlength=5)
            found = total(_repeated(held, counts), np.arange(60))
            low, high = found.interval()
            hits.append(low <= truth[release, at].sum() <= high)
            promised.append(found.holds(low, high))
    assert np.mean(promised) < 0.935
    assert abs(np.mean(hits) - np.mean(promised)) < 0.034


def _repeated(held: CellBeliefs, counts: np.ndarray) -> CellBeliefs:
    from dataclasses import replace

    return replace(held, classes=np.repeat(np.arange(5), counts))


def test_shares_and_ranks_follow_from_the_laws() -> None:
    held = beliefs_of(((noisy(4),), [[k] for k in (0, 2, 4, 4)]))
    each = region_totals(held, [np.array([k]) for k in range(4)])
    places = ranks(each)
    assert [round(p.expected, 6) for p in places] == sorted([round(p.expected, 6) for p in places], reverse=True)
    assert places[2].first == pytest.approx(places[3].first) and (places[2].best, places[3].best) == (1, 1)
    truth = _expected_rank([dict(zip(*one.probabilities, strict=True)) for one in each], 1)
    assert places[1].expected == pytest.approx(truth)
    part = share(total(held, np.array([3])), total(held, np.array([0, 1, 2])))
    assert 0 <= part.lower <= part.median <= part.upper <= 1
    assert _share_above(each, part.upper) <= 0.05 + 1e-9 and _share_above(each, part.lower - 1e-6) >= 0.95 - 1e-9


def _expected_rank(laws: list[dict[Fraction, float]], i: int) -> float:
    return 1 + sum(p * q for j, law in enumerate(laws) if j != i for a, p in laws[i].items() for b, q in law.items() if b > a)


def _share_above(each: list[Total], bar: float) -> float:
    laws = [dict(zip(*one.probabilities, strict=True)) for one in each]
    found = 0.0
    for combination in product(*(law.items() for law in laws)):
        whole = sum(v for v, _ in combination)
        chance = float(np.prod([p for _, p in combination]))
        found += chance * (whole > 0 and float(combination[3][0] / whole) > bar)
    return found


def test_many_regions_have_expected_ranks() -> None:
    held = beliefs_of(((noisy(2),), [[k % 3] for k in range(300)]))
    found = ranks(region_totals(held, [np.array([k]) for k in range(300)]))
    assert found[0].best is None and sum(r.expected for r in found) < 300 * 301 / 2
    few = ranks(region_totals(held, [np.array([k]) for k in range(30)]))
    from discreet.interpret import comparing_totals

    pooled = comparing_totals._expected(comparing_totals._scaled(region_totals(held, [np.array([k]) for k in range(30)])))
    assert pooled == pytest.approx([r.expected for r in few])


@pytest.mark.parametrize(("cells", "words"), [([], "no cell"), ([1, 1], "twice"), ([0, 9], "no cell at"), ([-1], "no cell at")])
def test_what_is_no_region_is_refused(cells: list[int], words: str) -> None:
    held = beliefs_of(((noisy(2),), [[0], [1]]))
    with pytest.raises(InputError, match=words):
        total(held, np.array(cells, dtype=np.int64))
    with pytest.raises(InputError, match=words):
        region_totals(held, [np.array(cells, dtype=np.int64)])
