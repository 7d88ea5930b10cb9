"""Limits of time are kept by not beginning what would not end: each of these once took longer than everything else together."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from ladder_problems import problem_of
from unbiased_designs import asked

from discreet.certify.bounds import FULL
from discreet.certify.bounds import full_information as plain
from discreet.certify.bounds.chain import split_of
from discreet.certify.duality import chords
from discreet.certify.duality.affine import AffinePayoff
from discreet.cli.questions import best_mechanism as asking
from discreet.design import best_mechanism, certified
from discreet.design.best_mechanism import design
from discreet.design.comparison import large, normal_laws
from discreet.design.ladder.bounds import chain as chains
from discreet.design.ladder.bounds import coins
from discreet.design.ladder.bounds.chain import MOST_CUTS, best_chain, pairs_of_tails
from discreet.design.ladder.climb import climb
from discreet.design.ladder.mechanisms.population import population_of
from discreet.design.ladder.mechanisms.readings import Reader
from discreet.design.ladder.mechanisms.weights import clipped_sum
from discreet.design.routes import nearby
from discreet.design.routes.geometric import GeometricRoute
from discreet.design.routes.program import too_many
from discreet.design.routes.route import Asked
from discreet.design.schedule import LIBRARY_SECONDS, TimeIsUpError, TooDearError, Until, counted, spend, time_left
from discreet.model import problem as problems
from discreet.model.actions import ListedActions, RealActions
from discreet.model.certificate import TheoremWitness
from discreet.model.decision import Decision
from discreet.model.iid_sum import iid_sum
from discreet.model.losses import FormulaLoss, MatchLoss, SquaredLoss
from discreet.model.priors import DirichletMultinomialPrior, IndependentPrior
from discreet.watch import SILENT

WHOLE = ListedActions(tuple(map(Fraction, range(41))))


def many(types, respondents):
    return problem_of([1.0] * types, list(range(types)), respondents, 1.0)


def binary(respondents):
    return problem_of([0.9, 0.1], [0, 1], respondents, 1.0)


def test_of_many_values_few_cuts_are_tried():
    assert len(pairs_of_tails(many(10, 5), range(10))) == 45
    pairs = pairs_of_tails(many(301, 50), range(301))
    assert len(pairs) <= MOST_CUTS * (MOST_CUTS + 1) // 2
    assert ((0,), (300,)) in pairs and any(len(low) + len(high) == 301 for low, high in pairs)


def test_a_split_of_two_hundred_types_is_what_walking_along_them_gives():
    rng = np.random.default_rng(2)
    problem = problem_of(rng.uniform(0.1, 1, 40).tolist(), list(range(40)), 5, 1.0)
    found = split_of(problem, tuple(range(15)), tuple(range(20, 40)))
    p = problem.prior.probabilities
    low, high = sum(p[:15]), sum(p[20:])
    fine = 20_000
    shares = (np.arange(fine) + 0.5) / fine
    lower = np.searchsorted(np.cumsum([float(x / low) for x in p[:15]]), shares)
    upper = 39 - np.searchsorted(np.cumsum([float(x / high) for x in p[20:][::-1]]), shares)
    assert float(found.mean) == pytest.approx((upper - lower).mean(), abs=5e-3)
    assert float(found.variance) == pytest.approx((upper - lower).var(), rel=1e-3)
    assert found.share == low + high and found.beta == high / (low + high)


class Once:
    """Cancels from the second question on."""

    def __init__(self):
        self.asked = 0

    def report(self, **told):
        pass

    def cancelled(self):
        self.asked += 1
        return self.asked > 1


def test_screening_of_pairs_ends_when_it_is_told_to():
    watch = Once()
    bound, _ = best_chain(many(12, 30), range(12), watch)
    assert bound > 0 and watch.asked <= 4


def test_neighbours_are_counted_before_they_are_listed(monkeypatch):
    wide = many(201, 2)
    assert "pairs of neighbours" in too_many(wide)
    assert too_many(many(51, 2)) is None and too_many(problem_of([0.89, 0.09, 0.02], [0, 1, 2], 200, 1.0)) is None

    def refused(*_):
        raise AssertionError("the graph is not needed for a law")

    monkeypatch.setattr(problems, "state_space", refused)
    masses, missing = plain.masses_of_statistic(many(30, 2))
    assert missing == 0 and sum(masses.values()) == 1 and masses[Fraction(58)] == Fraction(1, 900)


def test_a_closed_form_of_too_many_counts_is_not_begun():
    with counted():
        with pytest.raises(TooDearError, match="likely counts"):
            GeometricRoute().propose(binary(10**8), Asked(1e-6, 0.6, Until.after(0.6)))
        assert GeometricRoute().propose(binary(10**4), Asked(1e-6, 0.6, Until.after(0.6))).status == "optimal"
        late = GeometricRoute().propose(binary(100), Asked(1e-6, 0.0, Until.after(-9.0)))
        assert late.status == "optimal" and climb(many(6, 12), Until.after(-9.0), 0.0).kernel is not None
        with pytest.raises(TooDearError, match="quickest sum"):
            climb(binary(10**8), Until.after(0.6), 0.6)


def test_weights_whose_law_would_take_too_long_are_not_settled():
    """A million respondents of eleven types: fine weights are the best for whoever has a minute, and coarse ones for a second."""
    falling = [0.6**t for t in range(11)]
    population = population_of(problem_of(falling, list(range(11)), 10**6, 1.0))[0]
    with counted():
        watch = Until.after(0.6)
        quick = clipped_sum(population, watch)
        assert population.seconds(quick.weights) <= 0.6 and time_left(watch) < 0.6
    assert population.seconds([24 * t for t in range(11)]) == pytest.approx(population.seconds(range(11)), rel=1e-3)
    assert population.seconds(range(11)) > 0.6
    assert population_of(problem_of(falling, list(range(11)), 1000, 1.0))[0].seconds(range(11)) == 0


def test_a_mechanism_is_valued_once(monkeypatch):
    """The certificate rests on the best bound, whichever route found it: that changes no value but for reductions and theorems."""
    seen, valued = [], certified.proved_value

    def counting(mechanism, claim):
        seen.append(mechanism.kernel)
        return valued(mechanism, claim)

    monkeypatch.setattr(certified, "proved_value", counting)
    with counted():
        design(problem_of([0.8, 0.1, 0.05, 0.03, 0.015, 0.005], list(range(6)), 60, 1.0), seconds=1.0, compare=False)
    assert len(seen) == len(set(map(id, seen)))


def test_the_least_loss_of_a_formula_is_found_once(monkeypatch):
    buses = Decision(FormulaLoss("-omega/a - 0.1*a"), RealActions(Fraction(1, 10), Fraction(100)))
    problem = problem_of([0.8, 0.2], [0, 1], 30, 1.0, (buses,))
    seen, found = [], AffinePayoff.least_losses

    def counting(payoff, omegas):
        seen.append(len(omegas))
        return found(payoff, omegas)

    monkeypatch.setattr(AffinePayoff, "least_losses", counting)
    chords._least_of_lines.cache_clear()
    first = plain.full_information(problem)
    assert plain.full_information(problem) == first and seen == [31]
    heavy = problem_of([0.8, 0.2], [0, 1], 30, 1.0, (Decision(buses.loss, buses.actions, weight=Fraction(3)),))
    assert plain.full_information(heavy) == 3 * first and seen == [31]


def test_makers_share_the_seconds_of_the_processor(monkeypatch):
    """Each had all the time in a process of its own, which alone takes a second to start: twenty took twenty times as long."""
    told = []
    monkeypatch.setattr(asking, "prices", lambda *_, seconds, workers: told.append((seconds, workers)))
    monkeypatch.setattr(asking, "cores", lambda: 8)
    maker = Decision(SquaredLoss(), RealActions())
    problem = problem_of([0.9, 0.1], [0, 1], 5, 1.0, (maker,) * 20)
    with counted():
        for seconds, workers in ((1.0, None), (1.0, 3), (600.0, None)):
            asking.BestMechanism(problem, seconds, workers=workers)._prices(None, Until.after(2 * seconds))
    assert told == [(pytest.approx(1 / 20), 1), (pytest.approx(1 / 20), 3), (pytest.approx(30.0), 8)]


def test_noise_whose_proof_would_not_end_is_not_shown_as_better(monkeypatch):
    """A hundred thousand respondents of 301 types: plain noise in a window was proved for a minute after a search of one second."""
    wide = problem_of([1.0] * 301, list(range(301)), 10**5, 1.0)
    name = "truncated geometric"
    assert large.proof_seconds(wide, name) > 10 and large.proof_seconds(wide, "geometric") == 0
    assert large.proof_seconds(problem_of([1.0] * 301, list(range(301)), 100, 1.0), name) == 0
    for seconds in (1e9, 0.0):
        monkeypatch.setattr(large, "proof_seconds", lambda *_, seconds=seconds: seconds)
        with counted():
            search = best_mechanism._Search(problem_of([0.5, 0.3, 0.2], [0, 1, 2], 90, 1.0), 1e-6, 1.0, SILENT)
            search._as_a_last_resort()
            shown = large.plain_baseline(search.problem)
            worth = shown[name].value
            search._never_worse(shown, SILENT)
        if seconds:
            assert shown[name].value is None and "its proof takes about" in shown[name].words
        else:
            assert shown[name].value == worth and float(search.proofs.best.value) >= worth - 1e-9


def test_the_coins_of_three_hundred_types_are_chosen_at_once():
    """Every pair of types was held against every type: 2.5 s before anything began."""
    law = iid_sum(problem_of([1.0] * 301, list(range(301)), 10**5, 1.0))
    low, high, number = coins.best_pair(law, 1.0, 8_000)
    assert high > low + 1 and number >= coins.FEWEST_HOLDERS
    near = iid_sum(problem_of([1.0] * 4, [0, 0, 1, 1], 10**5, 1.0))
    assert coins.best_pair(near, 1.0, 8_000) is None  # nothing lies between


def test_a_library_that_does_not_end_in_time_is_passed_over(monkeypatch):
    """Values unbiased nearby for 200 respondents: HiGHS had ten minutes whatever the time, and noise six seconds more."""
    asked_of = []

    def unsolved(*_, **told):
        asked_of.append(told["seconds"])
        raise TimeIsUpError("as if")

    monkeypatch.setattr(nearby, "solve_means", unsolved)
    school = asked(12, "nearby")
    with pytest.raises(TimeIsUpError):
        nearby.NearbyProgram().propose(school, Asked(1e-3, 1.0, Until.after(5.0)))
    assert asked_of == [LIBRARY_SECONDS]  # as long as it needs where time is counted work
    assert large.proof_seconds(asked(200, "nearby"), "staircase") > 5 > large.proof_seconds(school, "staircase") > 0


def test_tails_of_a_thousand_values_are_sorted_once():
    """Each type was compared with each value: of two thousand types that took half a minute."""
    values = [Fraction((7 * t) % 1000) for t in range(1000)]

    class Compared(Fraction):
        times = 0

        def __lt__(self, other):
            Compared.times += 1
            return Fraction.__lt__(self, other)

    problem = many(1000, 3)
    statistic = SimpleNamespace(weights=lambda _: tuple(map(Compared, values)))
    told = SimpleNamespace(people=problem.people, statistic=statistic, universe=problem.universe, prior=problem.prior)
    pairs = pairs_of_tails(told, range(1000))
    assert Compared.times < 20_000 and len(pairs) <= MOST_CUTS * (MOST_CUTS + 1) // 2
    for low, high in pairs:
        assert max(values[t] for t in low) < min(values[t] for t in high) and low == tuple(sorted(low))


def test_noise_whose_list_of_values_takes_too_long_is_not_published():
    """Three million values that are listed for two take ten seconds to make, prove and hash; a million are published however late
    it is, and as many as there may be where one takes them as they are."""
    face, maker = large.FaceValue.name, Decision(SquaredLoss(), RealActions())
    few, some, most = (replace(many(11, size), decisions=(maker, maker)) for size in (10**3, 10**5, 250_000))
    assert large.proof_seconds(some, face) < 1.0 < large.proof_seconds(most, face)
    assert large.proof_seconds(few, face) == 0 == large.proof_seconds(many(11, 250_000), face)


def test_a_chain_is_proved_once(monkeypatch):
    """A growing chain of 500 respondents takes two seconds: the search has it, so nobody looks for it beside the baselines."""
    seen = []
    monkeypatch.setattr(chains, "chain_witness", lambda *_: seen.append(1) or TheoremWitness(FULL))
    search = best_mechanism._Search(many(6, 60), 1e-6, 1.0, SILENT)
    search.proofs.keep(None, search.proofs.bounded(chains.best_chain(search.problem, range(6))[1]))
    assert search.proofs.tried_a_chain
    search._as_a_last_resort()
    seen.clear()
    search._chain = None
    search.beside_baselines(compare=False)
    assert not seen
    search.proofs.limit = search.proofs.bounded(TheoremWitness(FULL))
    search._chain = None
    search.beside_baselines(compare=False)
    assert seen


def thresholds():
    """Three decisions that are no errors, with cells that differ."""
    makers = tuple(
        Decision(FormulaLoss(f"a*(omega-{k})"), ListedActions((Fraction(0), Fraction(1))), weight=Fraction(1, k))
        for k in (5, 9, 14)
    )
    spread = DirichletMultinomialPrior((Fraction(16), Fraction(2), Fraction(1, 10)))
    return replace(problem_of([0.8, 0.1, 0.1], [0, 1, 5], 40, 1.0, makers), prior=spread)


def test_the_law_of_the_statistic_is_formed_once_for_all_decisions(monkeypatch):
    """Three thresholds with 150 respondents: ten laws of one statistic, for each maker, for all of them, and for each proof."""
    seen, formed = [], plain._formed
    monkeypatch.setattr(plain, "_formed", lambda problem: seen.append(1) or formed(problem))
    asked_for = thresholds()
    plain._last.clear()
    whole = plain.full_information(asked_for)
    apart = sum(plain.full_information(replace(asked_for, decisions=(d,))) for d in asked_for.decisions)
    assert whole == apart and len(seen) == 1
    raised = replace(asked_for, prior=DirichletMultinomialPrior((Fraction(1), Fraction(2), Fraction(3))))
    assert plain.full_information(raised) != whole and len(seen) == 2


def test_makers_who_have_no_chain_are_asked_for_no_other_bound(monkeypatch):
    seen, asked_for = [], thresholds()
    monkeypatch.setattr(chains, "full_information", lambda problem: seen.append(len(problem.decisions)) or Fraction(1))
    assert best_chain(asked_for, range(3)) == (-1.0, TheoremWitness(FULL)) and seen == [3]


def test_a_reading_that_takes_longer_than_it_may_is_a_coarser_one(monkeypatch):
    """Every total was held against every value of the statistic, for two and a half seconds, whatever the time."""
    reader, read = Reader(thresholds()), []
    monkeypatch.setattr(Reader, "_from_joint", lambda _, coarse, *__: read.append(coarse))
    fine = (0, 96, 480)
    for seconds in (100.0, 0.5):
        reader._by_replies(fine, seconds)
    assert read[0] == fine and max(read[1]) < max(fine)
    assert reader._reading_seconds(fine) > 0.5 > reader._reading_seconds(read[1])


def test_a_table_whose_proof_would_not_end_is_not_shown_as_better():
    """Guesses of a sum of 240 respondents: a table of a million entries was rounded and proved for five seconds after the end."""
    guesses = Decision(MatchLoss(), ListedActions(tuple(map(Fraction, range(1201)))))
    spread = DirichletMultinomialPrior((Fraction(16), Fraction(2), Fraction(1, 10)))
    asked_for = replace(problem_of([0.8, 0.1, 0.1], [0, 1, 5], 240, 4.0, (guesses,)), prior=spread)
    search = best_mechanism._Search(asked_for, 1e-6, 1.0, SILENT)
    assert search._publishing_seconds("inverse sensitivity") > 4 and search._publishing_seconds("geometric") == 0
    small = best_mechanism._Search(thresholds(), 1e-6, 1.0, SILENT)
    assert small._publishing_seconds("inverse sensitivity") == 0 == small._publishing_seconds("noisy histogram")


@pytest.mark.parametrize("cut_off", ["_published", "proofs"])
def test_a_way_that_was_cut_off_while_it_was_published_is_not_shown_as_better(monkeypatch, cut_off):
    """Three thresholds on a busy machine: the best oblivious table was solved, and solved again too slowly to be published."""

    def late(*_, **__):
        raise TimeIsUpError("as if")

    search = best_mechanism._Search(problem_of([0.5, 0.3, 0.2], [0, 1, 2], 90, 1.0), 1e-6, 1.0, SILENT)
    search._as_a_last_resort()
    shown = large.plain_baseline(search.problem)
    assert shown["truncated geometric"].value > float(search.proofs.best.value)
    monkeypatch.setattr(*((search, "_published") if cut_off == "_published" else (search.proofs, "proved")), late)
    search._never_worse(shown, SILENT)
    hidden = shown["truncated geometric"]
    assert hidden.value is None and "as if" in hidden.words and ("given up" in hidden.words) == (cut_off == "proofs")


def test_what_is_proved_at_once_is_published_however_late_it_is():
    """A search that was late was left worse than noise, which was hidden though its proof takes no time."""
    with counted():
        search = best_mechanism._Search(problem_of([0.5, 0.3, 0.2], [0, 1, 2], 90, 1.0), 1e-6, 1.0, SILENT)
        search._as_a_last_resort()
        spend(1e3)
        shown = large.plain_baseline(search.problem)
        worth = shown["truncated geometric"].value
        search._never_worse(shown, SILENT)
    assert shown["truncated geometric"].value == worth and float(search.proofs.best.value) >= worth - 1e-9


def test_who_knows_the_truth_is_asked_once(monkeypatch):
    """The bound of full information looks at every action and value: it came with publishing nothing, and was proved again."""
    seen, proved = [], certified.upper_bound
    monkeypatch.setattr(certified, "upper_bound", lambda *told: seen.append(told[1]) or proved(*told))

    def late(*_):
        raise TimeIsUpError("as if")

    monkeypatch.setattr(chains, "chain_witness", late)
    search = best_mechanism._Search(thresholds(), 1e-6, 1.0, SILENT)
    search._as_a_last_resort()
    assert seen == [TheoremWitness(FULL)] and search.proofs.limit is not None


def test_losses_of_normal_laws_are_averaged_in_parts(monkeypatch):
    """Guesses of a sum of eleven values took 80 MB at once; a part is as good as the whole."""
    problem = problem_of([0.5, 0.3, 0.2], [0, 1, 2], 20, 1.0, (Decision(MatchLoss(), WHOLE),))
    actions, means = list(WHOLE), np.linspace(3, 30, 50)
    whole = normal_laws.averaged(problem, problem.decision, actions, means, np.full(50, 4.0))
    monkeypatch.setattr(normal_laws, "MOST_AT_ONCE", 7 * normal_laws.HERMITE * len(actions))
    parts = normal_laws.averaged(problem, problem.decision, actions, means, np.full(50, 4.0))
    assert np.allclose(whole, parts, rtol=1e-12, atol=0) and len(np.unique(whole)) > 10


def test_a_constant_is_valued_by_the_law_of_its_sum_where_databases_are_too_many():
    """Two thousand respondents with laws of their own have few histograms and too many databases: no design was found at all."""
    rows = tuple((Fraction(k % 97 + 1, 100), Fraction(99 - k % 97, 100)) for k in range(2000))
    told = replace(binary(2000), prior=IndependentPrior(rows))
    search = best_mechanism._Search(told, 1e-6, 1.0, SILENT)
    search._as_a_last_resort()
    variance = sum(float(p * q) for p, q in rows)
    assert float(-search.proofs.best.value) == pytest.approx(variance, rel=1e-6)
