"""The floor: what was seen worse than noise, than nothing, refused or too large, and must not be again. (More: `bench/zoo.py`.)

Time is counted work, so that what a search reaches does not depend on the machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from typing import Any

import design_worlds as worlds
import pytest

from discreet.certify.value.laws import Overdispersed
from discreet.design import best_mechanism, design
from discreet.design.certified import Proofs
from discreet.design.comparison import baselines, information, large, way
from discreet.design.comparison.noise import GeometricNoise, StaircaseWay
from discreet.design.comparison.plain_noise import noise_on_the_statistic, plain_noise, plugged_in
from discreet.design.comparison.way import Way
from discreet.design.concentrated.gaussian_sums import must_fit
from discreet.design.ladder.bounds import chain
from discreet.design.ladder.mechanisms.population import population_of
from discreet.design.program.sections import ground
from discreet.design.restricted import reads_only_the_statistic
from discreet.design.routes.blind import blind_proposal
from discreet.design.routes.oblivious import Oblivious
from discreet.design.schedule import TimeIsUpError, Until, counted, spend
from discreet.errors import TooLarge
from discreet.model.kernel import GeometricKernel
from discreet.model.progression import Progression
from discreet.model.record import Step
from discreet.model.states import state_space
from discreet.model.summary import LinearSummary
from discreet.views import reliance as reliance_views
from discreet.watch import SILENT

SQUARED = {"kind": "squared-error", "actions": "real"}
DIFFERING = {"kind": "exchangeable", "concentration": ["8", "1.4", "0.6"]}
THREE = [".89", ".09", ".02"]


def growing(most: int, **changes: Any) -> worlds.Document:
    prior = {"kind": "iid", "probabilities": THREE, "size": [f"1/{most + 1}"] * (most + 1)}
    return worlds.document({"from": 0, "to": most}, prior=prior, neighbours="add-remove-one", **{"decision": SQUARED, **changes})


CASES = {
    "overdispersed, 100: 6,171, far more than nothing lost": worlds.document(100, prior=DIFFERING, decision=SQUARED),
    "overdispersed, 150: 14,055 where nothing lost 682": worlds.document(150, prior=DIFFERING, decision=SQUARED),
    "overdispersed, 1,000: nothing was published": worlds.document(1_000, prior=DIFFERING, decision=SQUARED),
    "added or removed, 0 to 40: 30.99 where noise lost 2.99": growing(40),
    "added or removed, a count of three types: refused": growing(
        12, statistic={"kind": "count", "of": [1]}, decision={"kind": "squared-error", "actions": "integer"}
    ),
    "values off a coarse lattice: refused by a baseline": worlds.document(60, ("0.37", "1.113", "2.71828"), THREE, SQUARED),
    "incomes off a coarse lattice: refused by a baseline": worlds.document(
        60, (0, 12345, 45678, 99999, 1_000_000), [".5", ".2", ".15", ".1", ".05"], SQUARED
    ),
}


@pytest.mark.parametrize("name", list(CASES))
def test_never_worse_than_plain_noise_or_than_nothing(name: str) -> None:
    problem = worlds.problem(CASES[name])
    with counted():
        found = design(problem, seconds=1.0, compare=False)
    noise, nothing = plain_noise(problem), population_of(problem)[0].spread() ** 2
    assert noise is not None
    assert float(found.loss) <= min(noise, nothing) * (1 + 1e-6) + 1e-9
    assert 0 < found.lower_bound <= found.loss
    assert (found.status == "optimal") == (found.relative_gap <= 1e-6)


def test_many_types_in_cells_that_differ_are_clipped_and_pulled_without_any_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 respondents of 21 types: no law of a weighted sum fits, noise at face value lost 800, the search took 8 s of 1."""

    def never(*_: Any) -> Any:
        raise AssertionError("a law was formed")

    monkeypatch.setattr(Overdispersed, "masses", never)
    prior = {"kind": "exchangeable", "concentration": [str(8 * Fraction(3, 5) ** t) for t in range(21)]}
    problem = worlds.problem(worlds.document(1_000, range(21), prior, SQUARED))
    found = design(problem, seconds=0.5)
    noise = plain_noise(problem)
    assert found.reduction == "ladder" and "along a line" in found.explain()
    assert noise is not None and float(found.loss) < 0.9 * noise
    assert 0 < found.lower_bound <= found.loss
    assert "the time was up" in found.baselines["geometric"].words


def test_no_chain_is_begun_that_would_take_more_than_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[tuple[int, ...]] = []
    monkeypatch.setattr(chain, "overdispersed_chain", lambda _, low, high: tried.append((*low, *high)) or -Fraction(len(tried)))
    problem = worlds.problem(worlds.document(1_000, prior=DIFFERING, decision=SQUARED))
    chain.best_chain(problem, range(3), Until.after(0.01))
    assert tried == [(0, 1, 2)]  # the first is always tried, and everybody plays in it
    tried.clear()
    chain.best_chain(problem, range(3), Until.after(10.0))
    assert (0, 2) in tried and len(tried) == 3


@pytest.mark.parametrize("epsilon", ["20", "30"])
def test_at_a_large_epsilon_no_more_is_lost_than_by_the_best_noise(epsilon: str) -> None:
    """What is lost at all is lost by outputs that are hardly ever seen: leaving them out lost a third more than staircase noise."""
    problem = worlds.problem(worlds.document(10, prior=THREE, decision=SQUARED, epsilon=epsilon))
    found = design(problem, seconds=1.0)
    losses = {name: b.loss for name, b in found.baselines.items() if b.loss is not None and name != "full information"}
    assert float(found.loss) <= min(losses.values()) * (1 + 1e-6) + 1e-12 * losses["no information"]


@pytest.mark.parametrize(
    "decision",
    [{"kind": "absolute-error", "actions": "integer"}, {"kind": "expression", "actions": [0, 1], "payoff": "a*(omega-1e4)"}],
)
def test_a_hundred_thousand_respondents_and_as_many_actions_are_read_where_they_are_likely(decision: dict[str, Any]) -> None:
    """A million took more than a minute at one second: every action and every value of ω was looked at."""
    problem = worlds.problem(worlds.document(100_000, (0, 1), (".9", ".1"), decision))
    found = design(problem, seconds=1.0, compare=False)
    assert found.status == "optimal" and found.reduction == "geometric"


@pytest.mark.parametrize("noise", [GeometricNoise(), StaircaseWay()])
def test_published_noise_loses_no_more_than_is_shown_of_it(noise: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen with 200 respondents: more different replies than a table lists, so it lost 9.45 where 7.54 was shown, and 7.84 won."""
    monkeypatch.setattr(way, "MOST_REPLIES", 5)
    problem = worlds.problem(worlds.document(30, prior=DIFFERING, decision=SQUARED))
    base = ground(problem)
    proposal = noise.propose(base, SILENT)
    assert proposal is not None
    found, _ = Proofs(problem).proved(proposal, Step(noise.name, True, "", ""))
    assert -float(found.value) <= noise.loss(base, SILENT) * (1 + 1e-4)


def test_a_hundred_million_respondents_are_told_nothing_at_once_and_noise_where_they_may_lie() -> None:
    """Who is told nothing was counted a hundred million times, and plain noise was listed over the whole range or not at all."""
    problem = worlds.problem(worlds.document(10**8, (0, 1), ("1/3", "2/3"), {"kind": "absolute-error", "actions": "real"}))
    nothing = LinearSummary((0, 0))
    assert state_space(problem.universe, problem.neighbours, nothing).labels == ("0",)
    noise = large.large_proposal(problem, "truncated geometric")
    assert noise is not None and isinstance(noise.summary, LinearSummary)
    low, high = noise.summary.range(problem.people)
    assert 66_600_000 < low < 66_666_666 < high < 66_720_000


def test_a_threshold_without_time_is_served_by_noise_that_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen with 5,000 respondents whose cells differ: no route came back, and a constant was published, worth 0 of 174."""

    def late(*_: object, **__: object) -> None:
        raise TimeIsUpError("the work did not end")

    threshold = {"kind": "expression", "actions": [0, 1], "payoff": "a*(omega-4)"}
    prior = {"kind": "exchangeable", "concentration": ["9", "1"]}
    problem = worlds.problem(worlds.document(40, (0, 1), prior, threshold))
    for route in best_mechanism.considered(problem)[0]:
        monkeypatch.setattr(type(route), "propose", late)
    found = design(problem, seconds=1.0, compare=False)
    noise = plugged_in(problem)
    assert noise is not None and found.mechanism.kernel == noise.kernel
    assert found.certificate.optimality is not None
    value, best = found.certificate.optimality.value, found.certificate.optimality.bound
    assert 0.5 * float(best) < value < best


def test_parts_that_are_late_share_one_grace() -> None:
    """Six parts that each overran by three seconds made 26 s of one."""
    search = best_mechanism._Search(worlds.problem(worlds.document(4)), 1e-6, 1.0, SILENT)
    first = search._grace
    spend(2.0)
    assert search._grace == pytest.approx(first - 1.0)
    spend(100.0)
    assert search._grace == pytest.approx(first / 4)


def test_what_was_compared_before_the_time_was_up_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> float:
        raise TimeIsUpError("it never ends")

    monkeypatch.setattr(large._Seen, "noisy", never)
    with counted():
        found = design(worlds.problem(worlds.document(60, range(6), ["1/6"] * 6, SQUARED)), seconds=1.0, gap=0.9)
    assert set(found.baselines) == {"truncated geometric", "no information", "full information"}


@pytest.mark.slow
def test_a_million_respondents_fit_in_two_gigabytes() -> None:
    """Design, view and wrong priors of two types; listing every histogram took 22 GB."""
    script = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
        "from discreet.files.problem import problem_from_document\n"
        "from discreet.design import design\n"
        "from discreet.design.questions.reliance import reliance\n"
        "from discreet.views.design import design_view\n"
        "found = design(problem_from_document({'data': {'respondents': 10**6, 'values': [0, 1]},\n"
        "    'prior': {'kind': 'iid', 'probabilities': ['0.9', '0.1']}, 'statistic': {'kind': 'sum'},\n"
        "    'decision': {'kind': 'squared-error', 'actions': 'real'}, 'privacy': {'epsilon': 1}}))\n"
        "view, told = design_view(found), reliance(found.mechanism)\n"
        "print(float(found.loss), view.facts['evaluation']['slope'], told.plain)\n"
    )
    single = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")  # each thread has room of its own
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=single)
    assert done.returncode == 0, done.stderr[-500:]
    loss, slope, plain = map(float, done.stdout.split())
    assert loss == pytest.approx(1.84131, rel=1e-5) and loss < plain and slope == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("size", [4, 12])
def test_a_machine_too_slow_for_the_search_is_no_reason_to_lose_more_than_what_is_shown(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen on a busy machine: 7.84 beside geometric noise at 5.01, whose mechanism was not written down in the time left."""
    monkeypatch.setattr(best_mechanism._Search, "_grace", 0.0)
    found = design(worlds.problem(worlds.document(size, decision=SQUARED)), seconds=1e-3)
    shown = [b.loss for name, b in found.baselines.items() if b.loss is not None and name != "full information"]
    assert shown and float(found.loss) <= min(shown) * (1 + 1e-6)


def test_baselines_keep_to_a_range_of_actions() -> None:
    """Who may only act between 30 and 31 loses much though he knows the truth, and takes no noisy number at face value."""
    narrow = {"kind": "squared-error", "actions": {"from": 30, "to": 31}}
    asked = worlds.problem(worlds.document(20, prior=(".5", ".3", ".1", ".05", ".03", ".02"), values=range(6), decision=narrow))
    found = large.large_baselines(asked)
    losses = {name: baseline.loss for name, baseline in found.items() if baseline.value is not None}
    assert losses["no information"] >= losses["staircase"] - 1e-6 >= losses["full information"] - 2e-6 > 100
    assert plain_noise(asked) is None and "truncated geometric" not in losses
    free = {"kind": "squared-error", "actions": {"from": 0, "to": 100}}
    assert plain_noise(worlds.problem(worlds.document(20, decision=free))) == plain_noise(
        worlds.problem(worlds.document(20, decision=SQUARED))
    )


def test_the_truth_loses_nothing_and_is_answered_value_by_value_only_where_these_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(information, "MOST_VALUES", 40)
    real, whole = (
        ground(worlds.problem(worlds.document(20, decision=d))) for d in (SQUARED, {"kind": "squared-error", "actions": "integer"})
    )
    assert information.FullInformation().loss(real, SILENT) == 0.0
    with pytest.raises(TooLarge, match="41 values"):
        information.FullInformation().loss(whole, SILENT)
    monkeypatch.setattr(information, "MOST_VALUES", 41)
    assert information.FullInformation().loss(whole, SILENT) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("compare", [True, False])
def test_a_restricted_search_that_found_little_is_no_worse_than_what_reads_as_little(
    compare: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen with 150 respondents: plain noise at 49.8 beside staircase noise at 34.3, which reads only the statistic as well."""
    asked = worlds.problem(worlds.document(20, prior=DIFFERING, decision=SQUARED))
    monkeypatch.setattr(Oblivious, "propose", lambda _, problem, __: blind_proposal(problem))
    with counted():
        found = design(asked, gap=0.1, within="oblivious", compare=compare)
    ways = [way for way in baselines.ways_of(asked, oblivious=True) if way.name != "full information"]
    losses = [way.loss(ground(asked), SILENT) for way in ways if isinstance(asked.promise, way.serves)]
    assert float(found.loss) <= min(losses) * (1 + 1e-6) and reads_only_the_statistic(found.mechanism)
    assert found.price is not None and found.price > 0 and found.reduction == "baseline staircase"
    assert set(found.baselines) == (
        {way.name for way in ways if isinstance(asked.promise, way.serves)} | {"full information"} if compare else set()
    )


def test_the_best_of_all_is_the_best_of_its_class_where_it_reads_only_the_statistic(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = worlds.problem(worlds.document(20, (0, 1), (".7", ".3"), SQUARED))

    def late(*_: object) -> None:
        raise TimeIsUpError("the work did not end")

    monkeypatch.setattr(Oblivious, "propose", late)
    with counted():
        found = design(asked, within="oblivious")
    assert found.reduction == "geometric" and found.price == 0 and found.relative_gap < 1e-6


def test_what_reads_only_the_statistic_is_told_apart() -> None:
    asked = worlds.problem(worlds.document(4, (1, 2, 4)))
    plain = noise_on_the_statistic(asked)
    assert plain is not None and plain.weighted_sum.weights == (0, 1, 3) and isinstance(plain.kernel, GeometricKernel)
    coarse = replace(plain, kernel=replace(plain.kernel, step=6))
    for weights, holds in (((0, 1, 3), True), ((2, 4, 8), True), ((0, 0, 0), True), ((0, 1, 2), False), ((0, 1, 1), False)):
        assert reads_only_the_statistic(replace(coarse, summary=LinearSummary(weights, 0, 12))) is holds
    sized = {"kind": "iid", "probabilities": ["1/2", "1/2"], "size": ["1/3"] * 3}
    grown = noise_on_the_statistic(
        worlds.problem(worlds.document({"from": 0, "to": 2}, (1, 2), sized, neighbours="add-remove-one"))
    )
    assert grown is not None and reads_only_the_statistic(grown)
    assert not reads_only_the_statistic(replace(grown, summary=LinearSummary((0, 1))))


def test_plain_noise_of_two_million_values_is_published_in_a_second() -> None:
    """Seen with 3,000 respondents: a sum that loses 8.3 million beside plain noise at 1.3, whose list of values took too long."""
    parts = [{"weight": "1/2", "concentration": ["1/5"] * 6}, {"weight": "1/2", "probabilities": ["1/2", *["1/10"] * 5]}]
    mixed = {"kind": "mixture", "components": parts}
    asked = worlds.problem(worlds.document(3_000, (0, 1, 2, 3, 5, 800), mixed, SQUARED))
    assert large.proof_seconds(asked, "truncated geometric") == 0
    noise = noise_on_the_statistic(asked)
    assert noise is not None and isinstance(noise.kernel.recommended, Progression)
    with counted():
        found = design(asked, seconds=1.0)
    plain = plain_noise(asked)
    assert plain is not None and float(found.loss) <= plain * (1 + 1e-6)


def test_publishing_nothing_competes_where_pairs_of_values_are_too_many() -> None:
    """Seen with a thousand respondents at ε = 1/10: a sum that loses 749.6 where nothing loses 586.2, which nobody computed."""
    rare = {"kind": "exchangeable", "concentration": ["16", "2", "0.1"]}
    absolute = {"kind": "absolute-error", "actions": "integer"}
    asked = worlds.problem(worlds.document(1_000, (0, 1, 100), rare, absolute, epsilon="1/10"))
    found = large.large_baselines(asked, Until.after(0.0))
    assert all("the time was up" in b.words for b in found.values())
    found = large.large_baselines(asked)
    nothing = found["no information"].loss
    assert nothing == pytest.approx(586.16, abs=0.01) and found["full information"].loss == 0
    assert "too many values" in found["geometric"].words
    with counted():
        assert float(design(asked, seconds=1.0).loss) <= nothing * (1 + 1e-6)


def test_noise_is_not_shown_at_face_value_where_its_values_are_no_actions() -> None:
    """Seen with a mean of 2,000 in steps of an eighth: 2.4e-5 was shown, where who knows the truth loses 1.4e-3."""
    eighths = {"kind": "squared-error", "actions": {"from": 0, "to": 7, "step": "1/8"}}
    asked = worlds.document(200, (0, 1, 7), DIFFERING, eighths, statistic="mean")
    assert not large.plain_baseline(worlds.problem(asked))
    assert "where it is an action" in large.large_baselines(worlds.problem(asked), SILENT)["truncated geometric"].words
    whole = worlds.problem(worlds.document(200, (0, 1, 7), DIFFERING, {"kind": "squared-error", "actions": "integer"}))
    assert large.plain_baseline(whole)["truncated geometric"].loss == plain_noise(whole)


def test_what_cannot_be_said_about_wrong_priors_keeps_no_design_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen with ρ = ½ and a thousand respondents: the design was found, and refused when a hedge had too many values."""

    def refused(*_: object) -> None:
        must_fit(10**9)

    monkeypatch.setattr(reliance_views, "reliance", refused)
    found = design(worlds.problem(worlds.document(4)), compare=False)
    told = reliance_views.relied_on(found, None, Until.after(1e6))
    assert told.facts["wrong_prior"] is None and "too many values" in str(told.told)
