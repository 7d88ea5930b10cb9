"""Levels from plans to releases to one answer, and what does not nest."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from counties import county_family, plan_counties, released_levels

from discreet.errors import InputError
from discreet.files.plan import read_plan
from discreet.model.promises import ConcentratedPromise
from discreet.publish import gather, released_table
from discreet.publish.levels import add_up_in_a_batch, level_plans, levelled_cells
from discreet.views.levels import plans_view
from discreet.views.view import Sentence


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return released_levels(tmp_path_factory.mktemp("levels") / "town")


def test_both_levels_are_one_answer_that_adds_up(releases: list[Path]) -> None:
    found = levelled_cells(*reversed(releases))  # in any order
    assert found.columns == (("county", "street"), ("county",)) and found.sizes.tolist() == [4, 4, 4, 8, 4]
    for column in (found.mean, found.whole, found.least_squares):
        assert column[3] == pytest.approx(column[0] + column[1]) and column[4] == pytest.approx(column[2])
    assert (found.whole >= 0).all() and (found.whole == np.rint(found.whole)).all()
    assert found.alone[:3] == pytest.approx(released_table(releases[0])["posterior_mean"])
    # knowing more narrows on average alone: an unlucky draw may widen a cell, but never beyond what its size allows
    assert ((found.standard_deviation >= 0) & (found.standard_deviation <= found.sizes / 2 + 1e-9)).all()


def test_the_plan_above_holds_what_the_plan_holds(releases: list[Path]) -> None:
    town = releases[0].parent
    below, above = read_plan(town / "plan.toml"), read_plan(town / "above" / "county.toml")
    assert above.keys == ("county",) and above.recoding == below.recoding and above.unit == below.unit
    assert (town / "above" / "county.csv").read_text(encoding="utf-8") == "county,size\nwest,8\neast,4\n"


def test_a_plan_named_from_its_own_folder_leads_to_the_same_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever stands beside the plan types `levels plan plan.toml -o above`: the plan above found no source, once committed."""
    folder = tmp_path / "town"
    plan_counties(folder)
    family = county_family(folder)
    monkeypatch.chdir(folder)
    above = level_plans("plan.toml", [(["county"], family.name)], "above")[0]
    assert Path(gather(above).plan.source.location).samefile(folder / "people.csv")


def test_levels_under_rho_are_committed_one_by_one(tmp_path: Path) -> None:
    """ρ adds up in the ledger; a batch of releases that promise only ρ is refused, so nobody is sent there."""
    from towns import town_mechanism

    from discreet import files
    from discreet.design import design

    pure = town_mechanism(4)
    rho = design(pure.problem.with_promise(ConcentratedPromise(Fraction(1, 4))), compare=False, gap=0.1).mechanism
    for name, mechanism in (("pure", pure), ("rho", rho)):
        files.write_mechanism(tmp_path / name, mechanism)
    assert add_up_in_a_batch([str(tmp_path / "pure")]) and not add_up_in_a_batch([str(tmp_path / "pure"), str(tmp_path / "rho")])
    shown = plans_view([Path("above.toml")], Path("plan.toml"), together=False).told[1:]
    assert shown == tuple(Sentence(f"Next: discreet commit {name}.toml", whole=True) for name in ("plan", "above"))


@pytest.mark.parametrize("keys", [[], ["county", "street"], ["land"], ["county", "county"]])
def test_a_level_above_has_some_of_the_keys(tmp_path: Path, keys: list[str]) -> None:
    plan = plan_counties(tmp_path / "town")[0]
    with pytest.raises(InputError, match="some of the plan's keys"):
        level_plans(plan, [(keys, "yes.mechanism.json")], tmp_path / "above")
    assert not (tmp_path / "above").exists()


def test_a_level_whose_mechanism_does_not_fit_is_refused_before_anything(tmp_path: Path) -> None:
    """No mechanism for the counties' sizes; one that reads more than the total."""
    from towns import town_mechanism

    from discreet import files
    from discreet.files.problem import problem_from_document
    from discreet.files.problem_document import problem_document
    from discreet.mechanisms.geometric import geometric_mechanism
    from discreet.model.summary import LinearSummary

    folder = tmp_path / "town"
    plan = plan_counties(folder)[0]
    with pytest.raises(InputError, match="size that no mechanism is for"):
        level_plans(plan, [(["county"], str(folder / "yes.mechanism.json"))], tmp_path / "above")
    document = problem_document(town_mechanism(12).problem)
    three = {"data": {"respondents": 12, "values": [0, 1, 3]}, "prior": {"kind": "iid", "probabilities": ["1/2", "1/4", "1/4"]}}
    other = geometric_mechanism(problem_from_document(document | three), LinearSummary((0, 1, 1)))
    files.write_mechanism(folder / "other.mechanism.json", other)
    (folder / "streets.csv").write_text("county,street,size\nwest,s0,4\nwest,s1,4\nwest,s2,4\n", encoding="utf-8")
    with pytest.raises(InputError, match="reads more than the total"):
        level_plans(plan, [(["county"], str(folder / "other.mechanism.json"))], tmp_path / "above")
    assert not (tmp_path / "above").exists()


def test_what_are_no_levels_is_refused(releases: list[Path]) -> None:
    with pytest.raises(InputError, match="one has more keys"):
        levelled_cells(releases[0])
    with pytest.raises(InputError, match="same draw"):
        levelled_cells(*releases, releases[1])


def test_cells_that_do_not_add_up_are_refused(releases: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from discreet.publish import levels
    from discreet.publish.cells import released_draws

    def other(folder: str | Path) -> object:
        read = released_draws(folder)
        if "county" in Path(folder).name:
            sizes = tuple(9 if size == 8 else size for size in read.key_set.sizes)
            return replace(read, key_set=replace(read.key_set, sizes=sizes))
        return read

    monkeypatch.setattr(levels, "released_draws", other)
    with pytest.raises(InputError, match=r"do not nest.*size 9, its cells 8"):
        levelled_cells(*releases)
