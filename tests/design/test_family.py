"""Families: members that prove themselves, padded buckets at their true size, the cache, the file."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from design_worlds import document, loss_table, optimum, problem, school, world

import discreet
from discreet import files
from discreet.certify import privacy
from discreet.certify.optimality import optimality
from discreet.certify.verdict import of_family
from discreet.design.crew import side_by_side
from discreet.design.processes import kept as cache
from discreet.design.questions.family import FamilyDesign, design_family
from discreet.errors import InputError
from discreet.files.family import family_document, family_from_document
from discreet.files.sizes import read_sizes, sizes_from_text
from discreet.model.certificate import Certificate, OptimalityClaim
from discreet.model.family import Family, Member
from discreet.model.gaussian_kernel import GaussianKernel
from discreet.model.sizes import at_size, filled_up, padded, resized

VERIFIER = Path(discreet.__file__).parent / "verify_standalone.py"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="module")
def made(kept: Path) -> FamilyDesign:
    return design_family(problem(school(3)), sizes_from_text("1..4, 5-7"), folder=kept, workers=2)


def verified(mechanism: Path) -> int:
    """The exit code of the verifier that knows nothing of ours."""
    return subprocess.run([sys.executable, str(VERIFIER), str(mechanism)], capture_output=True, check=False).returncode


def test_every_member_proves_itself(made: FamilyDesign, tmp_path: Path) -> None:
    assert made.family.words == "1..4, 5-7" and made.share_within(1e-6) == 1.0
    for member in made.family.members:
        path = tmp_path / f"{member.high}.mechanism.json"
        files.write_mechanism(path, member.mechanism)
        assert verified(path) == 0
        assert member.certificate.optimality is not None
        assert isinstance(privacy(member.mechanism), Certificate)
        assert isinstance(optimality(member.mechanism, member.certificate.optimality), OptimalityClaim)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_member_is_the_best_mechanism_for_its_size(made: FamilyDesign, size: int) -> None:
    doc = school(size)
    states = world(doc, histograms=True)
    best = optimum(states, loss_table(doc, states.omegas), 1.0)
    value = made.family.member(size).value_at(size)
    assert value is not None and -float(value) == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize("size", [5, 6, 7])
def test_the_loss_of_a_bucket_at_the_true_size_by_brute_force(made: FamilyDesign, size: int) -> None:
    member = made.family.member(size)
    assert member.padded and member.absent == 0
    mechanism, doc = member.mechanism, school(size)
    true = world(doc, histograms=True)
    places = mechanism.states_of(np.array([member.histogram(h) for h in true.states]))
    actions = np.array([float(o.action) for o in mechanism.outputs])  # type: ignore[arg-type]
    errors = (actions[:, None] - np.array([float(w) for w in true.omegas])[None, :]) ** 2
    loss = float((true.prior * (mechanism.probabilities[:, places] * errors).sum(axis=0)).sum())
    value = member.value_at(size)
    assert value is not None and -float(value) == pytest.approx(loss, rel=1e-9)
    # a mechanism that knows the true size is at least as good
    assert optimum(true, loss_table(doc, true.omegas), 1.0) <= loss + 1e-9


def test_sharing_a_type_with_absent_places_loses_nothing() -> None:
    """Optimum with `absent` as a fourth type of value 0 = optimum when it is merged with type 0."""
    apart = document(3, (0, 1, 2, 0), (".712", ".072", ".016", ".2"))
    merged = document(3, (0, 1, 2), (".912", ".072", ".016"))
    bests = []
    for doc in (apart, merged):
        states = world(doc, histograms=True)
        bests.append(optimum(states, loss_table(doc, states.omegas), 1.0))
    assert bests[0] == pytest.approx(bests[1], rel=1e-7)
    # near miss: types that the statistic tells apart may not be merged
    wrong = document(3, (0, 1, 2), (".712", ".072", ".216"))
    states = world(wrong, histograms=True)
    assert optimum(states, loss_table(wrong, states.omegas), 1.0) > 1.01 * bests[0]


def test_absent_is_a_type_of_its_own_where_every_type_counts(tmp_path: Path) -> None:
    ours = problem(document(2, (1, 2), (".6", ".4")))
    found = design_family(ours, sizes_from_text("1-3"), folder=tmp_path, workers=1)
    member = found.family.member(2)
    assert member.absent == 2 and member.histogram((1, 1)) == (1, 1, 1)
    assert member.mechanism.problem.universe.values[-1] == 0  # type: ignore[union-attr]
    assert len(member.values) == 3


def test_a_replacement_in_a_padded_cell_is_a_replacement_or_a_join() -> None:
    """Histograms of cells that differ in one respondent, or by one respondent, are equal or adjacent when padded."""
    for first, second in product(range(4), repeat=2):
        a = filled_up((first, 3 - first), 5, 2)
        b = filled_up((second, 3 - second), 5, 2)
        c = filled_up((first, 3 - first + 1), 5, 2)
        assert sum(a) == sum(b) == sum(c) == 5
        assert sum(abs(x - y) for x, y in zip(a, b, strict=True)) == 2 * abs(first - second)
        assert sum(abs(x - y) for x, y in zip(a, c, strict=True)) == 2


def test_the_prior_at_the_true_size_sums_to_one_over_cells_of_that_size() -> None:
    ours = problem(school(3))
    bucket = padded(ours, 5, Fraction(1, 5))
    prior = at_size(bucket, 0, Fraction(1, 5), 4).prior
    table = prior.table  # type: ignore[union-attr]
    assert sum(table.values()) == 1 and all(sum(h) == 5 and h[0] >= 1 for h in table)


def test_kept_members_are_taken_again_and_damage_is_repaired(made: FamilyDesign, kept: Path) -> None:
    again = design_family(problem(school(3)), sizes_from_text("1..4, 5-7"), folder=kept, workers=1)
    assert all(how.cached for how in again.made)
    assert files.family_hash(again.family) == files.family_hash(made.family)
    path = kept / f"{cache.key(resized(problem(school(3)), 2), 1e-6)}.json"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    third = design_family(problem(school(3)), [2, 3], folder=kept, workers=1)
    assert [how.cached for how in third.made] == [False, True]


def test_a_family_is_the_same_where_no_process_can_be_had(
    made: FamilyDesign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The adversary: a machine that gives no second process."""

    def none(_: int) -> NoReturn:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(side_by_side, "_hired", none)
    alone = design_family(problem(school(3)), sizes_from_text("1..4, 5-7"), folder=tmp_path, workers=2)
    assert family_document(alone.family) == family_document(made.family)


def test_a_kept_design_that_is_not_private_is_not_believed(tmp_path: Path) -> None:
    small = problem(school(2))
    cache.kept_design(small, tmp_path)
    path = next(tmp_path.iterdir())
    document = json.loads(path.read_text())
    weights = document["mechanism"]["kernel"]["weights"]
    whole = int(document["mechanism"]["kernel"]["denominator"])
    for state in range(len(weights[0])):
        for output in range(len(weights)):
            weights[output][state] = str(whole) if output == state % len(weights) else "0"
    path.write_text(json.dumps(document, sort_keys=True, separators=(",", ":")))
    assert not cache.kept_design(small, tmp_path).cached


def test_a_search_with_more_time_looks_again(tmp_path: Path) -> None:
    small = problem(school(3))
    assert not cache.kept_design(small, tmp_path, seconds=0.0).cached
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "READING", 10**12)  # as a file that takes more memory to read than is allowed
        assert not cache.kept_design(small, tmp_path, seconds=0.0).cached
    assert cache.kept_design(small, tmp_path, seconds=0.0).cached
    found = cache.kept_design(small, tmp_path, seconds=30.0)
    assert found.relative_gap <= 1e-6


def test_settings_and_problems_are_kept_apart() -> None:
    first, second = problem(school(3)), problem(school(4))
    assert len({cache.key(first, 1e-6), cache.key(first, 1e-5), cache.key(second, 1e-6)}) == 3


class Impatient:
    """Wants to stop once three members are done."""

    done = False

    def report(self, *, stage: str, **others: object) -> None:
        self.done = self.done or stage == "member 3 of 5"

    def cancelled(self) -> bool:
        return self.done


def test_a_run_that_is_stopped_leaves_sizes_missing_and_the_next_goes_on(tmp_path: Path) -> None:
    ours = problem(school(3))
    first = design_family(ours, range(1, 6), Impatient(), folder=tmp_path, workers=1)
    assert first.missing == ((1, 1), (2, 2)) and len(first.made) == 3
    second = design_family(ours, range(1, 6), folder=tmp_path, workers=1)
    assert not second.missing and [how.cached for how in second.made] == [False, False, True, True, True]
    with pytest.raises(InputError, match="No member of the family was finished"):
        design_family(ours, range(1, 6), folder=tmp_path, workers=1, limit=-1.0)


def test_the_file_is_canonical_and_swapped_certificates_are_refuted(made: FamilyDesign, tmp_path: Path) -> None:
    path = tmp_path / "places.family.json"
    digest = files.write_family(path, made.family)
    read = files.read_family(path)
    assert files.family_hash(read) == digest and read.words == made.family.words
    assert read.member(6).value_at(6) == made.family.member(6).value_at(6)
    document = family_document(made.family)
    first, second = document["members"][:2]
    first["certificate"], second["certificate"] = second["certificate"], first["certificate"]
    found = of_family(family_from_document(document), digest).counterexample
    assert found is not None and found.words == "The certificate belongs to another mechanism"


def test_a_family_refuses_overlaps_and_unknown_sizes(made: FamilyDesign) -> None:
    one = made.family.member(2)
    with pytest.raises(InputError, match="overlap"):
        Family((one, one))
    with pytest.raises(InputError, match="serves no cell of this size"):
        made.family.member(8)
    with pytest.raises(InputError, match="other sizes than its mechanism"):
        Member(3, 3, one.mechanism, one.certificate, ())
    with pytest.raises(InputError, match="absent"):
        Member(1, 2, one.mechanism, one.certificate, ())
    with pytest.raises(InputError, match="does not serve"):
        made.family.member(6).histogram((1, 1, 1))


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        ("12", ((12, 12),)),
        ("3..5", ((3, 3), (4, 4), (5, 5))),
        ("21-30\n7 # one block\n7\n", ((7, 7), (21, 30))),
        ("25, 21-30, 25", ((21, 30),)),
    ],
)
def test_sizes_as_people_write_them(text: str, ranges: tuple[tuple[int, int], ...]) -> None:
    assert sizes_from_text(text).ranges == ranges


@pytest.mark.parametrize("text", ["", "# nothing", "0", "5..x", "-3", "9-5", "1-4, 3-6", "1..2000000"])
def test_other_sizes_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        sizes_from_text(text)


def test_repeated_sizes_count_cells(tmp_path: Path) -> None:
    path = tmp_path / "sizes.txt"
    path.write_text("2\n2\n3\n", encoding="utf-8")
    sizes = read_sizes(path)
    assert sizes.cells == {2: 2, 3: 1}
    found = design_family(problem(school(3)), sizes, folder=tmp_path / "kept", workers=1)
    two, three = (-float(found.family.member(n).values[0][1]) for n in (2, 3))
    assert found.loss_per_cell == pytest.approx((2 * two + three) / 3)


def test_problems_about_one_size_are_refused() -> None:
    tied = problem(document(2, prior={"kind": "exchangeable", "histogram": {"2,0,0": "1/2", "1,1,0": "1/2"}}))
    with pytest.raises(InputError, match="does not carry over"):
        resized(tied, 3)
    with pytest.raises(InputError, match="cannot be padded"):
        padded(problem(document(2, statistic="mean")), 3, Fraction(1, 3))


def test_integer_actions_follow_the_size_and_given_actions_stay() -> None:
    assert len(resized(problem(school(3)), 5).decision.actions) == 11  # type: ignore[arg-type]
    given = document(2, decision={"kind": "squared-error", "actions": [0, 1]})
    assert len(resized(problem(given), 5).decision.actions) == 2  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_family_over_30_sizes_verifies_standalone(tmp_path: Path) -> None:
    found = design_family(problem(school(40)), range(1, 31), folder=tmp_path / "kept", gap=1e-5, seconds=1e6, workers=2)
    assert [m.high for m in found.family.members] == list(range(1, 31))
    assert found.share_within(1e-4) == 1.0
    path = tmp_path / "places.family.json"
    files.write_family(path, found.family)
    for member in files.read_family(path).members:
        each = tmp_path / "one.mechanism.json"
        files.write_mechanism(each, member.mechanism)
        assert verified(each) == 0


def test_sizes_of_a_range_count_once_each(tmp_path: Path) -> None:
    """Seen: a family of ranges alone had no loss per cell, and as JSON ended as a defect."""
    found = design_family(problem(school(3)), sizes_from_text("2-3"), folder=tmp_path / "kept", workers=1)
    two, three = (-float(found.family.member(n).value_at(n) or 0) for n in (2, 3))
    assert found.loss_per_cell == pytest.approx((two + three) / 2)


def test_real_actions_of_large_values_carry_over_to_other_sizes() -> None:
    """Seen: incomes up to a million ended, after the search, in too many whole numbers to list, though actions were real."""
    incomes = (0, 12345, 45678, 99999, 1_000_000)
    wide = problem(document(60, incomes, ["1/5"] * 5, {"kind": "squared-error", "actions": "real"}))
    assert resized(wide, 30).decisions == wide.decisions


def test_a_padded_member_under_rho_that_had_no_time_is_noise_and_proves_itself() -> None:
    """The adversary is a slow machine: what is left is discrete Gaussian noise, whose probabilities no table holds."""
    asked = problem({**school(3), "privacy": {"rho": "1/2", "unit": "household"}})
    made = design_family(asked, sizes_from_text("3-6"), seconds=1e-9, workers=1)
    (member,) = made.family.members
    assert isinstance(member.mechanism.kernel, GaussianKernel)
    found = of_family(made.family, "")
    assert found.counterexample is None and not found.not_proved
    assert member.values and all(value < 0 for _, value in member.values)
    false = replace(made.family, members=(replace(member, values=tuple((n, v + 1) for n, v in member.values)),))
    assert of_family(false, "").counterexample is not None
