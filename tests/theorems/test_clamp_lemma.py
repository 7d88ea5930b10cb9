"""The Lipschitz lemmas of summaries: neighbouring databases land on the same or on adjacent states.

Clamp (replace-one): clip the counts of all types but a reference to [L_j, K_j]; the reference gets the rest, which is held in
[least, most] by moving respondents out of or into the clipped types, the first types first. One replacement moves the image by
at most one step, and the image is every histogram within all bounds. Under add-remove-one every count is clipped by itself.
Linear: a changed respondent moves Σ w by at most the largest difference of weights (replace) or the largest |w| (add).
Near-misses: bounds that no histogram keeps are refused; capping nested groups of types
is not 1-Lipschitz; lower bounds under add-remove-one are refused; a step smaller than the weights' spread is left by some pair
of neighbours.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations

import pytest

from discreet.errors import InputError
from discreet.model.neighbours import AddRemoveOne, GivenGraph, ReplaceOne
from discreet.model.states import locate, state_space
from discreet.model.summary import Clamp, DatabaseSummary, HistogramSummary, LinearSummary, check_summary
from discreet.model.universe import ListedUniverse, Universe


def random_clamp(rng: random.Random) -> tuple[Clamp, int]:
    types = rng.randint(2, 4)
    lower = tuple(rng.choice([0, 0, 0, 1, 2]) for _ in range(types))
    upper = tuple(low + rng.randint(0, 3) for low in lower)
    least = rng.choice([0, 0, 1, 2])
    rest = rng.choice([None, (least, least + rng.randint(0, 3))])
    return Clamp(lower, upper, rng.randrange(types), rest), rng.randint(1, 5)


def fitting_clamp(rng: random.Random) -> tuple[Clamp, Universe]:
    clamp, n = random_clamp(rng)
    while not clamp.fits(n):
        clamp, n = random_clamp(rng)
    return clamp, Universe.of(n, tuple(map(Fraction, range(len(clamp.lower)))))


def keeps(clamp: Clamp, h: list[int]) -> bool:
    """Whether every count is within its bounds."""
    assert clamp.reference is not None
    least, most = clamp.rest or (0, sum(h))
    return least <= h[clamp.reference] <= most and all(clamp.lower[j] <= h[j] <= clamp.upper[j] for j in clamp.clipped)


@pytest.mark.parametrize("seed", range(300))
def test_the_condition_is_that_some_histogram_keeps_the_bounds(seed: int) -> None:
    clamp, n = random_clamp(random.Random(seed))
    universe = Universe.of(n, tuple(map(Fraction, range(len(clamp.lower)))))
    assert clamp.fits(n) == any(keeps(clamp, h) for h in universe.histograms().tolist())


@pytest.mark.parametrize("seed", range(300))
def test_the_image_is_every_histogram_within_the_bounds(seed: int) -> None:
    clamp, universe = fitting_clamp(random.Random(seed))
    summary = HistogramSummary(clamp)
    rows = [tuple(h) for h in universe.histograms().tolist()]
    images = {summary.of_histogram(h) for h in rows}
    assert images == {h for h in rows if keeps(clamp, list(h))}
    assert all(summary.of_histogram(h) == h for h in images)
    space = state_space(universe, ReplaceOne(), summary)
    assert set(map(tuple, space.vectors.tolist())) == images
    assert [summary.of_histogram(h) for h in rows] == [
        tuple(space.vectors[at].tolist()) for at in locate(space, summary, universe.histograms())
    ]


def steps(universe: Universe) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every pair of neighbouring histograms."""
    for h in universe.histograms().tolist():
        for i, j in permutations(range(universe.types), 2):
            if h[i]:
                moved = list(h)
                moved[i], moved[j] = moved[i] - 1, moved[j] + 1
                yield tuple(h), tuple(moved)


@pytest.mark.parametrize("seed", range(300))
def test_a_clamp_is_one_lipschitz(seed: int) -> None:
    clamp, universe = fitting_clamp(random.Random(seed))
    summary = HistogramSummary(clamp)
    assert all(ReplaceOne().distance(summary.of_histogram(h), summary.of_histogram(m)) <= 1 for h, m in steps(universe))


def test_caps_on_nested_groups_of_types_are_not_one_lipschitz() -> None:
    """Near-miss: at most one respondent of type 2 or more; a second one is read as type 1 instead of left to the reference."""

    def nested(h: tuple[int, ...]) -> tuple[int, ...]:
        top, middle, all_of_them = min(h[3], 1), min(h[2] + h[3], 1), h[1] + h[2] + h[3]
        return sum(h) - all_of_them, all_of_them - middle, middle - top, top

    universe = Universe.of(3, tuple(map(Fraction, range(4))))
    fitting = HistogramSummary(Clamp((0, 0, 0, 0), (3, 3, 1, 1), 0, (1, 3)))
    assert all(ReplaceOne().distance(fitting.of_histogram(h), fitting.of_histogram(m)) <= 1 for h, m in steps(universe))
    assert any(ReplaceOne().distance(nested(h), nested(m)) > 1 for h, m in steps(universe))


@pytest.mark.parametrize("seed", range(100))
def test_clipping_from_above_is_one_lipschitz_for_any_size(seed: int) -> None:
    rng = random.Random(seed)
    types = rng.randint(2, 4)
    summary = HistogramSummary(Clamp((0,) * types, tuple(rng.randint(0, 3) for _ in range(types)), None))
    h = [rng.randint(0, 5) for _ in range(types)]
    for j in range(types):
        more = [*h[:j], h[j] + 1, *h[j + 1 :]]
        assert AddRemoveOne().distance(summary.of_histogram(tuple(h)), summary.of_histogram(tuple(more))) <= 1


@pytest.mark.parametrize("seed", range(100))
def test_a_sum_moves_by_at_most_its_step_and_attains_it(seed: int) -> None:
    rng = random.Random(seed)
    types = rng.randint(2, 4)
    weights = tuple(rng.randint(-4, 6) for _ in range(types))
    summary = LinearSummary(weights)
    spread = {abs(a - b) for a in weights for b in weights}
    assert max(spread) == summary.step(ReplaceOne())
    assert max(map(abs, weights)) == summary.step(AddRemoveOne())
    low = rng.randint(-9, 9)
    clipped = LinearSummary(weights, low, low + rng.randint(0, 9))
    totals = range(-20, 21)
    assert all(abs(clipped.clip(a) - clipped.clip(b)) <= abs(a - b) for a in totals for b in totals)


def test_a_clamp_that_asks_for_too_many_is_refused() -> None:
    """Near-miss: one more in a lower bound, and three respondents cannot make it."""
    universe = Universe.of(3, tuple(map(Fraction, range(3))))
    fits = Clamp((0, 1, 1), (0, 1, 2), 0, (1, 2))
    check_summary(HistogramSummary(fits), universe, ReplaceOne())
    raised, too_many, too_few = (
        Clamp((0, 1, 1), (0, 1, 2), 0, (2, 2)), Clamp((0, 2, 1), (0, 2, 2), 0, (1, 2)), Clamp((0, 0, 0), (0, 1, 1), 0, (0, 0)),
    )  # fmt: skip
    for asks in (raised, too_many, too_few):
        with pytest.raises(InputError, match="more respondents than there are"):
            check_summary(HistogramSummary(asks), universe, ReplaceOne())


@pytest.mark.parametrize(
    ("summary", "neighbours", "words"),
    [
        (HistogramSummary(Clamp((0, 0), (1, 1), None)), ReplaceOne(), "more respondents"),
        (HistogramSummary(Clamp((0, 0), (1, 1), 0)), AddRemoveOne(), "no type can absorb"),
        (HistogramSummary(Clamp((0, 1), (1, 1), None)), AddRemoveOne(), "only clipped from above"),
        (HistogramSummary(Clamp((0, 0, 0), (1, 1, 1), 0)), ReplaceOne(), "bounds for each type"),
        (LinearSummary((1,)), ReplaceOne(), "one integer for each type"),
    ],
)
def test_side_conditions_are_checked(summary, neighbours, words: str) -> None:
    two = (Fraction(0), Fraction(1))
    universe = Universe.of(3, two) if isinstance(neighbours, ReplaceOne) else Universe(two, 1, 3)
    with pytest.raises(InputError, match=words):
        check_summary(summary, universe, neighbours)


def test_names_have_no_summary_but_themselves() -> None:
    listed, graph = ListedUniverse(("a", "b")), GivenGraph((("a", "b"),))
    check_summary(DatabaseSummary(), listed, graph)
    with pytest.raises(InputError, match="no types to summarise"):
        check_summary(HistogramSummary(), listed, graph)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Clamp((0,), (0, 1), 0), lambda: Clamp((0, 0), (1, 1), 2), lambda: Clamp((0, 2), (1, 1), 0),
        lambda: Clamp((0, -1), (1, 1), 0), lambda: Clamp((0, 0), (1, 1), 0, (2, 1)), lambda: Clamp((0, 0), (1, 1), None, (0, 1)),
        lambda: LinearSummary((0, 1), 3, 2),
    ],
)  # fmt: skip
def test_bounds_the_wrong_way_round_are_refused(make) -> None:
    with pytest.raises(InputError):
        make()
