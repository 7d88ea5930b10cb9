"""What the standalone verifier refuses before it begins: endless work, and numbers that are not written in one way."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest
from the_verifier import SCRIPT, many_members, outcome, run, verifier


def table_of(respondents: Any, types: int, summary: dict[str, Any], neighbours: str = "replace-one") -> dict[str, Any]:
    """A small file about a large world: one output and two states."""
    return {
        "format": "discreet-mechanism/1",
        "summary": summary,
        "problem": {
            "data": {"respondents": respondents, "values": ["0"] * types, "neighbours": neighbours},
            "privacy": {"epsilon": "1", "unit": "person"},
        },
        "kernel": {
            "family": "table",
            "states": ["0", "1"],
            "outputs": [{"label": "x"}],
            "weights": [["1", "1"]],
            "denominator": "1",
            "edges": [[0, 1]],
        },
        "guarantee": {"epsilon": "1", "neighbours": neighbours, "unit": "person"},
        "claims": {},
        "provenance": {},
    }


def of_long_numbers(types: int, digits: int) -> dict[str, Any]:
    """One respondent of so many types, any of whom may be another: as many edges as pairs, and probabilities of so many digits."""
    sys.set_int_max_str_digits(0)  # as the verifier does
    half = 1 << (10 * digits // 3)
    ones = [half + place for place in range(types)]
    document = table_of(1, types, {"kind": "linear", "weights": list(range(types))})
    document["kernel"] |= {
        "states": [str(place) for place in range(types)],
        "edges": [[a, b] for a in range(types) for b in range(a + 1, types)],
        "outputs": [{"label": "x", "action": {"number": "0"}}, {"label": "y", "action": {"number": "1"}}],
        "weights": [[str(x) for x in ones], [str(2 * half - x) for x in ones]],
        "denominator": str(2 * half),
    }
    return document


def near_its_promise(bits: int, characters: int) -> dict[str, Any]:
    """A ratio nearer to exp(ε) than any but a comparison of so many binary digits can tell, for an ε of so many characters."""
    epsilon = Fraction(10 ** (characters // 2), 10 ** (characters // 2) + 1)
    document, few = of_long_numbers(2, 1), 1 << bits
    with mpmath.workprec(bits + 100):
        many = int(few * mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator))
    document["kernel"] |= {
        "weights": [[str(few), str(many)], [str(8 * few - few), str(8 * few - many)]],
        "denominator": str(8 * few),
    }
    for said in (document["guarantee"], document["problem"]["privacy"]):
        said["epsilon"] = str(epsilon)
    return document


def unbiased_by_formula(outputs: int) -> dict[str, Any]:
    """Geometric noise of so many outputs, of which the file reads one."""
    document = table_of(5, 2, {"kind": "linear", "weights": [0, 1]})
    document["problem"] |= {"statistic": {"kind": "sum"}, "decision": {"kind": "squared-error", "unbiased": "everywhere"}}
    document["problem"]["data"]["values"] = ["0", "1"]
    document["kernel"] = {"family": "geometric", "from": 0, "to": outputs - 1, "step": 1, "ratio": "1/2"}
    document["kernel"]["actions"] = [{"number": "-1"}]
    return document


HUGE = 10**30
ENDLESS: dict[str, dict[str, Any]] = {
    "60 respondents of 12 types": table_of(60, 12, {"kind": "histogram"}),
    "databases of 30 respondents": table_of(30, 2, {"kind": "database"}),
    "databases of one type": table_of(HUGE, 1, {"kind": "database"}),
    "a clipped sum of a billion": table_of(10**9, 2, {"kind": "linear", "weights": [0, 1], "low": 0, "high": 1}),
    "a sum that never moves": table_of(10**9, 2, {"kind": "linear", "weights": [0, 0]}),
    "scattered totals": table_of(40, 9, {"kind": "linear", "weights": [7**k for k in range(9)]}),
    "a clipped histogram of 10^30": table_of(
        HUGE, 3, {"kind": "histogram", "clamp": {"lower": [0, 0, 0], "upper": [0, HUGE, 1], "reference": 0}}
    ),
    "10^30 respondents": table_of(HUGE, 2, {"kind": "histogram"}),
    "a sum of 10^30 respondents": table_of(HUGE, 2, {"kind": "linear", "weights": [0, 1]}),
    "up to 10^30 respondents": table_of({"from": 0, "to": HUGE}, 2, {"kind": "histogram"}, "add-remove-one"),
    "a sum of up to 10^30": table_of({"from": 0, "to": HUGE}, 2, {"kind": "linear", "weights": [0, 1]}, "add-remove-one"),
    "a hundred thousand types": table_of(1, 100_000, {"kind": "histogram"}),
    "a weight of many digits": table_of(1, 2, {"kind": "linear", "weights": [0, 1]}) | {
        "kernel": {"family": "table", "states": ["0", "1"], "outputs": [{"label": "x"}], "weights": [["1" * 60_000] * 2],
                   "denominator": "1", "edges": [[0, 1]]}
    },
    "an epsilon of many digits": table_of(1, 2, {"kind": "linear", "weights": [0, 1]}) | {
        "guarantee": {"epsilon": "1/1" + "0" * 6_000, "neighbours": "replace-one", "unit": "person"}
    },
    "more outputs than a file can read": unbiased_by_formula(20_000_002),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDLESS)
def test_endless_work_is_refused_before_it_begins_and_is_no_refutation(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.mechanism.json"
    path.write_text(json.dumps(ENDLESS[name]), encoding="utf-8")
    limited = f"ulimit -v {2_000_000}; exec '{sys.executable}' -I -S '{SCRIPT}' '{path}'"
    done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 2 and done.stdout.startswith("TOO LARGE"), done.stdout + done.stderr


def test_products_of_long_numbers_are_counted_before_they_are_formed(tmp_path: Path) -> None:
    """The adversaries: files of a few megabytes, or two hundred kilobytes, whose products take a minute."""
    path = tmp_path / "x.mechanism.json"
    for document in (of_long_numbers(110, 14_000), near_its_promise(160_000, 4_900)):
        path.write_text(json.dumps(document), encoding="utf-8")
        done = run(path)
        assert done.returncode == 2 and done.stdout.startswith("TOO LARGE"), done.stdout + done.stderr


def test_outputs_that_are_not_read_are_refuted_without_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """The adversary: 700 bytes that ask what twenty million outputs stand for."""
    monkeypatch.setattr(verifier, "statistic", lambda _: lambda _: pytest.fail("asked what an output stands for"))
    assert outcome(unbiased_by_formula(20_000_001)) == 1


def test_long_numbers_on_few_edges_are_proved() -> None:
    """What is refused is the work, not the digits."""
    for document in (of_long_numbers(12, 14_000), of_long_numbers(160, 150), near_its_promise(20_000, 400)):
        assert outcome(document) == 0


def test_a_family_of_very_many_members_is_refused(tmp_path: Path) -> None:
    """Some seconds for each of very many: all of them together may take as many steps as eight, and a quarter more for each."""
    told = []
    for number in (10, 13):
        path = tmp_path / f"{number}.family.json"
        path.write_text(json.dumps(many_members(number)), encoding="utf-8")
        told.append(run(path))
    assert [done.returncode for done in told] == [0, 2], told
    assert told[0].stdout.count("PROVED for cells of") == 10
    assert told[1].stdout == "TOO LARGE to be checked here: more than 225,000,000 steps for all members together\n"


def test_files_are_not_counted_with_those_that_were_checked_before() -> None:
    """The adversary: a program that checks one file after the other in one process."""
    document = table_of(HUGE, 2, {"kind": "linear", "weights": [0, 1]})
    document["kernel"] = {"family": "geometric", "from": 0, "to": HUGE, "step": 1, "ratio": "1/2"}
    verifier.ASKED[:] = 10**12, 10**12, 1
    assert outcome(document) == 0
    assert verifier.ASKED[0] == 0


def test_a_closed_form_for_10_to_the_30_needs_no_list() -> None:
    document = table_of(HUGE, 2, {"kind": "linear", "weights": [0, 1]})
    document["kernel"] = {"family": "geometric", "from": 0, "to": HUGE, "step": 1, "ratio": "1/2"}
    assert outcome(document) == 0


STRANGE_WHOLE = ["\u0664", "\uff14", "1_0", "+4", " 4", "4 ", "04", "0x4", "4.0", "4/1", "", "-0", "\u00b2", "4\n"]
STRANGE_EXACT = ["\u0661", "\uff11", "1_0/10", "+1", " 1", "01", "1e0", "1/01", "1/0", ".5", "1.", "1/-1", "\u00bd", "1\n"]


@pytest.mark.parametrize("written", STRANGE_WHOLE)
def test_whole_numbers_are_ascii_digits_in_one_way(written: str, geometric: dict[str, Any]) -> None:
    document = copy.deepcopy(geometric)
    document["kernel"]["weights"][0][0] = written
    with pytest.raises(ValueError, match="decimal digits"):
        verifier.verify(json.dumps(document))
    document = copy.deepcopy(geometric)
    document["kernel"]["denominator"] = written
    assert outcome(document) == 2


@pytest.mark.parametrize("written", STRANGE_EXACT)
def test_exact_numbers_are_ascii_digits_in_one_way(written: str, geometric: dict[str, Any]) -> None:
    document = copy.deepcopy(geometric)
    document["guarantee"]["epsilon"] = document["problem"]["privacy"]["epsilon"] = written
    with pytest.raises(ValueError, match="written exactly"):
        verifier.verify(json.dumps(document))


@pytest.mark.parametrize("written", ["1.5", "1e3", "NaN", "Infinity", "1_0", "01", "+1"])
def test_no_number_of_the_file_is_a_float(written: str) -> None:
    with pytest.raises(ValueError, match=r"digits|delimiter|value"):
        verifier.members('{"format": ' + written + "}")
