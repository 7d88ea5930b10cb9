"""CY, mutual-information privacy: capacities, the observation on product priors, ordering, subadditivity, complaint."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.currencies.channel import LossChannel, channel_from_rows
from discreet.currencies.conversions import convert
from discreet.currencies.information import mutual_information
from discreet.currencies.pair import pair_of
from discreet.currencies.profiles import profile
from discreet.currencies.statements import statement

F = Fraction


def response(epsilon: float) -> list[list[float]]:
    high = 1 / (1 + math.exp(-epsilon))
    return [[high, 1 - high], [1 - high, high]]


def information(weights: np.ndarray, rows: np.ndarray) -> float:
    """I(X;Y) for input weights and rows [input, output]."""
    mixed = weights @ rows
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(rows > 0, rows * np.log(rows / mixed), 0.0)
    return float(weights @ terms.sum(axis=1))


@pytest.mark.parametrize(("epsilon", "printed"), [("0.5", 0.0302998619808), ("1", 0.110944071672), ("2", 0.327813325473)])
def test_randomised_response_capacity(epsilon: str, printed: float) -> None:
    found = mutual_information(channel_from_rows(response(float(epsilon))))
    assert found.bracket.middle == pytest.approx(printed, rel=1e-11) and found.gap <= 1e-9
    two = convert(statement("epsilon", epsilon=epsilon), "mi", types=2)
    assert float(two.result.numbers["mi"]) == pytest.approx(printed, rel=1e-11) and two.tight


@pytest.mark.parametrize(("epsilon", "printed"), [("0.5", 0.0311420922612), ("1", 0.123301561482), ("2", 0.474474647071)])
def test_the_sharp_bound_over_all_channels(epsilon: str, printed: float) -> None:
    found = convert(statement("epsilon", epsilon=epsilon), "mi")
    assert float(found.result.numbers["mi"]) == pytest.approx(printed, rel=1e-11)
    # Randomised response of three types has a larger capacity than that of two, and stays below.
    odds = math.exp(float(epsilon))
    rows = [[(odds if x == y else 1.0) / (odds + 2) for y in range(3)] for x in range(3)]
    three = mutual_information(channel_from_rows(rows)).bracket.upper
    assert three < printed


@pytest.mark.parametrize("seed", range(6))
def test_no_private_channel_passes_the_sharp_bound(seed: int) -> None:
    """The law holds for every draw, so a failure is never a false alarm."""
    rng = np.random.default_rng(seed)
    epsilon = 1.0
    raw = np.exp(epsilon * rng.integers(0, 2, (6, 40)))
    weights = np.full(40, 1.0)
    for _ in range(200):
        weights /= (raw * weights).sum(axis=1).mean()
    rows = raw * weights
    rows /= rows.sum(axis=1, keepdims=True)
    channel = channel_from_rows(rows.tolist())
    tight = profile(channel).epsilon.upper
    bound = convert(statement("epsilon", epsilon=tight), "mi").result.numbers["mi"]
    assert mutual_information(channel).bracket.upper <= float(bound)


@pytest.mark.parametrize(("amount", "printed"), [("0.01", 0.141185140547), ("0.1", 0.439589252323), ("0.5", 0.903622508313)])
def test_information_to_total_variation(amount: str, printed: float) -> None:
    found = convert(statement("mi", mi=amount), "tv")
    variation = float(found.result.numbers["tv"])
    assert variation == pytest.approx(printed, rel=1e-11) and found.tight
    assert variation <= math.sqrt(2 * float(amount))
    # The binary symmetric channel with that variation has just that capacity; with more it exceeds it.
    for factor, excess in ((1.0, False), (1.001, True)):
        flip = (1 - variation * factor) / 2
        capacity = mutual_information(channel_from_rows([[1 - flip, flip], [flip, 1 - flip]])).bracket.middle
        assert capacity == pytest.approx(float(amount), rel=1e-11) or (excess and capacity > float(amount))


def test_from_log_two_on_total_variation_is_one() -> None:
    assert convert(statement("mi", mi="0.6931471805599454"), "tv").result.numbers["tv"] == 1
    assert convert(statement("mi", mi="0.693147"), "tv").result.numbers["tv"] < 1


def test_two_copies_of_randomised_response_and_subadditivity() -> None:
    one = np.array(response(1.0))
    twice = np.array([[a * b for a, b in product(row, row)] for row in one])
    found = mutual_information(channel_from_rows(twice.tolist())).bracket
    single = mutual_information(channel_from_rows(one.tolist())).bracket
    assert found.middle == pytest.approx(0.198909302146, rel=1e-11)
    assert found.upper < 2 * single.lower


def test_subadditivity_needs_fresh_randomness() -> None:
    """Y1 = X + Z, Y2 = Z with the same coin Z: each tells nothing about X, together everything."""
    alone = mutual_information(channel_from_rows([["1/2", "1/2"], ["1/2", "1/2"]])).bracket.upper
    # Outputs (y1, y2): for x = 0 the pairs (0,0), (1,1); for x = 1 the pairs (1,0), (0,1).
    together = mutual_information(channel_from_rows([["1/2", 0, 0, "1/2"], [0, "1/2", "1/2", 0]])).bracket
    assert alone == 0.0 and together.middle == pytest.approx(math.log(2), rel=1e-12)


def test_finite_alphabet() -> None:
    delta, k = F("0.01"), 10
    rows = [[1 - delta if y == 0 else (delta if y == x + 1 else F(0)) for y in range(k + 1)] for x in range(k)]
    channel = channel_from_rows(rows)
    capacity = mutual_information(channel).bracket
    assert capacity.middle == pytest.approx(0.0230258509299, rel=1e-10)
    assert capacity.middle == pytest.approx(float(delta) * math.log(k), rel=1e-12)
    assert pair_of(rows[0], rows[1]).total_variation == delta
    bound = convert(statement("tv", tv=delta), "mi", types=k, outputs=k + 1).result.numbers["mi"]
    assert float(bound) == pytest.approx(0.159960974166, rel=1e-11) and capacity.upper <= float(bound)
    # Without a finite alphabet there is no bound: the same δ with ever more types tells ever more.
    assert float(delta) * math.log(1e9) > float(bound)


def database_channel(seed: int) -> tuple[LossChannel, np.ndarray]:
    """Two respondents of two and three types, blocks of either; rows [database, output]."""
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.ones(4), 6)
    blocks = [[3 * a + b for b in range(3)] for a in range(2)] + [[b, 3 + b] for b in range(3)]
    edges = sorted({tuple(sorted((i, j))) for block in blocks for i in block for j in block if i < j})
    return channel_from_rows(rows.tolist(), edges=edges, blocks=blocks), rows


@pytest.mark.parametrize("seed", range(4))
def test_the_observation_product_priors_give_the_same_maximum(seed: int) -> None:
    """The law holds for every draw, so a failure is never a false alarm."""
    channel, rows = database_channel(seed)
    found = mutual_information(channel)
    rng = np.random.default_rng(50 + seed)
    for _ in range(20):
        first, second = rng.dirichlet(np.ones(2)), rng.dirichlet(np.full(3, 0.3))
        cube = rows.reshape(2, 3, 4)
        about_first = information(first, np.einsum("b,abn->an", second, cube))
        about_second = information(second, np.einsum("a,abn->bn", first, cube))
        assert max(about_first, about_second) <= found.bracket.upper + 1e-12
    # The witness is itself a product prior: all others known, one respondent at the optimal input.
    weights = np.zeros(6)
    weights[[int(s) for s in found.states]] = [float(p) for p in found.inputs]
    assert information(weights, rows) == pytest.approx(found.bracket.lower, abs=1e-12)


def test_the_complaint_correlation_tells_more() -> None:
    """Two equal bits, each answered by randomised response: the pair tells about X_1 more than MI-DP allows."""
    one = np.array(response(1.0))
    cube = np.einsum("xa,yb->xyab", one, one).reshape(2, 2, 4)
    blocks = [[0, 1], [2, 3], [0, 2], [1, 3]]
    channel = channel_from_rows(cube.reshape(4, 4).tolist(), edges=[(0, 1), (2, 3), (0, 2), (1, 3)], blocks=blocks)
    allowed = mutual_information(channel).bracket.upper
    equal = information(np.array([0.5, 0.5]), np.array([cube[0, 0], cube[1, 1]]))
    assert equal > 1.7 * allowed
    free = information(np.array([0.5, 0.5]), cube.mean(axis=1))
    assert free <= allowed + 1e-12


def test_the_ordering() -> None:
    """ε-DP ⇒ MI-DP ⇒ (·, δ)-DP: small ε makes small MI makes small δ; and not back, without a finite alphabet."""
    last = 1.0
    for epsilon in ("1", "0.1", "0.01"):
        mi = convert(statement("epsilon", epsilon=epsilon), "mi").result
        delta = convert(mi, "approximate", epsilon=0).result.numbers["delta"]
        assert float(delta) < last
        last = float(delta)
    leaking = channel_from_rows([["1", "0"], ["999999/1000000", "1/1000000"]])
    assert mutual_information(leaking).bracket.upper < 1e-5 and profile(leaking).epsilon.ratio is None
