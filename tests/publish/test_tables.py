"""The published table: Parquet and CSV agree, readings are those of `interpret`, the unbiased column is unbiased."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from towns import Town, make_town, town_mechanism

import discreet
from discreet.engines.writer import read_parquet, write_parquet
from discreet.errors import InputError
from discreet.interpret import posterior
from discreet.model.kernel import GeometricKernel
from discreet.model.key_set import KeySet
from discreet.model.mechanism import Mechanism
from discreet.publish import gather
from discreet.publish.folder import key_set_bytes, key_set_in
from discreet.publish.spreadsheets import armed, csv_text, disarmed, disarmed_1
from discreet.publish.tables import ADDING, LEVEL, columns_of, csv_bytes, restated


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    made = make_town(tmp_path_factory.mktemp("tables") / "town")
    made.publish()
    return made


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "release.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_parquet_and_csv_agree(town: Town) -> None:
    parquet = read_parquet(town.target / "release.parquet")
    listed = rows(town.target)
    assert list(parquet) == list(listed[0])
    for name, column in parquet.items():
        texts = [row[name] for row in listed]
        if column.dtype.kind == "f":
            assert np.allclose(column, [float(text) for text in texts], rtol=1e-9)
        else:
            assert [str(x) for x in column.tolist()] == texts


def test_keys_sizes_and_actions_are_as_committed(town: Town) -> None:
    for row, street in zip(rows(town.target), ("s0", "s1", "s2"), strict=True):
        assert row["street"] == street and row["size"] == "4"
        assert row["published"] in "01234"


def test_readings_are_posteriors_under_the_designers_prior() -> None:
    mechanism = town_mechanism()
    count = len(mechanism.outputs)
    columns = columns_of(_cells(count), {4: mechanism}, np.arange(count))
    for i, output in enumerate(mechanism.outputs):
        belief = posterior(mechanism, output.label)
        values = np.array([float(v) for v in belief.values])
        weights = np.asarray(belief.probabilities)
        assert columns["posterior_mean"][i] == pytest.approx(float(values @ weights), rel=1e-9)
        low, high = columns[f"interval_low_{LEVEL:g}"][i], columns[f"interval_high_{LEVEL:g}"][i]
        assert weights[(values >= low) & (values <= high)].sum() >= LEVEL - 1e-12
        assert weights[values < low].sum() <= (1 - LEVEL) / 2 + 1e-12
        assert weights[values > high].sum() <= (1 - LEVEL) / 2 + 1e-12


def test_the_unbiased_column_is_unbiased_at_every_state() -> None:
    mechanism = town_mechanism()
    count = len(mechanism.outputs)
    columns = columns_of(_cells(count), {4: mechanism}, np.arange(count))
    assert columns["unbiased"] @ mechanism.probabilities == pytest.approx(np.arange(5.0), abs=1e-9)


def test_a_proxy_has_no_unbiased_column() -> None:
    """The near-miss: noise on how many have any child says nothing unbiased about the number of children."""
    from discreet.mechanisms.geometric import geometric_mechanism
    from discreet.model.summary import LinearSummary

    problem = discreet.problem(respondents=4, values=[0, 1, 2], probabilities=["0.89", "0.09", "0.02"], epsilon="1").problem
    mechanism = geometric_mechanism(problem, LinearSummary((0, 1, 1)))
    assert "unbiased" not in columns_of(_cells(5), {4: mechanism}, np.arange(5))


def weighted_sum() -> Mechanism:
    """Noise on 10·(how many have any child), read as the number of children."""
    from discreet.mechanisms.geometric import geometric_mechanism
    from discreet.model.summary import LinearSummary

    problem = discreet.problem(
        respondents=4, values=[0, 1, 2], probabilities=["0.89", "0.09", "0.02"], actions="real", epsilon="1"
    ).problem
    made = geometric_mechanism(problem, LinearSummary((0, 10, 10)))
    assert isinstance(made.kernel, GeometricKernel)
    actions = tuple(Fraction(k, 8) for k in range(len(made.outputs)))
    return replace(made, kernel=replace(made.kernel, actions=actions))


def test_published_is_in_the_units_of_the_statistic_and_codes_stand_beside_it() -> None:
    """A cell of four with at most eight children must not show the total 40 of its weighted sum as published."""
    mechanism = weighted_sum()
    count = len(mechanism.outputs)
    columns = columns_of(_cells(count), {4: mechanism}, np.arange(count))
    assert columns["published"].dtype.kind == "f" and columns["published"].max() <= 8
    assert columns["published"].sum() == pytest.approx(sum(k / 8 for k in range(count)))
    assert columns["code"].dtype.kind == "i" and columns["code"].tolist() == list(range(count))
    assert "unbiased" not in columns


def test_a_column_for_adding_up_is_there_for_all_cells_or_for_none() -> None:
    half = KeySet(("street",), (("a",), ("b",)), (4, 5))
    other = weighted_sum()
    assert "unbiased" in columns_of(_cells(2), {4: town_mechanism()}, np.zeros(2, dtype=np.int64))
    assert "unbiased" not in columns_of(half, {4: town_mechanism(), 5: other}, np.zeros(2, dtype=np.int64))


def test_tables_of_earlier_versions_still_verify_and_a_changed_one_does_not(tmp_path: Path) -> None:
    mechanism = weighted_sum()
    cells = _cells(3)
    columns = columns_of(cells, {4: mechanism}, np.array([1, 2, 3]), earlier=True)
    assert list(columns)[2:4] == ["published", "action"]
    parquet = written(tmp_path, columns)
    assert restated(csv_bytes(columns), parquet, cells, {4: mechanism}) is None
    columns["action"][0] = "7"
    assert restated(csv_bytes(columns), parquet, cells, {4: mechanism}) is not None


def written(folder: Path, columns: Mapping[str, Any]) -> Path:
    """The columns as a Parquet file."""
    write_parquet(folder / "t.parquet", columns)
    return folder / "t.parquet"


def test_cells_that_a_spreadsheet_would_run_are_disarmed_and_still_verify(tmp_path: Path) -> None:
    mechanism = town_mechanism()
    names = ("=1+1", "+x", "-3", "@a", "a,b", 'q"q', "line\nbreak", "'=x", "＝1", "-1_0", "+1e5", "-nan", "a;=b", "\n=x")
    key_set = KeySet(("=street",), tuple((name,) for name in names), (4,) * len(names))
    columns = columns_of(key_set, {4: mechanism}, np.arange(len(names)) % 5)
    data = csv_bytes(columns)
    read = list(csv.reader(io.StringIO(data.decode(), newline="")))
    assert read[0][0] == "'=street"
    assert [row[0] for row in read[1:]] == [
        "'=1+1", "'+x", "-3", "'@a", "a,b", 'q"q', "line\nbreak", "''=x", "'＝1", "'-1_0", "+1e5", "'-nan", "a;=b", "'\n=x",
    ]  # fmt: skip
    assert b'"a;=b"' in data
    assert restated(data, written(tmp_path, columns), key_set, {4: mechanism}) is None


def test_the_cells_of_a_release_are_disarmed_and_read_back(tmp_path: Path) -> None:
    """`key_set.csv` is opened in spreadsheets as the tables are."""
    names = ("=1+1", "'x", "@a", "-3", "plain", "a,b", "line\nbreak")
    key_set = KeySet(("=street",), tuple((name,) for name in names), tuple(range(4, 11)))
    data = key_set_bytes(key_set, "size")
    assert [row[0] for row in csv.reader(io.StringIO(data.decode(), newline=""))][:4] == ["'=street", "'=1+1", "''x", "'@a"]
    plan = replace(make_town(tmp_path / "town").bundle().plan, keys=("=street",))
    (tmp_path / "key_set.csv").write_bytes(data)
    (tmp_path / "manifest.json").write_text('{"format":"discreet-release/2"}')
    assert key_set_in(tmp_path, plan) == key_set


@given(st.lists(st.tuples(st.text(alphabet='a,"\r\n ;', max_size=5), st.text(max_size=3)), min_size=1, max_size=6))
def test_csv_is_read_back_as_it_was_written(rows: list[tuple[str, str]]) -> None:
    text = csv_text(["one, two", 'q"'], list(zip(*rows, strict=True)))
    assert list(csv.reader(io.StringIO(text, newline=""))) == [["one, two", 'q"'], *map(list, rows)]


@given(st.text(alphabet="'=+-@\t\r\n1ax＝", max_size=4), st.text(alphabet="'=+-@\t\r\n1ax＝", max_size=4))
def test_disarming_keeps_different_texts_apart(one: str, other: str) -> None:
    """`=x` and `'=x` were one text once; one leading apostrophe taken away gives the text back."""
    for disarming in (disarmed, disarmed_1):
        guarded = disarming(one)
        assert armed(guarded) == one if guarded != one else not one.startswith(("=", "@", "'"))
        assert (guarded == disarming(other)) == (one == other)


def test_two_cells_whose_names_differ_by_an_apostrophe_stay_two_cells(tmp_path: Path) -> None:
    mechanism = town_mechanism()
    key_set = KeySet(("street",), (("=x",), ("'=x",)), (4, 4))
    columns = columns_of(key_set, {4: mechanism}, np.array([0, 1]))
    names = [row[0] for row in csv.reader(io.StringIO(csv_bytes(columns).decode(), newline=""))][1:]
    assert names == ["'=x", "''=x"]
    parquet = written(tmp_path, columns)
    assert read_parquet(parquet)["street"].tolist() == ["=x", "'=x"]
    swapped = csv_bytes(columns).replace(b"''=x", b"'=x")
    assert restated(swapped, parquet, key_set, {4: mechanism}) == "release.csv, column street"


def test_a_reading_that_differs_in_the_sixth_digit_is_noticed(tmp_path: Path) -> None:
    mechanism = town_mechanism()
    columns = columns_of(_cells(5), {4: mechanism}, np.arange(5))
    for name in ("posterior_mean", "unbiased"):
        wrong = dict(columns) | {name: columns[name] * (1 + 1e-5)}
        assert restated(csv_bytes(wrong), Path(), _cells(5), {4: mechanism}) == f"release.csv, column {name}"
        parquet = written(tmp_path, wrong)
        assert restated(csv_bytes(columns), parquet, _cells(5), {4: mechanism}) == f"release.parquet, column {name}"
    assert restated(csv_bytes(columns), written(tmp_path, columns), _cells(5), {4: mechanism}) is None


def _cells(count: int) -> KeySet:
    return KeySet(("street",), tuple((f"s{i}",) for i in range(count)), (4,) * count)


@pytest.mark.parametrize("name", ["published", "action", "posterior_mean"])
def test_a_key_may_not_take_the_name_of_a_published_column(town: Town, name: str) -> None:
    """Its own column would stand in the key's place, and readers could no longer tell cells apart."""
    town.plan.write_text(town.plan.read_text().replace('"street"', f'"{name}"'))
    streets = town.folder / "streets.csv"
    streets.write_text(streets.read_text().replace("street,", f"{name},", 1))
    with pytest.raises(InputError, match="key column"):
        gather(town.plan)


def test_one_column_is_for_adding_up() -> None:
    """Unbiased values where every cell has one, else posterior means; tables from before it are restated without it."""
    draws = np.zeros(2, dtype=np.int64)
    columns = columns_of(_cells(2), {4: town_mechanism()}, draws)
    assert list(columns)[-1] == ADDING and (columns[ADDING] == columns["unbiased"]).all()
    assert ADDING in csv_bytes(columns).decode().splitlines()[0]
    assert list(columns_of(_cells(2), {4: town_mechanism()}, draws, adding=False)) == list(columns)[:-1]


def test_a_table_from_before_the_column_for_sums_is_restated(tmp_path: Path) -> None:
    cells, served = _cells(2), {4: town_mechanism()}
    for adding in (True, False):
        columns = columns_of(cells, served, np.array([1, 3]), adding=adding)
        write_parquet(tmp_path / "release.parquet", columns)
        assert restated(csv_bytes(columns), tmp_path / "release.parquet", cells, served) is None
