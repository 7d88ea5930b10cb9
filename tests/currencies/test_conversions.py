"""The table of conversions: tight edges are attained to 1e-12, no edge is ever broken, and chains show their steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest

from discreet.currencies.attaining import FinitePair, GaussianPair, SubsetSelection, near_sharp_selection
from discreet.currencies.bracket import Bracket
from discreet.currencies.channel import channel_from_rows
from discreet.currencies.continuous import gaussian_delta
from discreet.currencies.conversions import WHY_NOT, Edge, Sought, convert, edges, why_not
from discreet.currencies.divergences import pair_renyi, relative_entropy
from discreet.currencies.formulas import subset_selection_information
from discreet.currencies.information import mutual_information
from discreet.currencies.pair import pair_of
from discreet.currencies.profiles import pair_delta, profile
from discreet.currencies.statements import Statement, statement
from discreet.currencies.tradeoffs import tradeoff
from discreet.errors import InputError
from discreet.numerics.brackets import rational_below_exp

F = Fraction
GIVEN: dict[str, list[dict[str, str]]] = {
    "epsilon": [{"epsilon": "0.1"}, {"epsilon": "1"}, {"epsilon": "3"}],
    "approximate": [{"epsilon": "0.5", "delta": "0.01"}, {"epsilon": "2", "delta": "0.2"}],
    "tv": [{"tv": "0.05"}, {"tv": "0.7"}],
    "mi": [{"mi": "0.01"}, {"mi": "0.3"}, {"mi": "0.6"}],
    "kl": [{"kl": "0.1"}],
    "zcdp": [{"rho": "0.05"}, {"rho": "1"}],
    "renyi": [{"order": "4", "renyi": "0.3"}],
    "gaussian": [{"mu": "0.5"}, {"mu": "2"}],
}
ASKED = {"approximate": [{"epsilon": "0.25"}, {"epsilon": "0"}], "renyi": [{"order": "2"}, {"order": "9.5"}]}


def asked_for(edge: Edge) -> list[Sought]:
    """The levels at which an edge is tried; two types where its formula is for two types."""
    types = 2 if edge.formula.startswith("two types") else None
    outputs = 7 if "min{" in edge.formula else None
    return [Sought({k: F(v) for k, v in w.items()}, types, outputs) for w in ASKED.get(edge.target, [{}])]


def measured(pair: FinitePair, kind: str, asked: Sought) -> float:
    """A currency of a finite pair, larger of both directions."""
    both = [pair_of(pair.first, pair.second), pair_of(pair.second, pair.first)]
    channel = channel_from_rows([pair.first, pair.second])
    if kind in ("approximate", "tv"):
        return max(pair_delta(one, asked.numbers.get("epsilon", F(0))).middle for one in both)
    if kind == "epsilon":
        return profile(channel).epsilon.upper
    if kind == "kl":
        return relative_entropy(channel).bracket.middle
    if kind == "renyi":
        return max(pair_renyi(one, asked.numbers["order"]).middle for one in both)
    if kind == "mi":
        return mutual_information(channel).bracket.middle
    raise AssertionError(kind)


def attained(edge: Edge, numbers: Mapping[str, Fraction], asked: Sought) -> float:
    """The target currency of the pair that is said to attain the edge."""
    assert edge.attained_by is not None
    pair = edge.attained_by(numbers, asked)
    if isinstance(pair, SubsetSelection):
        return subset_selection_information(pair.epsilon, pair.types, pair.chosen).middle
    if isinstance(pair, GaussianPair):
        mu = float(pair.mu)
        closed = {"zcdp": mu * mu / 2, "kl": mu * mu / 2, "tv": math.erf(mu / math.sqrt(8))}
        if edge.target == "renyi":
            return float(asked.numbers["order"]) * mu * mu / 2
        if edge.target == "approximate":
            return gaussian_delta(pair.mu, asked.numbers["epsilon"]).middle
        return closed[edge.target]
    if edge.target == "zcdp":
        # D_α/α at the order where it is largest for randomised response: α → 1.
        return measured(pair, "kl", asked)
    if edge.target == "gaussian":
        # The corner of the trade-off lies on G_μ: μ = Φ⁻¹(1−α) − Φ⁻¹(β) there.
        from scipy.special import ndtri

        return float(-ndtri(min(pair.first)) - ndtri(min(pair.second)))
    return measured(pair, edge.target, asked)


def ends(found: Bracket | Fraction) -> Bracket:
    return found if isinstance(found, Bracket) else Bracket(float(found), float(found))


TIGHT = [
    (edge, numbers, asked)
    for edge in edges()
    if edge.tight and edge.target != "tradeoff" and not edge.same
    for numbers in GIVEN[edge.source]
    for asked in asked_for(edge)
]


@pytest.mark.parametrize(("edge", "numbers", "asked"), TIGHT, ids=lambda x: getattr(x, "formula", ""))
def test_a_tight_conversion_is_attained_to_twelve_digits(edge: Edge, numbers: dict[str, str], asked: Sought) -> None:
    exact = {name: F(value) for name, value in numbers.items()}
    computed = edge.compute(exact, asked)
    assert computed is not None
    bracket = ends(computed[1])
    assert bracket.width <= 1e-14 * max(bracket.upper, 1e-2)
    assert attained(edge, exact, asked) == pytest.approx(bracket.middle, abs=1e-12)


@pytest.mark.parametrize(("edge", "numbers", "asked"), TIGHT, ids=lambda x: getattr(x, "formula", ""))
def test_a_bound_smaller_by_a_thousandth_is_broken_by_that_pair(edge: Edge, numbers: dict[str, str], asked: Sought) -> None:
    exact = {name: F(value) for name, value in numbers.items()}
    computed = edge.compute(exact, asked)
    assert computed is not None
    upper = ends(computed[1]).upper
    assert upper == 0 or attained(edge, exact, asked) > upper * 0.999


@pytest.mark.parametrize("source", [{"epsilon": "1"}, {"epsilon": "1", "delta": "0.05"}, {"tv": "0.3"}])
def test_the_tradeoff_of_the_attaining_pair_is_the_one_stated(source: dict[str, str]) -> None:
    kind = "approximate" if len(source) == 2 else next(iter(source))
    given = statement(kind, **source)
    (edge,) = edges(kind, "tradeoff")
    assert edge.attained_by is not None
    pair = edge.attained_by(given.numbers, Sought({}))
    assert isinstance(pair, FinitePair)
    curve = tradeoff(profile(channel_from_rows([pair.first, pair.second])))
    for alpha, beta in convert(given, "tradeoff").result.corners:
        assert curve.beta(alpha) == pytest.approx(float(beta), abs=1e-9)


@pytest.mark.parametrize("delta", ["0.1", "0.3", "1/3", "0.7"])
def test_no_corner_lies_above_the_trade_off(delta: str) -> None:
    # As the float 0.9 the first corner of δ = 0.1 lay 2.2e-17 above.
    found = convert(statement("approximate", epsilon=1, delta=delta), "tradeoff").result
    (_, top), (knee, same), (right, _) = found.corners
    assert top == right == 1 - F(delta) and knee == same
    assert knee <= (1 - F(delta)) / (1 + rational_below_exp(F(1), 200))
    assert F(str(found).split("(0, ")[1].split(")")[0]) <= top


@pytest.mark.parametrize("edge", [e for e in edges() if e.same], ids=lambda e: e.source)
def test_the_same_promise_in_other_words(edge: Edge) -> None:
    free = {"approximate": {"epsilon": "1/3", "delta": "0"}, "renyi": {"order": "8", "renyi": "0"}}
    given = statement(edge.source, **free.get(edge.source, dict.fromkeys(GIVEN[edge.source][0], "0")))
    found = convert(given, "epsilon")
    assert found.tight and found.result.numbers["epsilon"] == given.numbers.get("epsilon", 0)
    for numbers in GIVEN[edge.source]:
        with pytest.raises(InputError, match="No finite guarantee"):
            convert(statement(edge.source, **numbers), "epsilon")


@pytest.mark.parametrize(
    ("given", "target", "wanted", "name", "value", "tight"),
    [
        (("approximate", {"epsilon": "1", "delta": "0"}), "epsilon", {}, "epsilon", 1.0, True),
        (("approximate", {"epsilon": "1", "delta": "0"}), "zcdp", {}, "rho", math.tanh(0.5), True),
        (("approximate", {"epsilon": "1", "delta": "0"}), "renyi", {"order": 2}, "renyi", None, True),
        (("renyi", {"order": "8", "renyi": "0.5"}), "renyi", {"order": 2}, "renyi", 0.5, False),
        (("renyi", {"order": "8", "renyi": "0.5"}), "renyi", {"order": 8}, "renyi", 0.5, True),
        (("gaussian", {"mu": "1"}), "mi", {}, "mi", 0.5, False),
        (("gaussian", {"mu": "1"}), "kl", {}, "kl", 0.5, True),
    ],
)
def test_what_follows_is_not_denied(
    given: tuple[str, dict[str, str]], target: str, wanted: dict[str, object], name: str, value: float | None, tight: bool
) -> None:
    # "No finite guarantee follows" was said of each.
    found = convert(statement(given[0], **given[1]), target, **wanted)  # type: ignore[arg-type]
    assert found.tight == tight
    assert value is None or float(found.result.numbers[name]) == pytest.approx(value, rel=1e-12)


def test_what_is_said_not_to_follow_does_not() -> None:
    """For each reason in `WHY_NOT` a pair, or pairs without end, that keep the source and break any target."""
    leak = FinitePair((0.1, 0.9, 0.0), (0.0, 0.9, 0.1), "erasure")
    assert measured(leak, "tv", Sought({})) <= 0.1 + 1e-12 and measured(leak, "mi", Sought({})) <= 0.1 * math.log(2) + 1e-9
    assert measured(leak, "kl", Sought({})) == math.inf and pair_delta(pair_of(leak.first, leak.second), F(30)).lower >= 0.0999

    def rare(p: float, order: float) -> FinitePair:
        """D_order about 0.3 however small p is: the rare output has probability q under Q with p^α q^(1−α) = 0.1."""
        q = (p**order / 0.1) ** (1 / (order - 1))
        return FinitePair((p, 1 - p), (q, 1 - q), "rare")

    higher = [measured(rare(p, 2.0), "renyi", Sought({"order": F(4)})) for p in (1e-2, 1e-4, 1e-6)]
    kept = [measured(rare(p, 2.0), "renyi", Sought({"order": F(2)})) for p in (1e-2, 1e-4, 1e-6)]
    assert max(kept) < 0.2 and higher[0] + 2 < higher[1] < higher[2] - 2
    assert all(measured(rare(p, 2.0), "kl", Sought({})) < 0.2 for p in (1e-2, 1e-4, 1e-6))
    assert all(gaussian_delta(F(1), F(level)).lower > 0 for level in (1, 10, 30))
    named = {(s, t) for sources, targets, _ in WHY_NOT for s in sources for t in targets}
    direct = {(e.source, e.target) for e in edges() if not e.same}
    # An edge and a reason together mean that the edge asks for more than the source alone: a lower order, an alphabet, a δ.
    more = {("renyi", "renyi"), ("approximate", "mi"), ("tv", "mi"), ("tv", "approximate"), ("approximate", "approximate")}
    assert named & direct == more
    assert why_not("zcdp", "gaussian") is None and why_not("kl", "approximate") is None
    with pytest.raises(InputError, match="does not mean that there is none"):
        convert(statement("zcdp", rho=1), "gaussian")


def random_pairs(epsilon: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs of distributions whose tight ε is at most epsilon: mixtures of extreme ratios."""
    rng = np.random.default_rng(int(epsilon * 100))
    found = []
    while len(found) < 15:
        p = rng.dirichlet(np.ones(5))
        q = p * np.exp(rng.uniform(-epsilon, epsilon, 5) * rng.integers(0, 2, 5))
        q /= q.sum()
        if np.abs(np.log(p / q)).max() <= epsilon:
            found.append((p, q))
    return found


@pytest.mark.parametrize("epsilon", [0.3, 1.5])
def test_no_conversion_from_pure_privacy_is_ever_broken(epsilon: float) -> None:
    """The law holds for every pair, so a failure is never a false alarm."""
    given = statement("epsilon", epsilon=epsilon)
    bounds = {kind: convert(given, kind).result.numbers for kind in ("kl", "tv", "mi", "zcdp")}
    for p, q in random_pairs(epsilon):
        pair = FinitePair(tuple(p), tuple(q), "random")
        for kind in ("kl", "tv", "mi"):
            assert measured(pair, kind, Sought({})) <= float(bounds[kind][kind]) + 1e-12
        for order in (F(3, 2), F(4), F(20)):
            found = measured(pair, "renyi", Sought({"order": order}))
            assert found <= float(order * bounds["zcdp"]["rho"]) + 1e-12
            stated = convert(given, "renyi", order=order).result.numbers["renyi"]
            assert found <= float(stated) + 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_no_conversion_between_divergences_is_ever_broken(seed: int) -> None:
    """The law holds for every pair, so a failure is never a false alarm."""
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(4), 2)
    pair = FinitePair(tuple(p), tuple(q), "random")
    tv, kl, mi = (measured(pair, kind, Sought({})) for kind in ("tv", "kl", "mi"))
    up = 1 + 1e-12
    assert tv <= float(convert(statement("kl", kl=kl * up), "tv").result.numbers["tv"])
    assert mi <= float(convert(statement("kl", kl=kl * up), "mi").result.numbers["mi"])
    assert tv <= float(convert(statement("mi", mi=mi * up), "tv").result.numbers["tv"])
    assert mi <= float(convert(statement("tv", tv=tv * up), "mi", types=2).result.numbers["mi"])
    assert mi <= float(convert(statement("tv", tv=tv * up), "mi", outputs=4).result.numbers["mi"])
    renyi = measured(pair, "renyi", Sought({"order": F(3)}))
    for epsilon in (0.5, 2.0):
        stated = convert(statement("renyi", order=3, renyi=renyi * up), "approximate", epsilon=epsilon)
        assert measured(pair, "approximate", Sought({"epsilon": F(epsilon)})) <= float(stated.result.numbers["delta"])


def test_the_sharp_information_bound_is_approached_and_never_passed() -> None:
    bound = convert(statement("epsilon", epsilon=1), "mi").result.numbers["mi"]
    share = [subset_selection_information(F(1), 9, d).middle for d in range(1, 9)]
    assert max(share) < float(bound) and max(share) > 0.99 * float(bound)
    near = near_sharp_selection(F(1))
    assert subset_selection_information(F(1), near.types, near.chosen).upper <= float(bound) * (1 + 1e-14)


def test_the_closed_form_of_subset_selection_is_its_capacity() -> None:
    from itertools import combinations

    types, chosen, odds = 5, 2, F(3)
    sets = list(combinations(range(types), chosen))
    raw = [[odds if x in s else F(1) for s in sets] for x in range(types)]
    rows = [[w / sum(row) for w in row] for row in raw]
    found = mutual_information(channel_from_rows(rows))
    closed = subset_selection_information(F(math.log(3)), types, chosen)
    assert found.bracket.middle == pytest.approx(closed.middle, rel=1e-12)


def test_chains_of_two_are_found_and_shown() -> None:
    found = convert(statement("mi", mi="0.1"), "approximate", epsilon=1)
    assert [step.edge.target for step in found.steps] == ["tv", "approximate"] and not found.tight
    assert float(found.result.numbers["delta"]) == pytest.approx(
        float(convert(statement("mi", mi="0.1"), "tv").result.numbers["tv"])
    )
    assert convert(statement("zcdp", rho="0.1"), "mi").result.numbers["mi"] == F("0.1")
    same = convert(statement("kl", kl="0.1"), "kl")
    assert same.steps == () and same.tight


def test_more_knowledge_gives_a_smaller_number() -> None:
    given = statement("epsilon", epsilon=1)
    free, two = convert(given, "mi"), convert(given, "mi", types=2)
    assert two.result.numbers["mi"] < free.result.numbers["mi"] and two.tight and free.tight
    assert not convert(given, "mi", types=3).tight
    rough = convert(statement("tv", tv="0.1"), "mi", outputs=50).result.numbers["mi"]
    assert convert(statement("tv", tv="0.1"), "mi", types=2).result.numbers["mi"] < rough


def test_moments_are_better_than_the_textbook() -> None:
    rho, delta = 0.1, 1e-6
    found = convert(statement("zcdp", rho=rho), "approximate", delta=delta).result.numbers["epsilon"]
    assert float(found) < rho + 2 * math.sqrt(rho * math.log(1 / delta))
    back = convert(statement("zcdp", rho=rho), "approximate", epsilon=found).result.numbers["delta"]
    assert float(back) == pytest.approx(delta, rel=1e-6)
    # The Gaussian with the same ρ satisfies what is promised, with room.
    assert gaussian_delta(F(math.sqrt(2 * rho)), F(found)).upper < delta


def test_epsilon_and_delta_convert_back_and_forth() -> None:
    given = statement("approximate", epsilon=1, delta="0.01")
    lower = convert(given, "approximate", epsilon="0.5").result.numbers["delta"]
    assert float(convert(given, "approximate", delta=lower).result.numbers["epsilon"]) == pytest.approx(0.5, abs=1e-12)
    assert convert(given, "approximate", epsilon=2).result.numbers["delta"] == F("0.01")


@pytest.mark.parametrize(
    ("given", "target", "wanted", "words"),
    [
        (("zcdp", {"rho": 1}), "epsilon", {}, "No finite guarantee"),
        (("approximate", {"epsilon": 1, "delta": "0.1"}), "kl", {}, "No finite guarantee"),
        (("approximate", {"epsilon": 1, "delta": "0.1"}), "approximate", {"delta": "0.01"}, "larger delta"),
        (("tv", {"tv": "0.1"}), "mi", {}, "finite alphabet"),
        (("epsilon", {"epsilon": 1}), "approximate", {}, "needs to know which"),
        (("epsilon", {"epsilon": 1}), "kl", {"epsilon": 1}, "needs to know which"),
        (("epsilon", {"epsilon": 1}), "zcpd", {}, "Did you mean zcdp"),
    ],
)
def test_what_does_not_follow_is_refused_in_words(
    given: tuple[str, dict[str, object]], target: str, wanted: dict[str, object], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        convert(statement(given[0], **given[1]), target, **wanted)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [("tv", {"tv": 2}), ("epsilon", {"epsilon": -1}), ("epsilon", {"rho": 1}), ("renyi", {"order": 1, "renyi": 1})],
)
def test_statements_that_cannot_be_are_refused(kind: str, numbers: dict[str, object]) -> None:
    with pytest.raises(InputError):
        statement(kind, **numbers)


def test_the_table_names_its_sources() -> None:
    assert all(edge.reference and edge.formula for edge in edges())
    assert all((edge.attained_by is not None) == edge.tight for edge in edges())
    assert str(Statement("epsilon", {"epsilon": F(1)})) == "epsilon: epsilon = 1"
