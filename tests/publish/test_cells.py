"""Totals from release folders: several releases, regions by keys and from files, and everything that is refused."""

from __future__ import annotations

import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from towns import Town, make_town, town_mechanism, write_files

from discreet.errors import DiscreetError, InputError, Refuted
from discreet.interpret.posteriors import posterior_after
from discreet.interpret.totals import total
from discreet.publish.cell_regions import by_keys, chosen, listed_regions, overlap
from discreet.publish.cells import published_cells
from discreet.publish.tables import released_table


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two draws of one commitment about the same three streets."""
    town = make_town(tmp_path_factory.mktemp("totals") / "town")
    return [town.publish(town.folder / name) for name in ("first", "second")]


def test_means_of_a_release_add_up(releases: list[Path]) -> None:
    table = released_table(releases[0])
    found = total(published_cells(releases[0]).beliefs, np.arange(3))
    assert found.mean == pytest.approx(table["posterior_mean"].sum())
    assert found.unbiased == pytest.approx(table["unbiased"].sum())
    assert found.published == pytest.approx(table["published"].astype(float).sum())


def test_two_draws_about_the_same_cells_are_read_together(releases: list[Path]) -> None:
    cells = published_cells(*releases)
    codes = [released_table(folder)["code"] for folder in releases]
    one = town_mechanism()
    truth = sum(posterior_after([(one, str(column[i])) for column in codes]).mean() for i in range(3))
    assert total(cells.beliefs, np.arange(3)).mean == pytest.approx(truth)


def test_a_draw_is_counted_once_however_it_is_named(releases: list[Path], tmp_path: Path) -> None:
    copy = tmp_path / "another name"
    shutil.copytree(releases[0], copy)
    for again in (releases[0], copy):
        with pytest.raises(InputError, match="same draw"):
            published_cells(releases[0], again)


def test_a_release_of_another_population_is_refused(releases: list[Path], tmp_path: Path) -> None:
    other = make_other(tmp_path / "other")
    with pytest.raises(InputError, match="different populations"):
        published_cells(releases[0], other)
    assert len(published_cells(other)) == 3


def make_other(folder: Path) -> Path:
    """The same streets in a ledger of another population."""
    from towns import PLAN, make_ledger

    from discreet.publish import commit

    town = Town(folder)
    write_files(folder, ((0, 1, 1, 0),) * 3, town_mechanism())
    town.plan.write_text(PLAN.format(protects="values").replace('"the town"', '"the village"'), encoding="utf-8")
    with make_ledger(folder, "pure", Fraction(2), Fraction(0), signed=False) as book:
        book.declare("the village", "person", Fraction(2), Fraction(0))
        commit(town.bundle(), book, None)
    return town.publish(signer=None)


def test_a_release_that_was_changed_is_not_added_up(releases: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(releases[0], folder)
    table = folder / "release.csv"
    lines = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join([lines[0], *reversed(lines[1:]), ""]), encoding="utf-8")
    with pytest.raises(Refuted, match="not as it was published"):
        published_cells(folder)


@pytest.mark.parametrize("broken", ["release.csv", "ledger.json", "manifest.json", "mechanism.json"])
def test_a_folder_that_lacks_something_is_refused_in_words(releases: list[Path], tmp_path: Path, broken: str) -> None:
    folder = tmp_path / "lacking"
    shutil.copytree(releases[0], folder)
    (folder / broken).unlink()
    with pytest.raises(DiscreetError):
        published_cells(folder)


def test_cells_are_chosen_by_their_keys(releases: list[Path]) -> None:
    cells = published_cells(releases[0])
    assert chosen(cells, []).tolist() == [0, 1, 2]
    assert chosen(cells, ["street=s0", "street = s2"]).tolist() == [0, 2]
    assert chosen(cells, ["street=s*"]).tolist() == [0, 1, 2]
    assert {name: at.tolist() for name, at in by_keys(cells, ["street"]).items()} == {"s0": [0], "s1": [1], "s2": [2]}


@pytest.mark.parametrize(
    ("where", "words"),
    [(["street=s9"], "No cell has this key"), (["road=s0"], "no such key"), (["s0"], "by their keys"), (["street=x*"], "No cell"),
     (["street=s["], "No cell")],
)  # fmt: skip
def test_a_choice_that_names_no_cell_is_refused(releases: list[Path], where: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        chosen(published_cells(releases[0]), where)


def test_a_star_that_is_a_key_is_that_key(releases: list[Path]) -> None:
    cells = published_cells(releases[0])
    starred = replace(cells, cells=(("*",), ("s1",), ("s[2]",)))
    assert chosen(starred, ["street=*"]).tolist() == [0]
    assert chosen(starred, ["street=s[*"]).tolist() == [2]


def regions_in(folder: Path, text: str) -> Path:
    place = folder / "regions.csv"
    place.write_text(text, encoding="utf-8")
    return place


def test_regions_come_from_a_file_and_may_overlap(releases: list[Path], tmp_path: Path) -> None:
    cells = published_cells(releases[0])
    found = listed_regions(cells, regions_in(tmp_path, "street,county\ns0,west\ns1,west\ns2,east\n"))
    assert {name: at.tolist() for name, at in found.items()} == {"west": [0, 1], "east": [2]} and not overlap(found)
    listed = regions_in(tmp_path, "street,county\ns0,west\ns1,west\ns2,east\n")
    assert {name: at.tolist() for name, at in listed_regions(cells, listed, np.array([1])).items()} == {"west": [1]}
    with pytest.raises(InputError, match="No region has a cell"):
        listed_regions(cells, regions_in(tmp_path, "street,county\ns0,west\n"), np.array([2]))
    assert overlap(listed_regions(cells, regions_in(tmp_path, "county,street\nwest,s0\neast,s0\n")))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("street,county\ns0,west\ns0,west\n", "twice in the region west"),
        ("street,county\ns0,west\ns9,west\n", "Line 3 .* names no cell"),
        ("street,county\ns0\n", "names no cell"),
        ("street,county\ns0,\n", "no region"),
        ("street,county\n", "lists no region"),
        ("street\ns0\n", "other columns"),
        ("street,a,b\ns0,x,y\n", "other columns"),
        ("", "other columns"),
        ('street,county\n"s0,west\n', "not a table"),
    ],
)
def test_a_file_that_is_no_file_of_regions_is_refused(releases: list[Path], tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        listed_regions(published_cells(releases[0]), regions_in(tmp_path, text))


def test_a_reader_may_bring_a_prior(releases: list[Path]) -> None:
    from discreet.model.priors import IidPrior

    other = published_cells(releases[0], believing=lambda _: IidPrior((Fraction(1, 10), Fraction(9, 10))))
    own = published_cells(releases[0])
    assert total(other.beliefs, np.arange(3)).mean > total(own.beliefs, np.arange(3)).mean + 1


def test_a_padded_cell_is_read_at_its_size(tmp_path: Path) -> None:
    """Cells of 2 and 3 that share a mechanism for up to 3: a cell of 2 cannot hold 3."""
    from discreet.design.questions.family import design_family
    from discreet.files.sizes import Sizes
    from discreet.publish.cells import prior_at

    family = design_family(town_mechanism(3).problem, Sizes(((2, 3),), {2: 1, 3: 1}), workers=1)
    member = family.family.members[0]
    universe = member.mechanism.problem.universe
    rows = universe.histograms()  # type: ignore[union-attr]
    weights = prior_at(member, 2).on_histograms(rows, universe)  # type: ignore[arg-type]
    assert {tuple(row): weights[i] for i, row in enumerate(rows.tolist())} == {
        (3, 0): Fraction(49, 100), (2, 1): Fraction(42, 100), (1, 2): Fraction(9, 100), (0, 3): 0,
    }  # fmt: skip
