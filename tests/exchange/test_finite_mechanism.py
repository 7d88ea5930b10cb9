"""Anyone's finite mechanism is read exactly, the right way round and with neighbours that were said, or refused in words."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import InputError, TooLarge
from discreet.exchange import FiniteMechanism, finite, read_finite, write_finite

TABLE = "state,0,1,2\n0,1,0,0\n1,0.375,0.25,0.375\n2,0.1,0.3,0.6\n"
EXPECTED = ((1, 0, 0), (Fraction(3, 8), Fraction(1, 4), Fraction(3, 8)), (Fraction(1, 10), Fraction(3, 10), Fraction(3, 5)))


def written(folder: Path, text: str, name: str = "t.csv", encoding: str = "utf-8") -> Path:
    place = folder / name
    place.write_bytes(text.encode(encoding))
    return place


def test_decimals_are_read_exactly(tmp_path: Path) -> None:
    found = read_finite(written(tmp_path, TABLE), neighbours="counts")
    assert found.columns == EXPECTED
    assert found.states == found.outputs == ("0", "1", "2")
    assert found.edges == ((0, 1), (1, 2)) and found.notes == ()


@pytest.mark.parametrize(
    "text",
    [
        TABLE.replace(",", "\t"),
        TABLE.replace(",", ";"),
        TABLE.replace(",", ";").replace(".", ","),
        TABLE.replace("\n", "\r\n"),
        TABLE + "\n\n",
        '"state","0","1","2"\n"0","1","0","0"\n"1","0.375","0.25","0.375"\n"2","1/10","3/10","3/5"\n',
        "output,0,1,2\n0,1,0.375,0.1\n1,0,0.25,0.3\n2,0,0.375,0.6\n",
        "from\\to,0,1,2\n0,1,0,0\n1,0.375,0.25,0.375\n2,0.1,0.3,0.6\n",
        "to\\from,0,1,2\n0,1,0.375,0.1\n1,0,0.25,0.3\n2,0,0.375,0.6\n",
        "State,Output,Probability\n0,0,1\n1,0,.375\n1,1,.25\n1,2,375e-3\n2,0,0.1\n2,1,0.3\n2,2,0.6\n",
    ],
)
def test_every_shape_reads_the_same(tmp_path: Path, text: str) -> None:
    found = read_finite(written(tmp_path, text), neighbours="counts")
    assert found.columns == EXPECTED and found.states == ("0", "1", "2")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks_are_understood(tmp_path: Path, encoding: str) -> None:
    assert read_finite(written(tmp_path, TABLE, encoding=encoding)).columns == EXPECTED


def test_another_encoding_is_named_or_refused(tmp_path: Path) -> None:
    place = written(tmp_path, TABLE.replace("state", "Größe"), encoding="latin-1")
    with pytest.raises(InputError, match=r"not written in utf-8.*0xf6.*latin-1"):
        read_finite(place)
    assert read_finite(place, encoding="latin-1", states_in="rows").columns == EXPECTED
    with pytest.raises(InputError, match="encoding is not known"):
        read_finite(place, encoding="klingon")
    with pytest.raises(InputError, match="no text"):
        read_finite(written(tmp_path, TABLE, encoding="utf-16-le"))


def test_a_doubly_stochastic_table_is_not_guessed() -> None:
    """Read the other way round this cyclic table has another ε between neighbours in the list."""
    cyclic = [["0.5", "0.3", "0.2"], ["0.2", "0.5", "0.3"], ["0.3", "0.2", "0.5"]]
    with pytest.raises(InputError, match="cannot be told"):
        finite(cyclic)
    down, across = (finite(cyclic, states_in=where, neighbours="listed") for where in ("rows", "columns"))
    assert down.columns != across.columns
    assert finite([[0.5, 0.5], [0.5, 0.5]]).columns == ((Fraction(1, 2),) * 2,) * 2
    turned = finite([[1, 0.5], [0, 0.5]])
    assert turned.columns == ((1, 0), (Fraction(1, 2), Fraction(1, 2))) and "columns" in turned.notes[0]


def test_arrays_and_frames_come_in(tmp_path: Path) -> None:
    array = np.array([[1, 0, 0], [0.375, 0.25, 0.375], [0.1, 0.3, 0.6]])
    assert finite(array).columns == EXPECTED
    assert finite(array.astype(np.float32), states_in="rows").columns == EXPECTED
    np.save(tmp_path / "t.npy", array)
    assert read_finite(tmp_path / "t.npy", neighbours="counts").columns == EXPECTED
    pandas = pytest.importorskip("pandas")
    assert finite(pandas.DataFrame(array)).columns == EXPECTED


@pytest.mark.parametrize("array", [np.zeros(3), np.zeros((2, 2, 2)), np.array([["a", "b"]]), np.array([[1 + 0j]])])
def test_other_arrays_are_refused(tmp_path: Path, array: np.ndarray) -> None:
    np.save(tmp_path / "t.npy", array)
    with pytest.raises(InputError, match="no table of numbers"):
        read_finite(tmp_path / "t.npy")


def test_an_array_of_objects_is_not_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.array([[object()]]), allow_pickle=True)
    with pytest.raises(InputError, match="no plain array"):
        read_finite(tmp_path / "t.npy")
    (tmp_path / "u.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(InputError, match="no plain array"):
        read_finite(tmp_path / "u.npy")
    with pytest.raises(InputError, match="no file"):
        read_finite(tmp_path / "v.npy")


def test_what_is_written_reads_back_identically(tmp_path: Path) -> None:
    third = finite([["1/3", "2/3", 0], [0, "1/7", "6/7"]], states=["a, b", 'c "d"'], outputs=["x", "y", "z"])
    write_finite(third, tmp_path / "out.csv")
    again = read_finite(tmp_path / "out.csv")
    assert (again.channel, again.edges) == (third.channel, third.edges)


def test_sums_close_to_one_are_divided_out_and_said() -> None:
    near = finite([[0.1] * 10, [*[0.1] * 9, 0.1 + 1e-10]])
    assert sum(near.columns[1]) == 1 and "1 of 2 rows" in near.notes[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TABLE.replace("0.6", "0.7"), r"state 2 do not sum to one.*1\.1"),
        (TABLE.replace("0.1,0.3,0.6", "-0.1,0.3,0.8"), "negative"),
        (TABLE.replace("0.25", "a quarter"), "line 3 of t.csv is not a finite number"),
        (TABLE.replace("0.25", "nan"), "not a finite number"),
        (TABLE.replace("0.25", ""), "not a finite number"),
        (TABLE.replace("2,0.1", "1,0.1"), "names of the states"),
        (TABLE.replace("state,0,1,2", "state,0,0,2"), "names of the outputs"),
        (TABLE.replace("2,0.1", ",0.1"), "empty"),
        (TABLE.replace("2,0.1", "\x1b[1m2,0.1"), "cannot be printed"),
        (TABLE.replace(",0.6", ""), "Line 4 of t.csv has another number of fields"),
        (TABLE.replace("2,0.1", '"2,0.1'), "breaks off"),
        ("state,0,1\n", "holds no table"),
        ("", "holds no table"),
        ("state\n0\n1\n", "no probabilities"),
        ("state,output,probability\n0,0,1\n0,0,1\n", "twice"),
    ],
)
def test_what_is_no_mechanism_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_finite(written(tmp_path, text))


def test_missing_counts_are_named(tmp_path: Path) -> None:
    gap = TABLE.replace("2,0.1", "4,0.1")
    with pytest.raises(InputError, match=r"no row for 2, 3"):
        read_finite(written(tmp_path, gap), neighbours="counts")
    assert len(read_finite(written(tmp_path, gap)).edges) == 3
    assert read_finite(written(tmp_path, TABLE), neighbours="counts", step=2).edges == ((0, 1), (0, 2), (1, 2))
    for last, step, words in (("x", 1, "not a finite number"), ("3/2", 1, "whole"), ("2", 0, "at least one")):
        with pytest.raises(InputError, match=words):
            finite(EXPECTED, states=["0", "1", last], neighbours="counts", step=step, states_in="rows")


def test_neighbours_are_said_never_guessed(tmp_path: Path) -> None:
    place = written(tmp_path, TABLE)
    pairs = written(tmp_path, "one,other\n0,2\n2,0\n", "pairs.csv")
    assert read_finite(place, neighbours=pairs).edges == ((0, 2),)
    assert read_finite(place, neighbours="listed").edges == ((0, 1), (1, 2))
    for text, words in (("a,b\n0,7\n", "does not have"), ("a,b\n0,0\n", "itself"), ("a,b,c\n0,1,2\n", "pairs")):
        with pytest.raises(InputError, match=words):
            read_finite(place, neighbours=written(tmp_path, text, "bad.csv"))
    with pytest.raises(InputError, match="relation"):
        finite(EXPECTED, neighbours="friends", states_in="rows")


def test_sizes_are_refused_before_any_work() -> None:
    with pytest.raises(TooLarge):
        finite(np.broadcast_to(np.float64(1e-4), (3000, 10_000)), states_in="rows")
    with pytest.raises(TooLarge, match="pairs of states"):
        finite(np.ones((4000, 1)), states_in="rows")


@pytest.mark.parametrize("given", [5, [], [1, 2], [[]], [[1], [1, 0]], "text"])
def test_what_has_no_two_axes_is_refused(given: object) -> None:
    with pytest.raises(InputError, match=r"two axes|differ in length"):
        finite(given)


def test_it_shows_itself_with_names_as_text() -> None:
    shown = finite([[1, 0], [0, 1]], states=["<b>a</b>", "b"], states_in="rows", name="<i>")._repr_html_()
    assert "<b>a" not in shown and "&lt;b&gt;a" in shown and "<i>" not in shown
    assert isinstance(finite([[1]]), FiniteMechanism)
