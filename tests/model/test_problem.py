"""What a problem says about its own parts."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from random_worlds import listed_world, problem_of, random_world

from discreet.errors import InputError


def test_people_are_the_universe_where_there_are_any() -> None:
    universe, neighbours, _ = random_world(random.Random(1))
    assert problem_of(universe, neighbours, Fraction(1)).people is universe


def test_databases_listed_by_name_have_no_people() -> None:
    listed, graph = listed_world(random.Random(2))
    with pytest.raises(InputError, match="respondents with types"):
        _ = problem_of(listed, graph, Fraction(1)).people
