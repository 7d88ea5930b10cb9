"""What a problem says about its own parts."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from random_worlds import listed_world, problem_of, random_world

from discreet.errors import InputError
from discreet.model.actions import NamedActions, RealActions
from discreet.model.decision import Decision
from discreet.model.losses import FormulaLoss, SquaredLoss
from discreet.model.priors import IidPrior, TablePrior, on_names
from discreet.model.promises import ConcentratedPromise


def test_people_are_the_universe_where_there_are_any() -> None:
    universe, neighbours, _ = random_world(random.Random(1))
    assert problem_of(universe, neighbours, Fraction(1)).people is universe


def test_databases_listed_by_name_have_no_people() -> None:
    listed, graph = listed_world(random.Random(2))
    with pytest.raises(InputError, match="respondents with types"):
        _ = problem_of(listed, graph, Fraction(1)).people


@pytest.mark.parametrize("part", ["distance", "formula", "interval", "listed", "choices"])
def test_a_part_of_another_kind_is_refused_in_words(part: str) -> None:
    """Whoever serves one kind of decision gets that part typed, or an error with what was found and what is served."""
    squared = Decision(SquaredLoss(), RealActions())
    named = Decision(FormulaLoss("omega"), NamedActions(("stay", "go")))
    other = {"distance": named, "formula": squared, "interval": named, "listed": squared, "choices": squared}[part]
    same = {"distance": squared, "formula": named, "interval": squared, "choices": named}.get(part)
    assert same is None or getattr(same, part) in (same.loss, same.actions)
    with pytest.raises(InputError, match="of another kind") as refused:
        getattr(other, part)
    assert refused.value.found and refused.value.allowed and refused.value.remedy


def test_all_real_numbers_have_no_ends() -> None:
    assert RealActions(Fraction(1), Fraction(2)).ends == (1, 2)
    with pytest.raises(InputError, match="a range of actions"):
        _ = RealActions().ends


def test_a_promise_of_one_kind_has_no_number_of_another() -> None:
    universe, neighbours, _ = random_world(random.Random(1))
    pure = problem_of(universe, neighbours, Fraction(1))
    assert pure.with_promise(ConcentratedPromise(Fraction(1, 2))).rho == Fraction(1, 2)
    with pytest.raises(InputError, match="a promise of ρ"):
        _ = pure.rho


def test_names_have_probabilities_in_a_table_alone() -> None:
    listed, _ = listed_world(random.Random(2))
    half = Fraction(1, 2)
    table = TablePrior(((listed.names[0], half), (listed.names[1], half)))
    assert on_names(table, listed).floats()[:2].tolist() == [0.5, 0.5]
    with pytest.raises(InputError, match="a prior that lists them"):
        on_names(IidPrior((half, half)), listed)
