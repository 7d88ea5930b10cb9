"""Sizes that begin at one point: the same in any order and company, proved as ever, and nothing shared that does not fit."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from design_worlds import problem, school

from discreet.certify import privacy
from discreet.certify.optimality import optimality
from discreet.design.best_mechanism import design
from discreet.design.program import halfway
from discreet.design.program.halfway import begun_near
from discreet.design.program.listed import SolvedSection
from discreet.design.program.sections import ground, losses, recommendations
from discreet.design.questions.family import FamilyDesign, _between, design_family
from discreet.design.solver.pricing import solve_priced
from discreet.files.sizes import sizes_from_text
from discreet.model.certificate import Certificate, OptimalityClaim
from discreet.model.problem import Problem
from discreet.watch import SILENT, Watch

GAP = 1e-3


def of(size: int) -> Problem:
    return problem(school(size))


@pytest.fixture(scope="module")
def block(tmp_path_factory: pytest.TempPathFactory) -> FamilyDesign:
    return design_family(of(20), range(16, 21), gap=GAP, folder=tmp_path_factory.mktemp("block"), workers=1)


def test_a_member_of_a_block_is_the_same_in_any_company(block: FamilyDesign, tmp_path: Path) -> None:
    """Also on other workers, from the largest on, after others, and when some of its block are there already."""
    halfway._kept.clear()
    first = design_family(of(20), [18, 30], gap=GAP, folder=tmp_path, workers=1)
    wider = design_family(of(25), range(15, 26), gap=GAP, folder=tmp_path, workers=2)
    for size in (16, 17, 19, 20):
        one, two = block.family.member(size), wider.family.member(size)
        assert one.mechanism == two.mechanism and one.certificate == two.certificate
    assert wider.made[18 - 15].cached and first.family.member(18).mechanism == wider.family.member(18).mechanism


def test_members_of_a_block_prove_themselves_and_are_as_good_as_alone(block: FamilyDesign) -> None:
    assert block.share_within(GAP) == 1.0
    for member in block.family.members:
        assert isinstance(privacy(member.mechanism), Certificate)
        claim = member.certificate.optimality
        assert claim is not None and isinstance(optimality(member.mechanism, claim), OptimalityClaim)
    alone = design(of(19), gap=GAP, compare=False)
    value = block.family.member(19).value_at(19)
    assert value is not None and abs(float(value - alone.value)) <= 2 * GAP * abs(float(alone.value))


def test_only_blocks_that_are_asked_for_whole_begin_together(tmp_path: Path) -> None:
    assert set(_between(sizes_from_text("1..27, 29"))) == set(range(16, 26))
    assert _between(sizes_from_text("16..20"))[20] == 18
    assert not _between(sizes_from_text("16-20, 21..24, 26"))
    lone = design_family(of(20), [19], gap=GAP, folder=tmp_path, workers=1)
    assert lone.family.member(19).mechanism.kernel == design(of(19), gap=GAP, compare=False).mechanism.kernel


def other_prior(near: Problem) -> Problem:
    return replace(near, prior=replace(near.prior, probabilities=(Fraction(4, 5), Fraction(1, 10), Fraction(1, 10))))  # type: ignore[call-arg]


def other_promise(near: Problem) -> Problem:
    return near.with_level(Fraction(1, 2))


def other_values(near: Problem) -> Problem:
    return replace(near, universe=replace(near.people, values=(Fraction(0), Fraction(2), Fraction(1))))


def other_weight(near: Problem) -> Problem:
    return replace(near, decisions=(replace(near.decision, weight=Fraction(2)),))


@pytest.mark.parametrize("other", [other_prior, other_promise, other_values, other_weight])
def test_what_is_another_question_is_no_beginning(other: object) -> None:
    near = of(18)
    assert begun_near(near, ground(of(19)), GAP, SILENT) is not None
    assert begun_near(other(near), ground(of(19)), GAP, SILENT) is None  # type: ignore[operator]


def test_sizes_too_far_apart_begin_alone() -> None:
    """Beyond its ends a box has no rest left: nothing is clipped there into place."""
    assert begun_near(of(40), ground(of(5)), GAP, SILENT) is None


def test_a_beginning_halves_the_steps_and_the_bound_stands_on_its_own() -> None:
    base = ground(of(19))
    table = losses(base.problem, recommendations(base.problem), base.exact_omegas)
    given = begun_near(of(18), base, GAP, SILENT)
    assert given is not None
    section, beginning = given
    begun = SolvedSection.by(section, table, lambda program, _: solve_priced(program, 0.6 * GAP, beginning=beginning))
    alone = SolvedSection.by(section, table, lambda program, _: solve_priced(program, 0.6 * GAP))
    assert begun.solution.iterations < alone.solution.iterations
    assert np.isclose(begun.value, alone.value, rtol=2 * GAP) and begun.solution.bound <= alone.value


class Stopped(Watch):
    """Somebody who wants to stop at once."""

    def report(self, **told: object) -> None:
        """Nothing."""

    def cancelled(self) -> bool:
        return True


def test_a_call_to_stop_shares_nothing_and_is_not_remembered() -> None:
    halfway._kept.clear()
    assert begun_near(of(23), ground(of(24)), GAP, Stopped()) is None and not halfway._kept
