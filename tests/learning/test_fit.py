"""Laws against brute force; the fit against truths that made the numbers; the share of ε."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.learning import heard as heard_of
from discreet.learning import kinds
from discreet.learning.fit import Learned, fit
from discreet.learning.heard import Counted
from discreet.learning.kinds import DECIMALS, Kinds, _best
from discreet.learning.laws import Noise, apart, beta_binomial, log_likelihood
from discreet.learning.noise import GaussianLaw, GeometricLaw, noise_of
from discreet.learning.questions import ABOVE, questions
from discreet.learning.split import split
from discreet.learning.strata import pooled
from discreet.model.kernel import GaussianKernel, GeometricKernel, StaircaseKernel
from discreet.model.key_set import KeySet
from discreet.model.priors import DirichletMultinomialPrior, IidPrior, MixturePrior
from discreet.model.promises import ConcentratedPromise, PurePromise
from discreet.model.universe import Universe


def brute(parts: list[tuple[np.ndarray, int]], ratio: float, largest: int, published: int) -> float:
    law = np.ones(1)
    for one, count in parts:
        for _ in range(count):
            law = np.convolve(law, one)
    at_end = published in (0, largest)
    noise = [(1 if at_end else 1 - ratio) / (1 + ratio) * ratio ** abs(published - x) for x in range(len(law))]
    return float(np.log(law @ noise))


@pytest.mark.parametrize("ratio", [0.95, 0.4])
@pytest.mark.parametrize("published", [0, 5, 30, 60])
def test_the_likelihood_is_that_of_the_convolution(ratio: float, published: int) -> None:
    parts = [(beta_binomial(12, 0.2, 0.1), 3), (beta_binomial(7, 0.2, 0.0), 4)]
    parts.append((apart(parts[0][0], parts[1][0]), 5))
    assert log_likelihood(parts, Noise(GeometricLaw(ratio), 124), published) == pytest.approx(
        brute(parts, ratio, 124, published), abs=1e-8
    )


@pytest.mark.parametrize("sigma_squared", [0.06, 0.7, 1.0, 30.0])
@pytest.mark.parametrize("published", [0, 1, 20, 60, 123, 124])
def test_the_likelihood_under_gaussian_noise_is_exact_however_unlikely(sigma_squared: float, published: int) -> None:
    """124 of 124 where 25 are expected: 10^-80, of which floats that add up to one know nothing."""
    parts = [(beta_binomial(12, 0.2, 0.0), 3), (beta_binomial(22, 0.2, 0.02), 4)]
    law = np.ones(1)
    for one, count in parts:
        for _ in range(count):
            law = np.convolve(law, one)
    reach = np.arange(-300, 301)
    log_noise = -(reach**2) / (2 * sigma_squared)
    log_noise -= np.logaddexp.reduce(log_noise)
    with np.errstate(divide="ignore"):
        joint = np.log(law)[:, None] + log_noise[None, :]
    numbers = np.clip(np.arange(len(law))[:, None] + reach[None, :], 0, 124)
    expected = np.logaddexp.reduce(joint[numbers == published])
    assert log_likelihood(parts, Noise(GaussianLaw(sigma_squared), 124), published) == pytest.approx(expected, abs=1e-6)


def test_cells_that_differ_less_than_chance_are_taken_as_alike() -> None:
    """Every cell has exactly four of forty: no list of correlations says so, and the one that comes nearest is none at all."""
    key_set = KeySet(("c",), tuple((str(i),) for i in range(400)), (40,) * 400)
    asked = questions(key_set, 2)
    published = [q.answer(np.array([(36, 4)] * 400)) for q in asked]
    found = fit(asked, published, key_set, 2, GaussianLaw(20.0))[()]
    assert found.correlations[1] <= 0.001 and float(found.probabilities[1]) == pytest.approx(0.1, abs=0.002)


@pytest.mark.parametrize(("kind", "found"), [("two kinds", True), ("they differ", False)])
def test_kinds_of_cells_are_found_where_there_are_some(kind: str, found: bool) -> None:
    """300 cells of 30 with the same mean and variance: 3 or 50 of a hundred, or everything between by a beta law."""
    random = np.random.default_rng(5)
    shares = np.where(random.random(300) < 0.3, 0.5, 0.03) if found else random.beta(0.35, 1.7, 300)
    key_set = KeySet(("c",), tuple((str(i),) for i in range(300)), (30,) * 300)
    ones = random.binomial(30, shares)
    counts = np.stack([30 - ones, ones], axis=1)
    asked = questions(key_set, 2, kinds=True)
    noisy = [q.answer(counts) + round(random.normal(0, 3)) for q in asked]
    heard = [min(max(y, 0), q.largest) for y, q in zip(noisy, asked, strict=True)]
    learned = fit(asked, heard, key_set, 2, GaussianLaw(9.0))[()]
    assert (learned.kinds is not None) == found, kind
    assert isinstance(learned.prior(), MixturePrior) == found
    if learned.kinds is not None:
        assert learned.kinds.shares == pytest.approx((0.03, 0.5), abs=0.05)
        assert learned.kinds.weights[1] == pytest.approx(0.3, abs=0.06)


@pytest.fixture(scope="module")
def towns() -> list[dict[tuple[str, ...], Learned]]:
    """In one town streets are of two kinds, in the other alike: learned here, and on a machine that adds up in another order."""
    random = np.random.default_rng(5)
    shares = np.where(np.arange(240) % 2, 0.2, np.where(random.random(240) < 0.3, 0.6, 0.02))
    key_set = KeySet(("town", "street"), tuple((f"town {i % 2}", str(i)) for i in range(240)), (16,) * 240)
    ones = random.binomial(16, shares)
    asked = questions(key_set, 2, ("town",), kinds=True)
    heard = [q.answer(np.stack([16 - ones, ones], axis=1)) for q in asked]
    exactly = heard_of.log_likelihood

    def elsewhere(*given: Any) -> float:
        return exactly(*given) + random.normal(0, 1e-9)

    with pytest.MonkeyPatch.context() as patch:
        for name, few in (("WEIGHTS", (0.2, 0.3, 0.4)), ("FRACTIONS", (0.02, 0.1, 0.5)), ("OF_THREE", ()), ("WITHIN", (0.0, 0.03))):
            patch.setattr(kinds, name, few)
        found = [fit(asked, heard, key_set, 2, GaussianLaw(2.0))]
        patch.setattr(heard_of, "log_likelihood", elsewhere)
        return [*found, fit(asked, heard, key_set, 2, GaussianLaw(2.0))]


def test_each_stratum_has_kinds_of_its_own(towns: list[dict[tuple[str, ...], Learned]]) -> None:
    """What was counted in one town once stood for all of them, so kinds and strata did not go together."""
    mixed, alike = towns[0][("town 0",)], towns[0][("town 1",)]
    assert mixed.kinds is not None and alike.kinds is None
    assert mixed.kinds.shares == pytest.approx((0.02, 0.6), abs=0.08)
    assert float(alike.probabilities[1]) == pytest.approx(0.2, abs=0.04)


def test_last_digits_of_floats_lead_to_no_other_prior(towns: list[dict[tuple[str, ...], Learned]]) -> None:
    """Every log-likelihood is off by a billionth, at random, and every prior is the same to the last digit."""
    here, there = ({s: one.prior() for s, one in found.items()} for found in towns)
    assert here == there


def test_equally_good_kinds_are_told_apart_by_their_order_alone() -> None:
    """Of candidates that differ in the last digits the first is kept, whichever of them floats prefer."""
    candidates = [Kinds((0.5, 0.5), (0.1, 0.1 + k / 100), 0.0) for k in range(1, 4)]
    for way in (1, -1):
        found = _best(candidates, lambda _: 0.0, lambda k, way=way: round(way * 1e-12 * k.shares[1], DECIMALS))  # type: ignore[misc]
        assert found is not None and found[0] == candidates[0]


@pytest.mark.parametrize("published", [0, 5, 12, 30])
@pytest.mark.parametrize("ratio", [0.99, 0.7])
def test_under_wide_noise_the_law_of_the_sum_is_found_by_itself(ratio: float, published: int) -> None:
    parts = [(np.array([0.7, 0.3]), 18), (np.array([0.2, 0.8]), 12)]
    expected = brute(parts, ratio, 30, published)
    assert log_likelihood(parts, Noise(GeometricLaw(ratio), 30), published) == pytest.approx(expected, abs=1e-8)


def test_one_number_of_cells_has_its_exact_law() -> None:
    """Alone it is a sum of coins and noise; two numbers of the same cells say less together than one would think."""
    key_set = KeySet(("c",), tuple((str(i),) for i in range(48)), (9,) * 48)
    above = [q for q in questions(key_set, 2, kinds=True) if q.part == ABOVE]
    laws = {9: beta_binomial(9, 0.3, 0.1)}
    p = float(laws[9][above[2].needs[0][0] :].sum())
    coins = [(np.array([1 - p, p]), above[2].largest)]
    alone = Counted([above[2]], [7], key_set.sizes, GeometricLaw(0.5))
    assert alone.log_likelihood(laws) == pytest.approx(brute(coins, 0.5, above[2].largest, 7), abs=1e-8)
    asked, heard = above[1:3], (20, 1)
    both = Counted(asked, heard, key_set.sizes, GeometricLaw(0.01))
    each = [Counted([q], [y], key_set.sizes, GeometricLaw(0.01)) for q, y in zip(asked, heard, strict=True)]
    # many above the one share and few above the other: rarer than each by itself
    assert both.log_likelihood(laws) < sum(one.log_likelihood(laws) for one in each)


def test_noise_of_other_kinds_is_refused() -> None:
    """Two ratios, two kinds, a staircase: the rule knows one law for all numbers."""
    plain, wider = (GeometricKernel(0, 9, 1, Fraction(r, 10)) for r in (5, 6))
    gaussian = GaussianKernel(0, 9, 1, Fraction(20))
    assert noise_of({plain}) == GeometricLaw(0.5) and noise_of({gaussian}) == GaussianLaw(20.0)
    for kernels in ({plain, wider}, {plain, gaussian}, {StaircaseKernel(0, 9, 2, 1, Fraction(1, 2))}):
        with pytest.raises(InputError, match="other noise than the rule knows"):
            noise_of(kernels)


def test_under_rho_a_smaller_share_teaches_more() -> None:
    """A share s of ε multiplies noise by 1/s, one of ρ by 1/√s."""
    key_set = KeySet(("c",), tuple((str(i),) for i in range(400)), (40,) * 400)
    asked = questions(key_set, 2)
    pure, concentrated = (split(asked, key_set, [0, 1], p) for p in (PurePromise(Fraction(1)), ConcentratedPromise(Fraction(1, 2))))
    assert concentrated.chosen.cost < pure.chosen.cost / 2


def test_noise_of_two_numbers_is_that_of_one_twice() -> None:
    law, r = beta_binomial(9, 0.3, 0.05), 0.6
    noise = (1 - r) / (1 + r) * r ** np.abs(np.arange(-80, 81))
    both = np.convolve(np.convolve(law, noise), noise)
    found = [log_likelihood([(law, 1)], Noise(GeometricLaw(r), 9, 2), y) for y in (-4, 0, 3, 9)]
    assert found == pytest.approx([float(np.log(both[160 + y])) for y in (-4, 0, 3, 9)], abs=1e-8)


def test_the_law_of_a_cell_is_that_of_the_prior_it_stands_for() -> None:
    universe = Universe.of(9, (Fraction(0), Fraction(1)))
    exact = DirichletMultinomialPrior((Fraction(6), Fraction(3))).on_histograms(universe.histograms(), universe)
    by_count = {int(h[1]): float(exact[i]) for i, h in enumerate(universe.histograms().tolist())}
    assert beta_binomial(9, 1 / 3, 1 / 10) == pytest.approx([by_count[x] for x in range(10)])
    assert beta_binomial(9, 1 / 3, 0).sum() == pytest.approx(1)


def learned(cells: int, size: int, p: list[float], concentration: float | None, epsilon: float, seed: int) -> Learned:
    """What is learned in one draw."""
    random = np.random.default_rng(seed)
    key_set = KeySet(("c",), tuple((str(i),) for i in range(cells)), (size,) * cells)
    shares = [p if concentration is None else random.dirichlet(np.array(p) * concentration) for _ in range(cells)]
    counts = np.array([random.multinomial(size, q) for q in shares])
    asked = questions(key_set, len(p))
    ratio = float(np.exp(-epsilon))
    drawn = [q.answer(counts) + int(random.geometric(1 - ratio) - random.geometric(1 - ratio)) for q in asked]
    published = [min(max(y, 0), q.largest) for y, q in zip(drawn, asked, strict=True)]
    return fit(asked, published, key_set, len(p), GeometricLaw(ratio))[()]


def test_what_made_the_numbers_is_found() -> None:
    found = learned(1500, 12, [0.7, 0.3], 8, 0.2, 1)
    assert float(found.probabilities[1]) == pytest.approx(0.3, abs=5 * found.deviations[1])
    assert found.concentration is not None and 5 < found.concentration < 13
    alike = learned(1500, 12, [0.7, 0.3], None, 0.2, 2)
    assert alike.concentration is None or alike.concentration > 300
    assert isinstance(alike.prior(), IidPrior) == (alike.concentration is None)
    assert sum(alike.probabilities) == 1


def test_a_type_that_was_never_seen_and_empty_cells_leave_a_prior_with_full_support() -> None:
    key_set = KeySet(("c",), tuple((str(i),) for i in range(60)), (4,) * 60)
    asked = questions(key_set, 3)
    for published in ([0, 0, 0], [q.largest for q in asked], [40, 30, 0], [0, 40, 80]):
        found = fit(asked, published, key_set, 3, GeometricLaw(0.9))[()]
        assert min(found.probabilities) > 0 and sum(found.probabilities) == 1
        assert found.concentration is None or found.concentration > 0


def test_less_is_believed_of_an_earlier_year() -> None:
    key_set = KeySet(("c",), tuple((str(i),) for i in range(200)), (10,) * 200)
    asked = questions(key_set, 2)
    now, before = (fit(asked, [370, 230], key_set, 2, GeometricLaw(0.9), change=Fraction(c))[()] for c in ("0", "1/2"))
    assert now.probabilities == before.probabilities
    assert before.correlation > now.correlation and before.deviations[1] > now.deviations[1]


def test_strata_borrow_from_each_other_as_far_as_they_are_alike() -> None:
    variances = np.array([1e-4, 1e-4, 4e-3])
    near, spread = pooled(np.array([0.10, 0.11, 0.20]), variances)
    assert 0.10 < near[2] < 0.17 and spread[2] < variances[2]
    far, _ = pooled(np.array([0.1, 0.5, 0.9]), np.full(3, 1e-5))
    assert far == pytest.approx([0.1, 0.5, 0.9], abs=0.01)
    alone, own = pooled(np.array([0.3]), np.array([0.01]))
    assert alone[0] == 0.3 and own[0] == 0.01


def test_more_cells_need_a_smaller_share() -> None:
    shares = []
    for cells in (60, 2000):
        key_set = KeySet(("c",), tuple((str(i),) for i in range(cells)), (15,) * cells)
        found = split(questions(key_set, 2), key_set, [0, 1], PurePromise(Fraction(1)))
        assert found.auto and found.chosen.cost <= 1.1 * min(one.cost for one in found.considered)
        shares.append(found.share)
    assert shares[1] < shares[0]


@pytest.mark.parametrize("share", ["0", "1", "-1/2", "3"])
def test_a_share_that_leaves_nothing_is_refused(share: str) -> None:
    key_set = KeySet(("c",), tuple((str(i),) for i in range(60)), (4,) * 60)
    with pytest.raises(InputError, match="leaves nothing"):
        split(questions(key_set, 2), key_set, [0, 1], PurePromise(Fraction(1)), Fraction(share))
