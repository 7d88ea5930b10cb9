"""Priors: distributions over databases, and the law of the histogram is their push-forward."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from random_worlds import histogram

from discreet.errors import InputError, TooLarge
from discreet.model.priors import (
    DirichletMultinomialPrior,
    ExchangeablePrior,
    IidPrior,
    IndependentPrior,
    MixturePrior,
    Prior,
    ReferencePrior,
    TablePrior,
)
from discreet.model.universe import ListedUniverse, Universe

FIXED = Universe.of(3, tuple(map(Fraction, range(3))))
VARYING = Universe((Fraction(0), Fraction(1)), 1, 3)
HALF = (Fraction(1, 2), Fraction(1, 2))


def distribution(rng: random.Random, size: int, zeros: bool = False) -> tuple[Fraction, ...]:
    weights = [rng.randint(0 if zeros else 1, 9) for _ in range(size)]
    weights[0] += 1
    return tuple(Fraction(w, sum(weights)) for w in weights)


def priors(seed: int) -> list[tuple[Prior, Universe]]:
    rng = random.Random(seed)
    histograms = [tuple(h) for h in FIXED.histograms().tolist()]
    varying = [tuple(h) for h in VARYING.histograms().tolist()]
    databases = [",".join(map(str, d)) for d in FIXED.databases()]
    three = distribution(rng, 3, zeros=True)
    return [
        (IidPrior(three), FIXED),
        (IidPrior(distribution(rng, 2), distribution(rng, 3, zeros=True)), VARYING),
        (ReferencePrior((rng.randint(0, 50), rng.randint(1, 50), rng.randint(0, 5)), "a survey", Fraction(1, 2)), FIXED),
        (ReferencePrior((3, 4), "a survey", size=distribution(rng, 3)), VARYING),
        (IndependentPrior(tuple(distribution(rng, 3, zeros=True) for _ in range(3))), FIXED),
        (IndependentPrior((three,) * 3), FIXED),
        (ExchangeablePrior(tuple(zip(histograms, distribution(rng, len(histograms), zeros=True), strict=True))), FIXED),
        (ExchangeablePrior(tuple(zip(varying, distribution(rng, len(varying)), strict=True))), VARYING),
        (DirichletMultinomialPrior(tuple(Fraction(rng.randint(1, 9), 4) for _ in range(3))), FIXED),
        (DirichletMultinomialPrior((Fraction(1), Fraction(5, 2)), distribution(rng, 3)), VARYING),
        (TablePrior(tuple(zip(databases, distribution(rng, len(databases), zeros=True), strict=True))), FIXED),
        (TablePrior((("0,1,2", Fraction(1, 3)), ("2,2,2", Fraction(2, 3)))), FIXED),
        (TablePrior((("0", Fraction(1, 3)), ("1,0,1", Fraction(2, 3)))), VARYING),
        (TablePrior(tuple((",".join(map(str, p)), Fraction(1, 6)) for p in permutations(range(3)))), FIXED),
        (
            MixturePrior(distribution(rng, 2), (IidPrior(distribution(rng, 3)), DirichletMultinomialPrior((Fraction(1, 3),) * 3))),
            FIXED,
        ),
        (MixturePrior(HALF, (IidPrior(distribution(rng, 2)), IidPrior(HALF)), distribution(rng, 3, zeros=True)), VARYING),
    ]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("which", range(16))
def test_the_law_of_histograms_is_the_push_forward(seed: int, which: int) -> None:
    prior, universe = priors(seed)[which]
    prior.check(universe)
    chances = {d: prior.of_database(d, universe) for d in universe.databases()}
    assert sum(chances.values()) == 1 and min(chances.values()) >= 0
    vectors = universe.histograms()
    law = prior.on_histograms(vectors, universe)
    pushed: dict[tuple[int, ...], Fraction] = {}
    for d, chance in chances.items():
        h = histogram(d, universe.types)
        pushed[h] = pushed.get(h, Fraction(0)) + chance
    assert [law[i] for i in range(len(vectors))] == [pushed.get(tuple(h), Fraction(0)) for h in vectors.tolist()]
    alike: dict[tuple[int, ...], set[Fraction]] = {}
    for d, chance in chances.items():
        alike.setdefault(histogram(d, universe.types), set()).add(chance)
    assert prior.exchangeable(universe) == all(len(found) == 1 for found in alike.values())
    assert bool(prior.zeros(universe)) == (min(chances.values()) == 0)
    assert law.floats().sum() == pytest.approx(1) and np.exp(law.logs()) == pytest.approx(law.floats())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: IidPrior((Fraction(99, 100),)), "sum to one"),
        (lambda: IidPrior(()), "empty"),
        (lambda: IidPrior((Fraction(-1, 2), Fraction(3, 2))), "negative"),
        (lambda: IidPrior(HALF).check(FIXED), "one probability for each type"),
        (lambda: IidPrior(HALF, HALF).check(Universe.of(3, VARYING.values)), "is fixed"),
        (lambda: IidPrior(HALF).check(VARYING), "for each size"),
        (lambda: IidPrior(HALF, HALF).check(VARYING), "for each size"),
        (lambda: IidPrior(HALF).check(ListedUniverse(("a", "b"))), "prior that lists them"),
        (lambda: IndependentPrior((HALF,)).check(Universe.of(2, VARYING.values)), "each respondent"),
        (lambda: IndependentPrior((HALF, HALF, HALF)).check(FIXED), "in every row"),
        (lambda: ReferencePrior((0, 0), "x"), "is empty"),
        (lambda: ReferencePrior((), "x"), "no types"),
        (lambda: ReferencePrior((-1, 2), "x"), "cannot be negative"),
        (lambda: ReferencePrior((1, 2), " "), "no source"),
        (lambda: DirichletMultinomialPrior((Fraction(0), Fraction(1))), "positive"),
        (lambda: DirichletMultinomialPrior(()), "positive"),
        (lambda: ExchangeablePrior((((1, 2), Fraction(1)),)).check(FIXED), "does not belong"),
        (lambda: ExchangeablePrior((((3, 0, 0), Fraction(1, 2)), ((3, 0, 0), Fraction(1, 2)))), "twice"),
        (lambda: ExchangeablePrior((((4, -1, 0), Fraction(1)),)).check(FIXED), "does not belong"),
        (lambda: MixturePrior((Fraction(1),), (IidPrior(HALF),)), "two components or more"),
        (lambda: MixturePrior(HALF, (IidPrior(HALF),)), "two components or more"),
        (lambda: MixturePrior((Fraction(1), Fraction(0)), (IidPrior(HALF), IidPrior(HALF))), "weight above 0"),
        (lambda: MixturePrior((Fraction(1), Fraction(1)), (IidPrior(HALF), IidPrior(HALF))), "sum to one"),
        (lambda: MixturePrior(HALF, (IidPrior(HALF), IidPrior((Fraction(1), Fraction(0))))), "impossible"),
        (lambda: MixturePrior(HALF, (IidPrior(HALF, HALF), IidPrior(HALF))), "a law of types alone"),
        (lambda: MixturePrior(HALF, (IidPrior(HALF), IidPrior(HALF))).check(FIXED), "one probability for each type"),
        (lambda: TablePrior((("0,0", Fraction(1)),)).check(FIXED), "does not exist"),
        (lambda: TablePrior((("0,0,3", Fraction(1)),)).check(FIXED), "does not exist"),
        (lambda: TablePrior((("0,0,00", Fraction(1)),)).check(FIXED), "does not exist"),
        (lambda: TablePrior((("c", Fraction(1)),)).check(ListedUniverse(("a", "b"))), "does not exist"),
        (lambda: TablePrior((("a", Fraction(1, 2)), ("a", Fraction(1, 2)))), "twice"),
    ],
)  # fmt: skip
def test_what_is_no_prior_is_refused(make, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_zeros_are_named() -> None:
    universe = Universe.of(2, VARYING.values)
    assert IidPrior((Fraction(1), Fraction(0))).zeros(universe) == ("type 1",)
    assert TablePrior((("0,1", Fraction(1)),)).zeros(universe) == ("3 databases that are not listed",)
    huge = Universe.of(10**9, tuple(map(Fraction, range(30))))
    rest = (10**9, *([0] * 29))
    assert "more than 10^18" in ExchangeablePrior(((rest, Fraction(1)),)).zeros(huge)[0]


def test_a_billion_respondents_have_a_prior_but_no_list() -> None:
    universe = Universe.of(10**9, VARYING.values)
    IidPrior(HALF).check(universe)
    with pytest.raises(TooLarge, match="histograms for 1,000,000,000 respondents"):
        universe.histograms()
    with pytest.raises(TooLarge):
        list(universe.databases())


def test_all_histograms_at_once_are_as_likely_as_each_alone() -> None:
    """Listing all goes by ends that many histograms share; types without probability and sizes that vary are no exception."""
    for chances in (("1/2", "1/3", "1/6"), ("1", "0", "0"), ("0", "0", "1"), ("2/3", "1/3"), ("1/4", "1/4", "0", "1/2")):
        prior = IidPrior(tuple(map(Fraction, chances)))
        universe = Universe.of(5, tuple(map(Fraction, range(len(chances)))))
        rows = universe.histograms()
        every, each = prior.on_histograms(rows, universe), [prior.on_histograms(row[None, :], universe)[0] for row in rows]
        assert list(every) == each and sum(each) == 1
    sizes = IidPrior(HALF, (Fraction(1, 4), Fraction(0), Fraction(3, 4)))
    rows = VARYING.histograms()
    assert list(sizes.on_histograms(rows, VARYING)) == [sizes.on_histograms(row[None, :], VARYING)[0] for row in rows]
