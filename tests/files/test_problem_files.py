"""Problem files: what a person writes is read exactly, and what is wrong with it is said in words."""

from __future__ import annotations

import copy
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import files
from discreet.errors import DiscreetError, InputError, TooLarge
from discreet.files.problem import problem_from_document
from discreet.files.problem_document import problem_document
from discreet.model.actions import ListedActions, NamedActions, RealActions
from discreet.model.universe import Universe

PLACES = """
[data]
respondents = 40
values = [0, 1, 2]

[prior]
kind = "iid"
probabilities = [0.89, 0.09, 0.02]

[statistic]
kind = "sum"

[decision]
kind = "squared-error"
actions = "real"

[privacy]
epsilon = 1.0
"""


def read(tmp_path: Path, text: str) -> Any:
    path = tmp_path / "places.toml"
    path.write_text(text, encoding="utf-8")
    return files.read_problem(path)


def test_decimals_are_read_as_they_are_written(tmp_path: Path) -> None:
    problem = read(tmp_path, PLACES.replace("1.0", "0.1"))
    assert problem.prior.probabilities == (Fraction(89, 100), Fraction(9, 100), Fraction(2, 100))
    assert problem.epsilon == Fraction(1, 10) and problem.name == "places" and problem.notes == ()


BASE: dict[str, Any] = {
    "data": {"respondents": 2, "values": [0, 1, 2]},
    "prior": {"kind": "iid", "probabilities": ["0.5", "0.3", "0.2"]},
    "statistic": {"kind": "sum"},
    "decision": {"kind": "squared-error", "actions": "real"},
    "privacy": {"epsilon": 1},
}
SIX = {"2,0,0": "1/6", "1,1,0": "1/6", "0,2,0": "1/6", "1,0,1": "1/6", "0,1,1": "1/6", "0,0,2": "1/6"}
VARIANTS: dict[str, dict[str, Any]] = {
    "iid": {},
    "independent": {"prior": {"kind": "independent", "probabilities": [["1/3", "1/3", "1/3"], ["1/2", "1/4", "1/4"]]}},
    "exchangeable": {"prior": {"kind": "exchangeable", "histogram": SIX}},
    "dirichlet": {"prior": {"kind": "exchangeable", "concentration": [1, "1/2", "0.25"]}},
    "mixture": {"prior": {"kind": "mixture", "components": [
        {"weight": "0.7", "probabilities": ["0.9", "0.09", "0.01"]}, {"weight": "0.3", "concentration": [3, 2, 1]},
    ]}},
    "table": {"prior": {"kind": "table", "probabilities": {"0,1": "1/4", "2,2": "3/4"}}},
    "reference": {"prior": {"kind": "reference", "counts": [5, 3, 1], "source": "a survey", "pseudo_count": "0.5"}},
    "add-remove": {
        "data": {"respondents": {"from": 0, "to": 3}, "values": [0, "1/2"], "neighbours": "add-remove-one"},
        "prior": {"kind": "iid", "probabilities": ["0.5", "0.5"], "size": "uniform"},
    },
    "sizes": {
        "data": {"respondents": {"from": 1, "to": 2}, "values": [0, 1], "neighbours": "add-remove-one"},
        "prior": {"kind": "exchangeable", "concentration": [1, 1], "size": ["1/3", "2/3"]},
        "statistic": {"kind": "mean"},
    },
    "given": {
        "data": {"neighbours": {"states": ["a", "b", "c"], "edges": [["a", "b"], ["c", "b"]]}},
        "prior": {"kind": "table", "probabilities": {"a": "0.2", "b": "0.3", "c": "0.5"}},
        "statistic": {"kind": "table", "values": {"a": 0, "b": 1, "c": "7/2"}},
    },
    "count": {"statistic": {"kind": "count", "of": [1, 2]}, "decision": {"kind": "match", "actions": "integer"}},
    "table of histograms": {"statistic": {"kind": "table", "values": {h: i for i, h in enumerate(SIX)}}},
    "table of databases": {
        "statistic": {"kind": "table", "by": "database", "values": {f"{a},{b}": a - b for a in range(3) for b in range(3)}},
    },
    "listed actions": {"decision": {"kind": "absolute-error", "actions": [3, 1, "1/3"]}},
    "a range": {"decision": {"kind": "pinball", "quantile": "0.9", "actions": {"from": 0, "to": 4, "step": "0.5"}}},
    "an interval": {"decision": {"kind": "expression", "payoff": "-omega/a - 0.1*a", "actions": {"from": "0.1", "to": 9}}},
    "names": {"decision": {"kind": "table", "actions": ["go", "stay"], "payoff": [[0, 1, 2, 3, 4], ["1/2", 0, 0, 0, 0]]}},
    "two makers": {
        "decision": [
            {"kind": "squared-error", "actions": "real", "name": "first"},
            {"kind": "match", "actions": "integer", "weight": "1/3"},
        ],
        "name": "both",
    },
    "a unit": {"privacy": {"epsilon": "1/3", "unit": "household"}},
}  # fmt: skip


@pytest.mark.parametrize("name", VARIANTS)
def test_what_is_read_is_written_and_read_again(name: str) -> None:
    problem = problem_from_document(BASE | VARIANTS[name])
    document = problem_document(problem)
    again = problem_from_document(copy.deepcopy(document))
    assert again == problem and problem_document(again) == document


def test_actions_are_sorted_listed_and_stepped() -> None:
    assert problem_from_document(BASE | VARIANTS["listed actions"]).decision.actions == ListedActions(
        (Fraction(1, 3), Fraction(1), Fraction(3))
    )
    assert len(problem_from_document(BASE | VARIANTS["a range"]).decision.actions) == 9
    assert problem_from_document(BASE | VARIANTS["an interval"]).decision.actions == RealActions(Fraction(1, 10), Fraction(9))
    assert problem_from_document(BASE | VARIANTS["names"]).decision.actions == NamedActions(("go", "stay"))


def test_probabilities_close_to_one_are_normalised_and_noted() -> None:
    close = BASE | {"prior": {"kind": "iid", "probabilities": [0.1 + 0.2, 0.3, 0.4]}}
    problem = problem_from_document(close)
    assert sum(problem.prior.probabilities) == 1 and len(problem.notes) == 1 and "rescaled" in problem.notes[0]


def changed(path: str, value: Any) -> dict[str, Any]:
    document = copy.deepcopy(BASE)
    *way, last = path.split("/")
    here = document
    for key in way:
        here = here[key]
    if value is None:
        del here[last]
    else:
        here[last] = value
    return document


BAD: list[tuple[str, Any, str]] = [
    ("prior/probabilities", ["0.5", "0.3", "0.19"], "do not sum to one. Found: a sum of 0.99"),
    ("prior/probabilities", ["-0.1", "0.9", "0.2"], "negative number"),
    ("prior/probabilities", ["nan", "0.9", "0.1"], "probabilities.0 is not a number"),
    ("prior/probabilities", [float("inf"), 0, 0], "not a number"),
    ("prior/probabilities", ["0.5", "0.5"], "one probability for each type. Found: 2. Allowed: 3"),
    ("prior/probabilities", [], "does not fit"),
    ("prior/probabilities", None, "no prior.probabilities"),
    ("prior/probabilities", {"0,0": 1}, "does not fit its kind"),
    ("prior/probabilities", [["1/2"]], "does not fit its kind"),
    ("prior/probabilities", ["1/0", "1", "0"], "not a number"),
    ("prior/probabilities", [True, 0, 0], "not a number"),
    ("prior/probabilities", ["9" * 49_000, 0, 0], "do not sum to one"),
    ("prior/probabilities", ["9" * 60_000, 0, 0], "not a number"),
    ("prior/probabilties", [1], "did you mean 'probabilities'?"),
    ("prior/kind", "idd", "'iid'"),
    ("prior", {"kind": "mixture"}, "no prior.components"),
    ("prior", {"kind": "mixture", "components": [{"weight": 1, "concentration": [1, 1, 1]}]}, "two components or more"),
    (
        "prior",
        {"kind": "mixture", "components": [{"weight": "1/2"}, {"weight": "1/2", "concentration": [1, 1, 1]}]},
        "one of two ways",
    ),
    ("prior", {"kind": "mixture", "components": [{"weight": w, "concentration": [1, 1, 1]} for w in ("0.5", "0.4")]}, "sum to one"),
    (
        "prior",
        {"kind": "mixture", "components": [{"weight": "1/2", "concentration": [1, 1]}] * 2},
        "one concentration for each type",
    ),
    ("prior/size", "uniform", "is fixed"),
    ("prior/counts", [1], "has no such key. Found: counts"),
    ("data/respondents", 0, "without respondents"),
    ("data/respondents", -3, "empty or negative"),
    ("data/respondents", 10**13, "more respondents than people"),
    ("data/respondents", "2", "respondents is not of the right kind"),
    ("data/respondents", 2.5, "respondents is not of the right kind"),
    ("data/respondents", True, "respondents is not of the right kind"),
    ("data/respondents", {"from": 0, "to": 4}, "must be one number"),
    ("data/respondents", {"from": 0}, "no data.respondents.to"),
    ("data/respondents", None, "no data.respondents"),
    ("data/values", None, "no data.values"),
    ("data/values", [0], "at least two values"),
    ("data/values", ["x", 1, 2], "values.0 is not a number"),
    ("data/neighbours", "add-remove-one", "a range is needed"),
    ("data/neighbours", "swap", "'replace-one' or 'add-remove-one'"),
    ("data/neigbours", "replace-one", "did you mean 'neighbours'?"),
    ("data/neighbours", {"states": ["a"], "edges": []}, "no respondents or values"),
    ("statistic/kind", "median", "'sum'"),
    ("statistic/of", [1], "has no 'of'"),
    ("statistic/values", {}, "has no table"),
    ("statistic", {"kind": "count"}, "no statistic.of"),
    ("statistic", {"kind": "count", "of": [3]}, "must name the types"),
    ("statistic", {"kind": "count", "of": [0, 1, 2]}, "counts all respondents"),
    ("statistic", {"kind": "table", "values": {"2,0,0": 1}}, "no value for"),
    ("decision/kind", "guess", "'squared-error'"),
    ("decision/actions", [], "no action"),
    ("decision/actions", ["go", 1], "all numbers or all names"),
    ("decision/actions", "all", "'real' or 'integer'"),
    ("decision/actions", {"from": 1, "to": 0, "step": 1}, "is empty"),
    ("decision/actions", {"from": 0, "to": 1, "step": 0}, "is empty"),
    ("decision/actions", {"from": 0, "to": 1, "step": "1e-9"}, "too fine"),
    ("decision/actions", {"from": 0, "to": "1e9000", "step": "1e-9000"}, "too fine"),
    ("decision/actions", [[0]], "not a number"),
    ("decision/quantile", "0.5", "has no 'quantile'"),
    ("decision/payoff", "a", "has no 'payoff'"),
    ("decision/weight", 0, "must be positive"),
    ("decision", [], "no decision"),
    ("decision", {"kind": "expression", "actions": [1]}, "no decision.payoff"),
    ("decision", {"kind": "expression", "actions": [1], "payoff": [[1]]}, "does not fit its kind"),
    ("decision", {"kind": "expression", "actions": [1], "payoff": "system(a)"}, "unknown name"),
    ("decision", {"kind": "expression", "actions": [1], "payoff": "(" * 10**5}, "not of the right kind"),
    ("decision", {"kind": "table", "actions": [1], "payoff": [[1, 2]]}, "one number for each value"),
    ("privacy/epsilon", -1, "from 0 on"),
    ("privacy/epsilon", "1e4000", "from 0 on"),
    ("privacy/epsilon", None, "neither privacy.epsilon nor privacy.rho"),
    ("privacy/epsilonn", 1, "did you mean 'epsilon'?"),
    ("privacy/unit", " ", "has no name"),
    ("privcy", {}, "did you mean 'privacy'?"),
]


@pytest.mark.parametrize(("path", "value", "words"), BAD)
def test_what_is_wrong_is_said(path: str, value: Any, words: str) -> None:
    with pytest.raises(DiscreetError) as found:
        problem_from_document(changed(path, value))
    text = str(found.value)
    assert words.lower() in text.lower()
    assert "Found: " in text or "Asked for: " in text


def test_absurd_nesting_is_refused_before_anything_walks_it() -> None:
    nested: Any = 1
    for _ in range(900):
        nested = [nested]
    with pytest.raises(InputError, match="nested too deeply"):
        problem_from_document(changed("decision/actions", nested))


def test_a_billion_respondents_are_a_valid_problem() -> None:
    problem = problem_from_document(changed("data/respondents", 10**9))
    assert isinstance(problem.universe, Universe) and problem.omega_range == (0, 2 * 10**9)
    with pytest.raises(TooLarge, match="Would fit"):
        problem.finest()
    with pytest.raises(TooLarge, match="whole-number actions"):
        problem_from_document(changed("data/respondents", 10**9) | {"decision": {"kind": "match", "actions": "integer"}})
    with pytest.raises(TooLarge, match="sizes"):
        problem_from_document(
            BASE | {
                "data": {"respondents": {"from": 0, "to": 10**9}, "values": [0, 1], "neighbours": "add-remove-one"},
                "prior": {"kind": "iid", "probabilities": ["1/2", "1/2"], "size": "uniform"},
            }
        )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "[data", "a = 1", "data = 1", "[[data]]", "[data]\nrespondents = 1\n" * 2, "\x00", "x = 1" + "0" * 5000,
        "a = " + "[" * 5000 + "]" * 5000, "a = " + "{a=" * 300 + "1" + "}" * 300,
    ],
)  # fmt: skip
def test_what_is_no_problem_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError):
        read(tmp_path, text)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not text"):
        files.read_problem(tmp_path / "x.toml")
    with pytest.raises(InputError, match="could not be read"):
        files.read_problem(tmp_path / "none.toml")
    with pytest.raises(InputError, match="could not be read"):
        files.read_problem(tmp_path)


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(
    ["iid", "sum", "1/3", "0.5", "real", "9" * 5000, "1e9999", "-1", "table", "uniform"]
)  # fmt: skip
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3))


@settings(max_examples=150)
@given(values)
def test_any_document_is_a_problem_or_a_refusal(document: Any) -> None:
    with pytest.raises(DiscreetError):
        problem_from_document(document)


@settings(max_examples=200)
@given(st.sampled_from(sorted(VARIANTS)), st.randoms(use_true_random=False), values)
def test_a_damaged_problem_is_read_or_refused(name: str, rng: random.Random, value: Any) -> None:
    """Any value put in any place of any good problem."""
    document = copy.deepcopy(BASE | VARIANTS[name])
    here: Any = document
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        if not keys:
            return
        key = rng.choice(keys)
        inside = here[key]
        if not isinstance(inside, (dict, list)) or rng.random() < 0.3:
            here[key] = value
            break
        here = inside
    try:
        problem_document(problem_from_document(document))
    except DiscreetError:
        return


@settings(max_examples=200)
@given(st.integers(0, len(PLACES)), st.text(max_size=5))
def test_a_damaged_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, place: int, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed.toml"
    path.write_text(PLACES[:place] + text + PLACES[place + len(text) :], encoding="utf-8", errors="surrogatepass")
    try:
        files.read_problem(path)
    except DiscreetError:
        return
