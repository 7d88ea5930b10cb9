"""An urn of players re-proved: never above exact optima, at one with floats, strict about its witness."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from test_quotient import optimality_value, problem_of
from test_urn import over

from discreet.certify.bounds import urn_players as checker
from discreet.certify.bounds.urn import urn_of, urn_upper_bound
from discreet.certify.bounds.urn_players import chance_of_players, kept_share, urn_of_players, urn_players_upper_bound
from discreet.design.ladder.bounds import urn_players
from discreet.design.ladder.bounds.rungs import UrnAmongPlayers
from discreet.design.ladder.bounds.urn import urn_bound, urn_program
from discreet.design.ladder.bounds.urn_players import among, blocks_of, who_may_play
from discreet.design.ladder.rung import Found, Height
from discreet.design.program.listed import programmed
from discreet.design.schedule import counted
from discreet.design.units import Units
from discreet.errors import InputError, Refuted, TooLarge
from discreet.files.certificate import _witness, _witness_document
from discreet.files.schema import Witness, read_shape
from discreet.model.actions import ListedActions
from discreet.model.certificate import UrnPart, UrnPlayersWitness
from discreet.watch import SILENT

TYPES = (0, 1, 3)


def proposed(problem, types, blocks, weights=((0,), (1,), (2,))):
    """The float bound and its witness, every block with all of its states."""
    parts, total = [], 0.0
    for block in blocks:
        few = among(problem, types, block.first)
        reference = max(range(len(types)), key=lambda k: urn_of(few).contents[k])
        program = urn_program(urn_of(few), reference, weights, 1e-9, block.kept)
        found = urn_bound(few, program, 0.6 * program.whole * float(few.decision.weight), 600.0)
        parts.append(UrnPart(block.first, block.last, found.witness))
        total += block.chance * found.lower_bound
    return total, UrnPlayersWitness(types, tuple(parts))


@pytest.fixture(scope="module")
def example():
    """Six respondents of whom those with values 0, 1 and 4 play, two blocks of their number."""
    problem = over(["0.5", "0.2", "0.1", "0.2"], [0, 1, 2, 4], 6, concentration=5)
    blocks = [urn_players._block(first, last, 0.0, 2.5, 4.5) for first, last in ((3, 4), (5, 6))]
    chances = [float(chance_of_players(urn_of(problem), TYPES, block.first, block.last)) for block in blocks]
    blocks = [replace(block, chance=chance) for block, chance in zip(blocks, chances, strict=True)]
    return problem, *proposed(problem, TYPES, blocks)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), 2])
def test_never_above_the_optimum(example, epsilon):
    problem = example[0].with_epsilon(Fraction(epsilon))
    grid = ListedActions(tuple(Fraction(k, 2) for k in range(49)))
    listed = replace(problem, decisions=(replace(problem.decision, actions=grid),))
    best = -optimality_value(listed, programmed(listed, 1e-5))
    blocks = [replace(urn_players._block(m, n, 0.0, 2.5, 4.5), chance=float(chance_of_players(urn_of(problem), TYPES, m, n)))
              for m, n in ((3, 4), (5, 6))]  # fmt: skip
    floats, witness = proposed(problem, TYPES, blocks)
    certified = -float(urn_players_upper_bound(problem, witness))
    assert 0.5 * best < certified < best and math.isclose(certified, floats, rel_tol=1e-6)


def test_what_is_kept_of_a_loss_is_kept_for_every_number_of_players(example):
    """A witness for M players, as if it served M + 1 with nothing taken off, proves more than some exact optimum allows."""
    problem, _, witness = example
    urn = urn_of(problem)
    for part in witness.parts:
        for count in range(part.first + 1):
            ratios = [law(urn, TYPES, 0, m)[part.first - count] / law(urn, TYPES, 0, part.first)[part.first - count]
                      for m in range(part.first, part.last + 1)]  # fmt: skip
            exact = min(ratios)
            kept = kept_share(urn_of_players(urn, TYPES, 0, part.first), part, count)
            assert exact - Fraction(1, 1 << checker.KEPT_BITS) < kept <= exact
    assert kept_share(urn_of_players(urn, TYPES, 0, 3), witness.parts[0], 4) == 1


def law(urn, types, reference, players):
    """The probabilities that 0, 1, … of so many players have another type than the reference, by the urn itself."""
    contents = [urn.contents[t] for t in types]
    own, rest = contents[reference], sum(contents) - contents[reference]
    chances = [Fraction(1)]
    for drawn in range(players):
        following = [Fraction(0)] * (drawn + 2)
        for others, chance in enumerate(chances):
            whole = own + rest + drawn
            following[others] += chance * (own + drawn - others) / whole
            following[others + 1] += chance * (rest + others) / whole
        chances = following
    return chances


def test_the_chance_of_a_number_of_players_is_that_of_all_databases(example):
    problem, *_ = example
    urn = urn_of(problem)
    found = dict.fromkeys(range(7), Fraction(0))
    for database in product(range(4), repeat=6):
        chance, drawn = Fraction(1), [0] * 4
        for k, t in enumerate(database):
            chance *= (urn.contents[t] + drawn[t]) / (sum(urn.contents) + k)
            drawn[t] += 1
        found[sum(t in TYPES for t in database)] += chance
    assert all(chance_of_players(urn, TYPES, m, m) == chance for m, chance in found.items())
    assert chance_of_players(urn, TYPES, 2, 5) == sum(found[m] for m in range(2, 6))
    assert chance_of_players(urn, (0, 1, 2, 3), 6, 6) == 1


def test_when_all_play_it_is_the_urn_bound():
    problem = over(["0.5", "0.3", "0.2"], [0, 1, 4], 4, concentration=5)
    block = replace(urn_players._block(4, 4, 1.0, 2.5, 5.0))
    _, witness = proposed(problem, (0, 1, 2), [block])
    assert urn_players_upper_bound(problem, witness) == urn_upper_bound(problem, witness.parts[0].inner)


def test_a_witness_that_does_not_fit_is_refuted(example):
    problem, _, witness = example
    first, second = witness.parts
    heavy = replace(first.inner, weights=((1,), *first.inner.weights[1:]))
    for wrong in (
        replace(witness, types=(0, 1, 1)),
        replace(witness, types=(0, 1, 4)),
        replace(witness, parts=(second, first)),
        replace(witness, parts=(replace(first, last=5), second)),
        replace(witness, parts=(replace(first, first=0), second)),
        replace(witness, parts=(first, replace(second, last=7))),
        replace(witness, parts=(replace(first, last=2),)),
        replace(witness, parts=(replace(first, inner=heavy),)),
        replace(witness, parts=(replace(first, first=4),)),  # its nodes do not reach over the values of four
    ):
        with pytest.raises(Refuted):
            urn_players_upper_bound(problem, wrong)
    independent = problem_of(["0.5", "0.2", "0.1", "0.2"], [0, 1, 2, 4], 6)
    with pytest.raises(Refuted, match="condition"):
        urn_players_upper_bound(independent, witness)
    with pytest.raises(InputError, match="weigh all of its types"):
        replace(witness, types=(0, 1))


def test_respondents_beyond_number_are_refused(example, monkeypatch):
    monkeypatch.setattr(checker, "MOST_RESPONDENTS", 5)
    with pytest.raises(TooLarge):
        urn_players_upper_bound(example[0], example[2])


def test_a_witness_survives_its_file(example):
    _, _, witness = example
    document = json.loads(json.dumps(_witness_document(witness)))
    found = _witness(read_shape(Witness, document, "The witness"))
    assert isinstance(found, UrnPlayersWitness) and _witness_document(found) == document
    for key in ("types", "blocks", "each"):
        with pytest.raises(InputError, match=r"lacks"):
            _witness(read_shape(Witness, {k: v for k, v in document.items() if k != key}, "The witness"))
    with pytest.raises(InputError, match=r"for each of its blocks"):
        _witness(read_shape(Witness, document | {"blocks": document["blocks"][:1]}, "The witness"))


def test_blocks_share_out_the_likely_numbers_of_players():
    problem = over(["0.8", "0.1", "0.05", "0.03", "0.015", "0.005"], list(range(6)), 50)
    assert who_may_play(problem) == [(0, 3, 4, 5), (0, 2, 3, 4, 5), (0, 4, 5)]
    blocks = blocks_of(problem, (0, 3, 4, 5))
    assert blocks[-1].last == 50 and all(a.last + 1 == b.first for a, b in pairwise(blocks))
    exact = chance_of_players(urn_of(problem), (0, 3, 4, 5), blocks[0].first, 50)
    assert math.isclose(sum(block.chance for block in blocks), float(exact), rel_tol=1e-9)
    assert all(block.held >= 0.9 and block.kept.max() == 1.0 and len(block.kept) == block.first + 1 for block in blocks)
    assert np.all(blocks[0].kept > 0)


def test_the_ladder_climbs_it_and_it_is_certified():
    problem = over(["0.6", "0.2", "0.1", "0.1"], [0, 1, 2, 4], 12)
    with counted():
        height = Height(problem, 1e-3, SILENT)
        height.take(Found(loss=13.0, lower_bound=1.0))
        found = UrnAmongPlayers().climb(height, 6.0)
        assert UrnAmongPlayers().climb(height, 6.0) is None, "nobody else may play"
    assert found.witness.types == (0, 2, 3)
    assert math.isclose(-float(urn_players_upper_bound(problem, found.witness)), found.lower_bound, rel_tol=1e-6)
    assert UrnAmongPlayers().why_not(problem) is None
    assert UrnAmongPlayers().why_not(problem_of(["0.7", "0.2", "0.1"], [0, 1, 3], 8)) is not None


def test_a_witness_in_other_units_proves_the_same():
    values = [1 + Fraction(v, 10**6) for v in (0, 1, 2, 4)]
    problem = over(["0.5", "0.2", "0.1", "0.2"], values, 6, concentration=5)
    units = Units.of(problem)
    assert units.unit != 1 and units.origin
    block = replace(urn_players._block(5, 6, 0.0, 2.5, 4.5), chance=0.7)
    _, witness = proposed(units.inner, TYPES, [block])
    told = urn_players_upper_bound(problem, units._witness(witness))
    assert told < 0 and math.isclose(told, urn_players_upper_bound(units.inner, witness), rel_tol=1e-9)
    assert not math.isclose(urn_players_upper_bound(problem, witness), told, rel_tol=1e-3)
