"""Perturbation tables in the agencies' formats: read as their lookups read them, written so that they read back identically."""

from __future__ import annotations

from fractions import Fraction
from math import exp
from pathlib import Path

import pytest

from discreet.certify.edges.approximate import edge_leaks, tight_delta
from discreet.errors import InputError, TooLarge
from discreet.exchange.cell_keys import (
    PerturbationTable,
    design_table,
    entropy_table,
    read_table,
    table_text,
    wanted_table,
    write_table,
)

TWENTY = [(noise, variance) for noise in range(2, 7) for variance in ("0.5", "0.9", "1", "1.75")]
SMALL = PerturbationTable((
    ((0, Fraction(1)),),
    ((-1, Fraction(1, 2)), (1, Fraction(1, 2))),
    ((-1, Fraction(1, 4)), (0, Fraction(1, 2)), (1, Fraction(1, 4))),
))  # fmt: skip
PTABLE = "i;j;p;v;p_int_ub\n0;0;1.0;0;1.0\n1;0;0.5;-1;0.5\n1;2;0.5;1;1.0\n2;1;0.25;-1;0.25\n2;2;0.5;0;0.75\n2;3;0.25;1;1.0\n"


def written(folder: Path, text: str, name: str = "t.txt", encoding: str = "utf-8") -> Path:
    place = folder / name
    place.write_bytes(text.encode(encoding))
    return place


def by_definition(table: PerturbationTable, first: int, second: int, epsilon: Fraction) -> float:
    """Σ_j max(P(j) − e^ε Q(j), 0) in floats, from the laws of the two counts alone."""
    there = {second + v: float(p) for v, p in table.law(second).items()}
    return sum(max(float(p) - exp(epsilon) * there.get(first + v, 0.0), 0.0) for v, p in table.law(first).items())


@pytest.mark.parametrize(("noise", "variance"), TWENTY)
def test_twenty_tables_round_trip_identically_and_have_their_exact_delta(tmp_path: Path, noise: int, variance: str) -> None:
    table = entropy_table(noise, variance)
    for form in ("tau-argus", "sas", "cellkey"):
        write_table(table, tmp_path / "t", form)
        again = read_table(tmp_path / "t")
        assert again == table and table_text(again, form) == (tmp_path / "t").read_text(encoding="utf-8")
    weights = table.mechanism().weights
    for epsilon in (Fraction(1, 2), Fraction(1), Fraction(5)):
        leaks = {(leak.first, leak.second): leak for leak in edge_leaks(weights, epsilon)}
        assert leaks["1", "0"].low == leaks["1", "0"].high == 1 - table.law(1)[-1]
        for (first, second), leak in leaks.items():
            assert float(leak.low) - 1e-12 < by_definition(table, int(first), int(second), epsilon) < float(leak.high) + 1e-12
        proof = tight_delta(weights, epsilon)
        assert (proof.tight_low, proof.tight_high) == max((leak.low, leak.high) for leak in leaks.values())
    assert all(table.mean(count) == 0 for count in range(noise + 1))
    assert table.variance(noise) == Fraction(variance)


def test_what_ptable_prints_is_read(tmp_path: Path) -> None:
    """Numbers padded with blanks, as R's format() leaves them; the same through decimal commas and other encodings."""
    padded = PTABLE.replace("0;0;1.0;0;1.0", "0; 0;1.00000000; 0;1.00000000")
    for k, (text, encoding) in enumerate([(PTABLE, "utf-8"), (padded, "utf-8-sig"), (PTABLE.replace(".", ","), "utf-16")]):
        assert read_table(written(tmp_path, text, f"{k}.txt", encoding)) == SMALL
    without = "\n".join(";".join(line.split(";")[:4]) for line in PTABLE.splitlines())
    assert read_table(written(tmp_path, without)) == SMALL


def test_split_intervals_keep_their_order_and_add_up(tmp_path: Path) -> None:
    """A table modified for more protection lists an outcome in several intervals; the law puts them together."""
    text = PTABLE.replace("2;2;0.5;0;0.75\n2;3;0.25;1;1.0", "2;3;0.25;1;0.5\n2;2;0.3;0;0.8\n2;2;0.2;0;1.0")
    table = read_table(written(tmp_path, text))
    assert table.rows[2] == ((-1, Fraction(1, 4)), (1, Fraction(1, 4)), (0, Fraction(3, 10)), (0, Fraction(1, 5)))
    assert table.law(2) == SMALL.law(2) and table != SMALL
    write_table(table, tmp_path / "again", "sas")
    assert read_table(tmp_path / "again") == table


def test_counts_beyond_the_last_row_leak_like_the_last(tmp_path: Path) -> None:
    """The law of larger counts is that of the last row, so the extra state closes the chain."""
    mechanism = SMALL.mechanism()
    assert mechanism.states == ("0", "1", "2", "3")
    leaks = {(leak.first, leak.second): leak.high for leak in edge_leaks(mechanism.weights, Fraction(0))}
    assert leaks["2", "3"] == leaks["3", "2"] == Fraction(1, 2)
    assert SMALL.row_of(10**6) == 2 and SMALL.blocked() == ()
    assert entropy_table(3, 2).row_of(77) == 3


def test_the_ons_lookup_is_the_one_that_is_certified(tmp_path: Path) -> None:
    """Counts up to 30 with every fifth key, through the ONS package itself."""
    pandas = pytest.importorskip("pandas")
    from cell_key_perturbation.create_perturbed_table import create_perturbed_table

    table = design_table(wanted_table(4, 2), 1, keys=256).table
    write_table(table, tmp_path / "p.csv", "ons")
    cells = [(count, key) for count in (1, 2, 3, 4, 5, 30) for key in range(0, 256, 5)]
    data = pandas.DataFrame(
        [(f"{count}/{key}", key if i == 0 else 0) for count, key in cells for i in range(count)], columns=["cell", "record_key"]
    )
    found = create_perturbed_table(data, pandas.read_csv(tmp_path / "p.csv"), [], ["cell"], "record_key", threshold=0)
    shown = dict(zip(found["cell"], found["count"], strict=True))
    for count, key in cells:
        reached = Fraction(0)
        for v, p in table.rows[table.row_of(count)]:
            reached += p
            if Fraction(key, 256) < reached:
                assert shown[f"{count}/{key}"] == count + v
                break
    again = read_table(tmp_path / "p.csv")
    assert [again.law(count) for count in range(8)] == [table.law(count) for count in range(8)]
    assert (len(again.rows), again.repeats) == (751, 250)


def test_the_ons_rounding_rule_promises_nothing() -> None:
    """Their sample table rounds to multiples of five and sends counts below ten to 0: a deterministic function, δ = 1."""
    from cell_key_perturbation.utils.generate_test_ptable import generate_ptable_10_5_rule

    from discreet.exchange.cell_keys.ons_csv import from_ons
    from discreet.exchange.delimited import parse_delimited

    table = from_ons(parse_delimited(generate_ptable_10_5_rule(key_range=3).to_csv(index=False), "rule"), "rule")
    proof = tight_delta(table.mechanism().weights, Fraction(5))
    assert proof.tight_low == 1 and proof.edge == ("9", "10")
    suppressed = tight_delta(table.mechanism(below=10).weights, Fraction(5))
    assert suppressed.tight_low == 1 and "0" not in (suppressed.edge or ())


@pytest.mark.parametrize("limit", [1, 2, 5, 9])
def test_suppression_is_looked_at_where_it_cuts(limit: int) -> None:
    """Counts far beyond the rows that noise takes across the limit are states too: compared with a table of many more rows."""
    long = PerturbationTable((*SMALL.rows, *[SMALL.rows[-1]] * 30))
    wide = PerturbationTable((*long.rows[:-1], *long.rows[-2:]), 2)
    for epsilon in (Fraction(0), Fraction(1)):
        deltas = {tight_delta(table.mechanism(below=limit).weights, epsilon).tight_high for table in (SMALL, long, wide)}
        assert len(deltas) == 1
    drifting = PerturbationTable((*SMALL.rows, ((-3, Fraction(1)),), ((0, Fraction(1)),)), 2)
    assert int(drifting.mechanism(below=limit).states[-1]) > limit + 4


def ons(rows: dict[int, list[int]]) -> str:
    lines = [f"{count},{key},{v}" for count, noise in rows.items() for key, v in enumerate(noise)]
    return "\n".join(["pcv,ckey,pvalue", *lines]) + "\n"


def test_an_ons_table_that_ends_early_publishes_larger_counts_as_they_are(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, ons({1: [-1, 1], 2: [-1, 1]})))
    assert "above 2" in table.notes[0] and table.law(400) == {0: 1}
    assert tight_delta(table.mechanism().weights, Fraction(3)).tight_low == 1


def test_an_empty_cell_has_key_zero_in_the_ons_lookup(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, ons({0: [0, 5, 5, 5], 1: [-1, 1, 0, 0]})))
    assert table.law(0) == {0: 1} and "key 0" in table.notes[0]
    assert read_table(written(tmp_path, ons({0: [2, 0], 1: [-1, 1]}))).law(0) == {2: 1}


def test_zeros_kept_mean_a_leak_at_one_whatever_the_epsilon() -> None:
    for table in (SMALL, entropy_table(5, 3), design_table(wanted_table(3, 1), 2).table):
        assert table.keeps_zeros and table.never_negative
        for epsilon in (Fraction(0), Fraction(10)):
            leaks = {(leak.first, leak.second): leak for leak in edge_leaks(table.mechanism().weights, epsilon)}
            assert leaks["1", "0"].low == leaks["1", "0"].high == 1 - table.law(1).get(-1, 0)


def test_a_row_for_zero_that_nobody_looks_up_is_said(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, PTABLE.replace("0;0;1.0;0;1.0", "0;0;0.5;0;0.5\n0;1;0.5;1;1.0")))
    assert not table.keeps_zeros and "never look up zeros" in table.notes[0]
    with pytest.raises(InputError, match="zeros kept"):
        table_text(table, "ons")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (PTABLE.replace("2;3;0.25;1;1.0\n", ""), r"count 2 in t.txt are no distribution.*0\.75"),
        (PTABLE.replace("1;0;0.5;-1;0.5\n1;2;0.5;1;1.0\n", ""), "no row for 1"),
        (PTABLE.replace("1;2;0.5;1", "1;3;0.5;1"), "does not add up"),
        (PTABLE.replace("2;2;0.5;0;0.75", "2;2;0.4;0;0.75"), "disagree"),
        (PTABLE.replace("2;2;0.5;0;0.75", "2;2;-0.05;0;0.2"), "disagree"),
        (PTABLE.replace("1;2;0.5", "1.5;2.5;0.5"), "no whole number"),
        (PTABLE.replace("1;2;0.5;1;1.0", "-1;0;1.0;1;1.0"), "counts from 0"),
        (PTABLE.replace("i;j;p;v", "a;b;c;d"), "no perturbation table that is known.*pcv"),
        (PTABLE.replace("1;2;0.5;1", "1;2;half;1"), "line 4"),
        (ons({1: [-1, 1], 2: [0]}), "leaves out keys"),
        (ons({1: [-1, 1], 3: [0, 0]}), "no row for 2"),
        (ons({1: [-1, 1]}) + "1,0,3\n", "repeats a pair"),
        ("pcv,ckey,pvalue\n1,-1,0\n", "out of range"),
        ("pcv,ckey,pvalue\n1,0,0.5\n", "no whole number"),
    ],
)
def test_broken_tables_are_refused_in_words(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_table(written(tmp_path, text))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("type: cnts\n", "type: top_contr\n"), "magnitudes"),
        (("ptype: params_cnts", "ptype: params_nums"), "magnitudes"),
        (("    v:\n", "    w:\n"), "without v"),
        (("    - all\n", ""), "lengths"),
        (("    i:\n", "    i: [0, 1]\n"), "not understood"),
        (("    - 0.50000000\n", "    - .inf\n"), "not a finite number"),
        (("    - 1.0\n", "    - 1.5\n"), "not whole"),
        (("    - all\n", "    - {a: b}\n    extra\n"), "not understood"),
    ],
)
def test_broken_yaml_is_refused_in_words(tmp_path: Path, change: tuple[str, str], words: str) -> None:
    text = table_text(SMALL, "cellkey")
    assert change[0] in text
    with pytest.raises(InputError, match=words):
        read_table(written(tmp_path, text.replace(*change)))


def test_formats_hold_what_they_can(tmp_path: Path) -> None:
    third = PerturbationTable((((0, Fraction(1)),), ((-1, Fraction(1, 3)), (0, Fraction(1, 3)), (1, Fraction(1, 3)))))
    refused = {"tau-argus": "8 decimals", "cellkey": "8 decimals", "ons": "256 parts", "tauargus": "Did you mean tau-argus"}
    for form, words in refused.items():
        with pytest.raises(InputError, match=words):
            write_table(third, tmp_path / "t", form)
    assert not (tmp_path / "t").exists()
    cyclic = read_table(written(tmp_path, ons({1: [-1, 1]})))
    with pytest.raises(InputError, match="ONS format"):
        table_text(cyclic, "sas")


def test_what_is_no_table_is_refused() -> None:
    kept = ((0, Fraction(1)),)
    half = ((0, Fraction(1, 2)),)
    for rows, repeats, words in (((kept,), 1, "one more"), ((kept, kept), 2, "repeats"), ((kept, half), 1, "no distribution")):
        with pytest.raises(InputError, match=words):
            PerturbationTable(rows, repeats)
    with pytest.raises(TooLarge):
        PerturbationTable((kept, ((-2000, Fraction(1)),)))
    with pytest.raises(TooLarge):
        PerturbationTable((kept,) * 5000)
