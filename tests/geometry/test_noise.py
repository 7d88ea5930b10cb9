"""Is adding noise optimal? Theorems where they apply, couplings where none does, and the command."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.cli.main import run
from discreet.errors import InputError, Refuted, TooLarge
from discreet.geometry.noise import by_theorem, by_transport, is_noise_optimal
from discreet.geometry.of_problem import stated
from discreet.geometry.witness import Witness
from discreet.model.neighbours import AddRemoveOne, GivenGraph
from discreet.model.priors import (
    DirichletMultinomialPrior,
    ExchangeablePrior,
    IidPrior,
    IndependentPrior,
    TablePrior,
)
from discreet.model.statistic import CountStatistic, MeanStatistic, TableStatistic
from discreet.model.universe import ListedUniverse, Universe


@pytest.mark.parametrize(
    ("respondents", "weights", "values", "optimal", "theorem"),
    [
        (10**9, (3, 1), (0, 1), True, "Theorem 2"),
        (10**9, (3, 1, 1), (0, 1, 2), False, "Theorem 1"),
        (2, (1, 1, 1), (0, 1, 5), True, "identifies the histogram"),
        (10**9, (3, 1, 1), (0, 1, 1), True, "Efron"),
        (1, (3, 1, 1), (0, 1, 3), True, "identifies the histogram"),
        (4, (3, 1, 1), (0, 1, 3), False, "too few neighbours"),
        (5, (1, 1, 1), (7, 7, 7), True, "couplings"),
    ],
)
def test_which_theorem_answers(problem, respondents, weights, values, optimal, theorem) -> None:
    answer = is_noise_optimal(problem(respondents, weights, values))
    assert answer.optimal is optimal and theorem in answer.theorem and answer.conditions


@pytest.mark.parametrize(
    ("respondents", "weights", "values"), [(3, (2, 1), (0, 1)), (3, (3, 1, 1), (0, 1, 1)), (3, (1, 1, 1), (0, 1, 5))]
)
def test_theorems_and_couplings_agree(problem, respondents, weights, values) -> None:
    asked = problem(respondents, weights, values)
    assert by_theorem(asked).optimal
    assert by_transport(stated(asked)).optimal and by_transport(stated(asked, "databases")).optimal


def test_a_count_of_independent_respondents(problem) -> None:
    """Respondents who differ: Theorem 2 is silent, Efron's monotonicity speaks, and couplings confirm it."""
    rows = tuple(tuple(Fraction(w, 10) for w in row) for row in ((1, 8, 1), (5, 1, 4), (2, 2, 6), (7, 1, 2)))
    asked = problem(4, (1, 1, 1), prior=IndependentPrior(rows), statistic=CountStatistic((1,)))
    answer = is_noise_optimal(asked)
    assert answer.optimal and "Efron" in answer.theorem
    assert by_transport(stated(asked, "databases")).optimal


@pytest.mark.parametrize("seed", range(12))
def test_efron_on_random_independent_respondents(problem, seed: int) -> None:
    """Seeded: the same twelve priors in every run."""
    draw = random.Random(seed)
    rows = []
    for _ in range(4):
        weights = [draw.choice((1, 2, 5, 50, 500)) for _ in range(2)]
        rows.append(tuple(Fraction(w, sum(weights)) for w in weights))
    asked = problem(4, prior=IndependentPrior(tuple(rows)))
    assert by_transport(stated(asked, "databases")).optimal


def test_a_count_under_a_dependent_prior_may_need_more(problem) -> None:
    """Type 1 comes with type 0 or with type 2 in turn: exchangeable, but who is not counted matters."""
    weights = {
        (3, 0, 0): 1,
        (2, 1, 0): 40,
        (1, 2, 0): 1,
        (0, 3, 0): 1,
        (2, 0, 1): 1,
        (1, 1, 1): 1,
        (0, 2, 1): 40,
        (1, 0, 2): 1,
        (0, 1, 2): 1,
        (0, 0, 3): 40,
    }
    prior = ExchangeablePrior(tuple((h, Fraction(w, sum(weights.values()))) for h, w in weights.items()))
    asked = problem(3, (1, 1, 1), prior=prior, statistic=CountStatistic((1,)))
    answer = is_noise_optimal(asked)
    assert not answer.optimal and answer.witness is not None and answer.witness.log_shift > 1
    mild = problem(3, (1, 1, 1), prior=DirichletMultinomialPrior((Fraction(2),) * 3), statistic=CountStatistic((1,)))
    assert is_noise_optimal(mild).theorem.startswith("SY Lemma 8")


def test_means_are_sums(problem) -> None:
    assert is_noise_optimal(problem(3, (1, 1, 1), statistic=MeanStatistic())).theorem == "SY Theorem 1"


def test_zero_epsilon_leaves_nothing_to_lose(problem) -> None:
    assert is_noise_optimal(problem(3, (1, 1, 1), epsilon=Fraction(0))).optimal


def test_zero_epsilon_between_components(problem) -> None:
    """Two pairs of neighbours: which pair it is may be told, and matters when the pairs lean differently."""
    names = ("a", "b", "c", "d")
    omega = TableStatistic(tuple((n, Fraction(w)) for n, w in zip(names, (0, 1, 0, 1), strict=True)))
    for weights, optimal in (((1, 3, 3, 1), False), ((1, 3, 2, 6), True)):
        chances = tuple((n, Fraction(w, sum(weights))) for n, w in zip(names, weights, strict=True))
        asked = problem(
            universe=ListedUniverse(names),
            neighbours=GivenGraph((("a", "b"), ("c", "d"))),
            statistic=omega,
            prior=TablePrior(chances),
            epsilon=Fraction(0),
        )
        assert is_noise_optimal(asked).optimal is optimal


def test_a_given_graph(problem) -> None:
    """A path on which the statistic folds: the ends share a value, so their joint odds against the middle matter."""
    names, third = ("a", "b", "c"), Fraction(1, 3)
    parts = {
        "universe": ListedUniverse(names),
        "prior": TablePrior(tuple((n, third) for n in names)),
        "neighbours": GivenGraph((("a", "b"), ("b", "c"))),
    }
    folded = TableStatistic((("a", Fraction(0)), ("b", Fraction(1)), ("c", Fraction(0))))
    assert is_noise_optimal(problem(**parts, statistic=folded)).optimal
    skewed = TableStatistic((("a", Fraction(0)), ("b", Fraction(1)), ("c", Fraction(1))))
    answer = is_noise_optimal(problem(**parts, statistic=skewed))
    assert not answer.optimal and answer.witness.exponents == (2, 1, 0)


def test_adding_and_removing_respondents(problem) -> None:
    universe = Universe((Fraction(0), Fraction(1)), 0, 3)
    prior = IidPrior((Fraction(1, 2),) * 2, (Fraction(1, 4),) * 4)
    asked = problem(universe=universe, neighbours=AddRemoveOne(), prior=prior)
    answer = is_noise_optimal(asked)
    assert answer.theorem.startswith("SY Lemma 8") and answer.optimal == by_transport(stated(asked)).optimal


def test_a_witness_that_is_none_is_refused(problem) -> None:
    listed = stated(problem(2, (1, 1, 1)), "databases")
    with pytest.raises(Refuted, match="not private"):
        Witness(listed, (2, *[0] * 8), Fraction(0), Fraction(2))
    with pytest.raises(Refuted, match="no more than"):
        Witness(listed, (0,) * 9, Fraction(0), Fraction(2))
    with pytest.raises(Refuted, match="no neighbouring databases"):
        Witness(listed, (0,) * 9, Fraction(0), Fraction(4))


def test_bad_questions(problem) -> None:
    with pytest.raises(InputError, match="full support"):
        is_noise_optimal(problem(2, prior=IidPrior((Fraction(1), Fraction(0)))))
    with pytest.raises(TooLarge, match="respondents of 3 types"):
        is_noise_optimal(problem(10**6, (1, 1, 1), (0, 1, 5)))


PROBLEM = """
[data]
respondents = 2
values = [0, 1, 2]
[prior]
kind = "iid"
probabilities = ["1/3", "1/3", "1/3"]
[statistic]
kind = "sum"
[decision]
kind = "squared-error"
actions = "integer"
[privacy]
epsilon = 1.0
"""


def test_the_command_says_no_with_its_price(tmp_path: Path, capsys) -> None:
    file = tmp_path / "sum.toml"
    file.write_text(PROBLEM, encoding="utf-8")
    assert run(["noise", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["optimal"] is False and found["theorem"] == "SY Theorem 1"
    assert found["witness"]["log_odds_shift"] == pytest.approx(1.45283242526, abs=1e-11)
    assert found["price"]["at_least"] == pytest.approx(1.15329883373 - 1.12568051260, abs=1e-10)
    assert run(["noise", str(file)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("No:") and "price" in text and "1,1:0" in text


def test_the_command_says_yes(tmp_path: Path, capsys) -> None:
    file = tmp_path / "count.toml"
    text = PROBLEM.replace("[0, 1, 2]", "[0, 1]").replace('["1/3", "1/3", "1/3"]', "[0.3, 0.7]")
    file.write_text(text, encoding="utf-8")
    assert run(["noise", str(file)]) == 0
    assert capsys.readouterr().out.startswith("Yes:")
    assert run(["noise", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["price"]["at_most"] == 0


def test_the_command_refuses_a_prior_with_zeros(tmp_path: Path, capsys) -> None:
    file = tmp_path / "zero.toml"
    file.write_text(PROBLEM.replace('["1/3", "1/3", "1/3"]', "[0.5, 0.5, 0]"), encoding="utf-8")
    assert run(["noise", str(file)]) == 2
    assert "full support" in capsys.readouterr().err


def test_the_command_without_a_price(tmp_path: Path, capsys) -> None:
    file = tmp_path / "sum.toml"
    file.write_text(PROBLEM, encoding="utf-8")
    assert run(["noise", str(file), "--no-price", "--json"]) == 0
    assert "price" not in json.loads(capsys.readouterr().out)
