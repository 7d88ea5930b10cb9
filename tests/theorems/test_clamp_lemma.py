"""The Lipschitz lemmas of summaries: neighbouring databases land on the same or on adjacent states.

Clamp (replace-one): clip the counts of all types but a reference to [L_j, K_j]; the reference absorbs the rest. The image
stays a histogram of N respondents iff for every subset S of the clipped types Σ_{i∉S} L_i + min(N, Σ_{i∈S} K_i) ≤ N, and
then one replacement moves the image by at most one step. Under add-remove-one every count is clipped by itself.
Linear: a changed respondent moves Σ w by at most the largest difference of weights (replace) or the largest |w| (add).
Near-misses: a clamp that violates the condition leaves the simplex; lower bounds under add-remove-one are refused; a step
smaller than the weights' spread is left by some pair of neighbours.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import chain, combinations

import pytest

from discreet.errors import InputError
from discreet.model.neighbours import AddRemoveOne, GivenGraph, ReplaceOne
from discreet.model.summary import Clamp, DatabaseSummary, HistogramSummary, LinearSummary, check_summary
from discreet.model.universe import ListedUniverse, Universe


def random_clamp(rng: random.Random) -> tuple[Clamp, int]:
    types = rng.randint(2, 4)
    lower = tuple(rng.choice([0, 0, 0, 1, 2]) for _ in range(types))
    upper = tuple(low + rng.randint(0, 3) for low in lower)
    return Clamp(lower, upper, rng.randrange(types)), rng.randint(1, 5)


def condition(clamp: Clamp, n: int) -> bool:
    """The lemma's condition over every subset."""
    clipped = clamp.clipped
    subsets = chain.from_iterable(combinations(clipped, k) for k in range(len(clipped) + 1))
    return all(
        sum(clamp.lower[i] for i in clipped if i not in s) + min(n, sum(clamp.upper[i] for i in s)) <= n for s in map(set, subsets)
    )


@pytest.mark.parametrize("seed", range(300))
def test_the_condition_is_that_the_image_stays_in_the_simplex(seed: int) -> None:
    clamp, n = random_clamp(random.Random(seed))
    universe = Universe.of(n, tuple(map(Fraction, range(len(clamp.lower)))))
    images = [HistogramSummary(clamp).of_histogram(tuple(h)) for h in universe.histograms().tolist()]
    assert clamp.reference is not None
    stays = all(image[clamp.reference] >= 0 for image in images)
    assert clamp.stays_in_simplex(n) == condition(clamp, n) == stays


@pytest.mark.parametrize("seed", range(200))
def test_a_clamp_is_one_lipschitz(seed: int) -> None:
    rng = random.Random(seed)
    clamp, n = random_clamp(rng)
    while not clamp.stays_in_simplex(n):
        clamp, n = random_clamp(rng)
    summary = HistogramSummary(clamp)
    universe = Universe.of(n, tuple(map(Fraction, range(len(clamp.lower)))))
    for h in universe.histograms().tolist():
        for i, j in combinations(range(universe.types), 2):
            if h[i]:
                moved = list(h)
                moved[i], moved[j] = moved[i] - 1, moved[j] + 1
                assert ReplaceOne().distance(summary.of_histogram(tuple(h)), summary.of_histogram(tuple(moved))) <= 1


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
    fits = Clamp((0, 1, 1), (0, 1, 2), 0)
    check_summary(HistogramSummary(fits), universe, ReplaceOne())
    asks = Clamp((0, 1, 1), (0, 1, 3), 0)
    assert HistogramSummary(asks).of_histogram((0, 0, 3))[0] < 0
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
        lambda: Clamp((0, -1), (1, 1), 0), lambda: LinearSummary((0, 1), 3, 2),
    ],
)  # fmt: skip
def test_bounds_the_wrong_way_round_are_refused(make) -> None:
    with pytest.raises(InputError):
        make()
