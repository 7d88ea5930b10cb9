"""OpenDP both ways: our certified mechanisms in its chains, its mechanisms judged here; peers that are missing or too old."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import exp
from types import ModuleType
from typing import Any

import pytest
from counted_mechanisms import counted_on, peaked
from random_worlds import mechanism_on, problem_of

from discreet.errors import InputError, MissingExtra, Refuted
from discreet.exchange import from_opendp, judge, to_opendp
from discreet.exchange.opendp_measurements import Plug
from discreet.exchange.peers import ACCOUNTING, OPENDP, Peer, peer
from discreet.mechanisms.geometric import TruncatedGeometric, geometric_mechanism
from discreet.model.guarantee import Guarantee
from discreet.model.kernel import Output, StaircaseKernel, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.neighbours import AddRemoveOne, GivenGraph, ReplaceOne
from discreet.model.promises import ApproximatePromise, ConcentratedPromise, PurePromise
from discreet.model.summary import DatabaseSummary, HistogramSummary, LinearSummary
from discreet.model.universe import ListedUniverse, Universe

TWO = (Fraction(0), Fraction(1))
THREE = (*TWO, Fraction(2))


@pytest.fixture(scope="module")
def dp() -> Any:
    prelude = pytest.importorskip("opendp.prelude")
    prelude.enable_features("contrib", "honest-but-curious")
    return prelude


@pytest.fixture(scope="module")
def count() -> Mechanism:
    return geometric_mechanism(problem_of(Universe.of(6, TWO), ReplaceOne()), LinearSummary((0, 1)))


def numbers(dp: Any) -> tuple[Any, Any]:
    return dp.atom_domain(T=int), dp.absolute_distance(T=int)


def keyed(dp: Any, norm: int) -> tuple[Any, Any]:
    inner = dp.absolute_distance(T=int)
    metric = dp.l01inf_distance(inner) if norm == 1 else dp.l02inf_distance(inner)
    return dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int)), metric


def test_a_certified_mechanism_ends_a_chain(dp: Any, count: Mechanism) -> None:
    measurement = to_opendp(count)
    chain = dp.t.make_count(dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()) >> measurement
    assert chain.map(1) == 1.0 and chain.map(2) == 2.0
    assert chain([1, 1, 1]) in range(7) and isinstance(chain([1]), int)
    doubled = chain >> (lambda published: 2 * published)
    assert doubled.map(1) == 1.0 and doubled([1, 1]) % 2 == 0
    assert dp.c.make_composition([measurement, measurement]).map(1) == 2.0


def test_draws_in_a_chain_follow_the_certified_probabilities(dp: Any, count: Mechanism) -> None:
    """1,500 draws at total 2: χ² with 6 degrees of freedom; false alarm below one in a million (bound 38.3)."""
    measurement = to_opendp(count)
    seen = Counter(measurement(2) for _ in range(1500))
    expected = [1500 * float(count.probability(k, 2)) for k in range(7)]
    assert sum((seen[k] - e) ** 2 / e for k, e in enumerate(expected)) < 38.3


def test_totals_beyond_the_range_are_clipped_which_is_no_step(dp: Any, count: Mechanism) -> None:
    plug = Plug(count)
    assert (plug.range, plug.steps_of_total(0), plug.steps_of_total(10**9)) == ((0, 6), 0, 6)
    assert to_opendp(count)(10**9) in range(7) and to_opendp(count)(-3) in range(7)
    assert to_opendp(count).map(10**6) == 6.0


def test_databases_of_types_are_read_under_change_one_distance(dp: Any) -> None:
    problem = problem_of(Universe.of(4, THREE), ReplaceOne())
    one = Output("x"), Output("y")
    for summary in (HistogramSummary(), DatabaseSummary(), LinearSummary((0, 1, 2))):
        states = mechanism_states(problem, summary)
        weights = tuple(5 if i % 2 else 3 for i in range(len(states)))
        even = (4,) * len(states)
        uneven = (weights, tuple(8 - w for w in weights))
        kernel = TableKernel(states, one, uneven if summary.kind == "database" else (even, even), 8)
        measurement = to_opendp(mechanism_on(problem, summary, kernel, Fraction(1)), on="database")
        assert measurement.map(1) == 1.0 and measurement.map(3) == 3.0
        assert measurement([0, 1, 2, 2]) in ("x", "y") and measurement([0, 1, 2, 99]) in ("x", "y")
        with pytest.raises(Exception, match="databases of one size"):
            measurement([0, 1])


def mechanism_states(problem: Any, summary: Any) -> tuple[str, ...]:
    from discreet.model.states import state_space

    return state_space(problem.universe, problem.neighbours, summary).labels


def test_a_step_of_the_summary_is_a_step_of_the_map(dp: Any) -> None:
    """Weights 0, 1, 2: one respondent moves the total by up to 2, so a distance of 3 takes two steps, of 2 and of 1 one."""
    problem = problem_of(Universe.of(5, THREE), ReplaceOne())
    summary = LinearSummary((0, 1, 2))
    closed = Plug(geometric_mechanism(problem, summary))
    assert [closed.steps_of_total(d) for d in (0, 1, 2, 3, 4, 5)] == [0, 1, 1, 2, 2, 3]
    table = TruncatedGeometric(Fraction(1), 0, 10, 2).table()
    assert [Plug(mechanism_on(problem, summary, table)).steps_of_total(d) for d in (0, 1, 2, 3, 10)] == [0, 1, 1, 2, 5]


def test_a_closed_form_with_a_wider_step_than_its_summary_is_not_counted_in_wide_steps(dp: Any) -> None:
    """The adversary: a geometric kernel that says step 3 over a summary of step 1 is proved for one step of 1 only."""
    problem = problem_of(Universe.of(6, TWO), ReplaceOne())
    honest = geometric_mechanism(problem, LinearSummary((0, 1)))
    wide = replace(honest, kernel=replace(honest.kernel, step=3))  # type: ignore[type-var]
    assert Plug(wide).steps_of_total(3) == 3 and to_opendp(wide).map(3) == 3.0
    stairs = StaircaseKernel(0, 6, 1, 1, Fraction(1, 2))
    assert Plug(mechanism_on(problem, LinearSummary((0, 1)), stairs)).steps_of_total(2) == 2


def test_other_promises_have_their_own_measures(dp: Any) -> None:
    problem = problem_of(Universe.of(1, TWO), ReplaceOne())
    table = TableKernel(("0", "1"), (Output("0"), Output("1")), ((3, 1), (1, 3)), 4)
    for promise, measure, one in (
        (PurePromise(Fraction(2)), dp.max_divergence(), 2.0),
        (ConcentratedPromise(Fraction(3, 4)), dp.zero_concentrated_divergence(), 0.75),
        (ApproximatePromise(Fraction(1), Fraction(1, 8)), dp.approximate(dp.max_divergence()), (1.0, 0.125)),
    ):
        asked = replace(problem, promise=promise)
        guarantee = Guarantee(promise, "replace-one", asked.unit)
        measurement = to_opendp(Mechanism(asked, LinearSummary((0, 1)), table, guarantee))
        assert str(measurement.output_measure) == str(measure)
        assert measurement.map(1) == one and measurement.map(5) == one, "there is only one step between two totals"


def test_what_the_checker_refutes_is_never_made_a_measurement(dp: Any) -> None:
    problem = problem_of(Universe.of(2, TWO), ReplaceOne())
    loud = TableKernel(("0", "1", "2"), (Output("a"), Output("b")), ((8, 4, 0), (0, 4, 8)), 8)
    with pytest.raises(Refuted):
        to_opendp(mechanism_on(problem, LinearSummary((0, 1)), loud))


def test_mechanisms_that_do_not_fit_are_refused(dp: Any, count: Mechanism) -> None:
    with pytest.raises(InputError, match="totals or databases"):
        to_opendp(count, on="rows")
    histogram = problem_of(Universe.of(2, TWO), ReplaceOne())
    flat = TableKernel(mechanism_states(histogram, HistogramSummary()), (Output("a"),), ((8, 8, 8),), 8)
    with pytest.raises(InputError, match="does not read one total"):
        to_opendp(mechanism_on(histogram, HistogramSummary(), flat), on="total")
    with pytest.raises(InputError, match="a count beside a sum"):
        to_opendp(counted_on(peaked(0)), on="total")  # when it is made, not at its first map
    assert to_opendp(counted_on(peaked(0))).map(1) > 0
    listed = problem_of(ListedUniverse(("a", "b")), GivenGraph((("a", "b"),)))
    with pytest.raises(InputError, match="reads respondents"):
        to_opendp(mechanism_on(listed, DatabaseSummary(), TableKernel(("a", "b"), (Output("x"),), ((8, 8),), 8)))
    growing = problem_of(Universe(TWO, 0, 3), AddRemoveOne())
    with pytest.raises(InputError, match="protects replacements"):
        to_opendp(geometric_mechanism(growing, LinearSummary((0, 1))), on="database")
    even = problem_of(Universe.of(2, (Fraction(0), Fraction(2))), ReplaceOne())
    kernel = TableKernel(("0", "2", "4"), (Output("a"),), ((8, 8, 8),), 8)
    with pytest.raises(InputError, match="cannot occur"):
        to_opendp(mechanism_on(even, LinearSummary((0, 2)), kernel))
    with pytest.raises(InputError, match="cannot occur"):
        Plug(mechanism_on(even, LinearSummary((0, 2)), kernel)).steps_of_total(1)


# ---- their mechanisms ------------------------------------------------------------------------------------------------


def test_noise_is_read_from_the_measurement_itself(dp: Any) -> None:
    for measurement in (dp.m.make_laplace(*numbers(dp), scale=3.0), dp.m.make_geometric(*numbers(dp), scale=1.0, bounds=(0, 4))):
        claimed = from_opendp(measurement)
        found = claimed.judged()
        assert found.findings[0].holds and abs(float(claimed.epsilon or 0) - float((found.tight.epsilon or (0, 0))[1])) < 1e-9
    chain = dp.t.make_count(dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()) >> dp.m.then_laplace(2.0)
    assert from_opendp(chain).epsilon == Fraction(1, 2)
    gaussian = from_opendp(dp.m.make_gaussian(*numbers(dp), scale=2.0)).judged()
    assert gaussian.findings[0].claim == "ρ = 0.125" and gaussian.findings[0].holds
    assert gaussian.rho.lower > 0.1249


def test_the_laws_are_those_that_opendp_draws_from(dp: Any) -> None:
    """4,000 draws of each at one state, total variation below 0.06: false alarm below 1e-6 by Hoeffding over 2^11 events."""
    for measurement, at, label in (
        (dp.m.make_geometric(*numbers(dp), scale=1.0, bounds=(0, 10)), 3, str),
        (dp.m.make_randomized_response([0, 1, 2, 3], 0.7, T=int), 2, str),
        (dp.m.make_randomized_response_bool(0.75), True, lambda b: str(b).lower()),
    ):
        table = from_opendp(measurement).mechanism
        column = table.columns[table.states.index(label(at))]
        seen = Counter(label(measurement(at)) for _ in range(4000))
        far = sum(abs(seen[o] / 4000 - float(p)) for o, p in zip(table.outputs, column, strict=True)) / 2
        assert far < 0.06


def test_thresholded_noise_reports_too_small_a_delta_and_is_refuted_with_its_edge(dp: Any) -> None:
    """OpenDP #2922: counts at the threshold are published, and their mass is missing from δ. The edge is count 1 against absent."""
    measurement = dp.m.make_laplace_threshold(*keyed(dp, 1), scale=1.0, threshold=5)
    claimed = from_opendp(measurement)
    truth = exp(-4) / (1 + exp(-1))
    found = claimed.judged().findings[0]
    if float(claimed.delta or 0) < truth * (1 - 1e-9):
        assert found.holds is False and found.counterexample is not None and found.counterexample.edge == ("1", "0")
        assert "5" in found.counterexample.words
    else:
        assert found.holds
    repaired = Fraction(truth) * (1 + Fraction(1, 10**12))
    assert judge(claimed.mechanism, epsilon=claimed.epsilon, delta=repaired).findings[0].holds


def test_the_threshold_is_published_in_truth(dp: Any) -> None:
    """40,000 keys of count 1: the share published is that of our table, 0.01339, not the 0.00493 that is reported (z of 13)."""
    measurement = dp.m.make_laplace_threshold(*keyed(dp, 1), scale=1.0, threshold=5)
    released = measurement({f"user {i}": 1 for i in range(40_000)})
    table = from_opendp(measurement).mechanism
    law = float(1 - table.columns[1][0])
    assert abs(len(released) / 40_000 - law) < 5.5 * (law / 40_000) ** 0.5  # false alarm below 1e-7
    assert min(released.values()) >= 5


def test_gaussian_thresholds_are_refuted_by_their_impossible_outputs(dp: Any) -> None:
    claimed = from_opendp(dp.m.make_gaussian_threshold(*keyed(dp, 2), scale=2.0, threshold=8))
    found = claimed.judged().findings[0]
    assert claimed.rho == Fraction(1, 8) and claimed.delta is not None
    if claimed.delta < Fraction(1, 4000):
        assert found.holds is False and found.counterexample is not None and found.counterexample.edge == ("1", "0")


def test_parameters_are_read_as_the_binary_numbers_that_they_are(dp: Any) -> None:
    """A chance of 0.7 is a little below 7/10; with 7/10 itself OpenDP's ε for four answers would be refuted in the last digit."""
    claimed = from_opendp(dp.m.make_randomized_response([0, 1, 2, 3], 0.7, T=int))
    assert claimed.mechanism.columns[0][0] == Fraction(0.7) != Fraction(7, 10)
    assert claimed.judged().findings[0].holds


@pytest.mark.parametrize("make", ["float", "vector", "bits", "user", "keyed floats", "no measurement", "empty range"])
def test_other_domains_and_measurements_are_refused_in_words(dp: Any, make: str) -> None:
    floats = (dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float))
    made = {
        "float": lambda: dp.m.make_laplace(*floats, scale=1.0),
        "vector": lambda: dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=1.0),
        "bits": lambda: dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=4), dp.discrete_distance(), f=0.5),
        "user": lambda: dp.m.make_user_measurement(*numbers(dp), dp.max_divergence(), lambda x: x, lambda d: 1.0 * d, TO=int),
        "keyed floats": lambda: dp.m.make_laplace_threshold(
            dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=float, nan=False)),
            dp.l01inf_distance(dp.absolute_distance(T=float)), scale=1.0, threshold=5.0,
        ),
        "no measurement": object,
        "empty range": lambda: dp.m.make_laplace(*numbers(dp), scale=1.0),
    }  # fmt: skip
    words = r"one whole number|no finite table|whole counts by key|how it was made|range of counts"
    with pytest.raises(InputError, match=words):
        from_opendp(made[make](), **({"low": 3, "high": 3} if make == "empty range" else {}))


# ---- peers that are missing or too old -------------------------------------------------------------------------------


def test_a_missing_peer_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = Peer("no_such_peer_anywhere", "no-such-peer", "opendp", "0.14")
    with pytest.raises(MissingExtra, match=r'pip install "discreet\[opendp\]"'):
        peer(absent, "chains")
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    monkeypatch.setitem(sys.modules, "opendp", None)
    with pytest.raises(MissingExtra, match="opendp"):
        from_opendp(object())


def test_an_old_peer_is_told_which_version_has_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    old = ModuleType("opendp")
    old.__path__ = []  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "opendp", old)
    monkeypatch.setitem(sys.modules, "opendp.prelude", ModuleType("opendp.prelude"))
    with pytest.raises(InputError, match=r"lacks atom_domain.*opendp 0\.14 or newer"):
        peer(OPENDP, "measurements", ["prelude"], ["atom_domain"])
    with pytest.raises(InputError, match=r"lacks opendp\.nowhere"):
        peer(OPENDP, "measurements", ["nowhere"])
    pytest.importorskip("dp_accounting", reason="discreet[exchange] is not installed")
    bare = ModuleType("dp_accounting.dp_event")
    monkeypatch.setitem(sys.modules, "dp_accounting.dp_event", bare)
    with pytest.raises(InputError, match=r"lacks DiscreteLaplaceDpEvent.*dp-accounting 0\.5"):
        peer(ACCOUNTING, "events", ["dp_event"], ["DiscreteLaplaceDpEvent"])
