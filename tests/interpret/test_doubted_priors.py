"""A prior that may be off: slopes are those of other priors, and intervals hold where plain ones do not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from test_totals import noisy

from discreet.errors import InputError
from discreet.interpret.comparing_totals import ranks, ranks_over, share, share_over
from discreet.interpret.doubted_priors import doubt, doubted
from discreet.interpret.totals import PublishedGroup, cell_beliefs, total
from discreet.model.priors import DirichletMultinomialPrior, ExchangeablePrior, IidPrior


def group(size: int = 12) -> PublishedGroup:
    mechanism = noisy(size)
    width = len(mechanism.outputs)
    return PublishedGroup(np.arange(width), (mechanism,), np.arange(width)[:, None])


@pytest.mark.parametrize("spread", [None, 4])
def test_slopes_and_scores_are_those_of_other_priors(spread: int | None) -> None:
    """θ = (−h, h) turns 0.7, 0.3 into another prior, whose means and evidence the first order foretells; cells may differ."""

    def believed(yes: Fraction) -> IidPrior | DirichletMultinomialPrior:
        return IidPrior((1 - yes, yes)) if spread is None else DirichletMultinomialPrior((spread * (1 - yes), spread * yes))

    one = replace(group(), prior=believed(Fraction(3, 10)))
    here = cell_beliefs([one])
    found = doubt([one], here, 0.1)
    moved = np.array([0.7 * np.exp(-0.01), 0.3 * np.exp(0.01)])
    chances = tuple(Fraction(p).limit_denominator(10**9) for p in moved / moved.sum())
    there = cell_beliefs([replace(one, prior=believed(chances[1]))])
    theta = np.array([-0.01, 0.01])
    assert found.slopes @ theta == pytest.approx(there.means - here.means, rel=0.03, abs=1e-4)
    assert found.scores @ theta == pytest.approx(there.log_evidence - here.log_evidence, rel=0.2, abs=2e-3)


def test_intervals_hold_where_the_prior_is_wrong() -> None:
    """Yes has a probability of 0.33, not 0.3: of 60 totals over 400 cells plain intervals miss most, doubted ones few."""
    one, random = group(), np.random.default_rng(3)
    here = cell_beliefs([one])
    doubting = doubt([one], here, 0.1)
    kernel = one.mechanisms[0].probabilities
    cumulative = np.cumsum(kernel / kernel.sum(axis=0), axis=0)
    hits = np.zeros(2)
    for _ in range(60):
        truth = random.binomial(12, 0.33, 400)
        outputs = (random.random((400, 1)) > cumulative[:, truth].T).sum(axis=1).clip(0, 12)
        held = replace(here, classes=outputs)
        found = total(held, np.arange(400))
        wide = doubted(found, *doubting.given(held).move(held, np.arange(400)))
        hits += [low <= truth.sum() <= high for low, high in (found.interval(), wide.interval())]
    assert hits[0] < 30 and hits[1] >= 45  # a true 90 % fails the second less than once in 10^4


def test_a_difference_of_like_regions_is_hardly_moved() -> None:
    one = group(4)
    here = cell_beliefs([one])
    doubting = doubt([one], here, 0.1)
    both = np.arange(len(here))
    assert doubting.move(here, both, both) == (0.0, 0.0)
    found = total(here, both)
    assert doubted(found, 0.0, 0.0).interval() == found.interval()


def test_scenarios_have_the_mean_and_spread_of_what_they_stand_for() -> None:
    one = group(4)
    here = cell_beliefs([one])
    doubting, all_cells = doubt([one], here, 0.1), np.arange(len(here))
    found = total(here, all_cells)
    shift, variance = doubting.move(here, all_cells)
    shifts = np.array([moved.mean for [moved] in doubting.shifted(here, [found], [all_cells])]) - found.mean
    assert shifts.mean() == pytest.approx(shift, abs=1e-12)
    assert shifts.var() == pytest.approx(variance, rel=0.35)


def test_regions_that_share_an_error_are_compared_as_such() -> None:
    """Nobody knows how large two regions of 3,000 cells are, since the prior is in doubt; which is the larger is known."""
    one = group()
    here = cell_beliefs([one])
    middle = 4
    held = replace(here, classes=np.repeat([middle, middle, middle + 1], [3_000, 2_960, 40]))
    doubting = doubt([one], here, 0.2)  # of few cells, so that the release says little about the prior
    regions = [np.arange(3_000), np.arange(3_000, 6_000)]
    totals = [total(held, cells) for cells in regions]
    apart = [doubted(found, *doubting.move(held, cells)) for found, cells in zip(totals, regions, strict=True)]
    together = doubting.shifted(held, totals, regions)
    assert ranks_over(together)[1].first == pytest.approx(ranks(totals)[1].first, abs=0.02)
    assert abs(ranks(apart)[1].first - 0.5) < 0.3 * abs(ranks(totals)[1].first - 0.5)  # type: ignore[operator]
    alone, wrong = share_over([(a, b) for a, b in together]), share(*apart)
    assert alone.upper - alone.lower < 0.3 * (wrong.upper - wrong.lower)
    plain = share(*totals)
    assert alone.upper - alone.lower == pytest.approx(plain.upper - plain.lower, rel=0.1)


def test_a_share_is_as_uncertain_as_drawn_errors_make_it() -> None:
    """Part and rest move by different amounts: against 4,000 drawn errors, each with independent totals."""
    one, random = group(), np.random.default_rng(5)
    here = cell_beliefs([one])
    held = replace(here, classes=np.repeat([2, 9], [300, 300]))
    doubting = doubt([one], here, 0.2)
    regions = [np.arange(300), np.arange(300, 600)]
    totals = [total(held, cells) for cells in regions]
    found = share_over([(a, b) for a, b in doubting.shifted(held, totals, regions)])
    thetas = random.multivariate_normal(doubting.centre, doubting.covariance, 4_000)
    drawn = []
    for each, cells in zip(totals, regions, strict=True):
        values, chances = each.probabilities
        numbers = random.choice(np.array([float(v) for v in values]), 4_000, p=chances / chances.sum())
        drawn.append(numbers + thetas @ (held.counts(cells) @ doubting.slopes))
    low, middle, high = np.quantile(drawn[0] / (drawn[0] + drawn[1]), (0.05, 0.5, 0.95))
    width = high - low
    assert found.median == pytest.approx(middle, abs=0.05 * width)
    assert (found.lower, found.upper) == pytest.approx((low, high), abs=0.08 * width)


def test_a_total_stays_in_its_range() -> None:
    found = total(cell_beliefs([group(4)]), np.array([0]))
    low, high = doubted(found, -50.0, 4.0).interval()
    assert (low, high) == (0, 0)
    assert doubted(found, 1.0, 100.0).interval(0.99) == (0, 4)


@pytest.mark.parametrize("share", [0.0, -0.1, 0.6, float("nan")])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    one = group(4)
    with pytest.raises(InputError, match="doubted by a share"):
        doubt([one], cell_beliefs([one]), share)


def test_other_priors_are_not_doubted() -> None:
    one = replace(group(2), prior=ExchangeablePrior((((2, 0), Fraction(1, 2)), ((0, 2), Fraction(1, 2)))))
    with pytest.raises(InputError, match="independent respondents, or of cells that differ"):
        doubt([one], cell_beliefs([one]), 0.1)
