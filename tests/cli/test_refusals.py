"""What can be refused is refused before the search (here every search is forbidden), and what was found is kept at once."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from office import problem_text

from discreet.cli.main import run
from discreet.design import design
from discreet.files import write_mechanism
from discreet.model.actions import ListedActions
from discreet.model.decision import Decision
from discreet.model.losses import SquaredLoss
from discreet.model.neighbours import ReplaceOne
from discreet.model.priors import IidPrior
from discreet.model.problem import Problem
from discreet.model.promises import PurePromise
from discreet.model.statistic import SumStatistic
from discreet.model.universe import Universe

SEARCHES = (
    "discreet.cli.questions.best_mechanism.design", "discreet.cli.questions.many_sizes.design_family",
    "discreet.cli.questions.several_priors.robust_design", "discreet.design.questions.frontier.frontier",
    "discreet.design.questions.allocation.allocate",
)  # fmt: skip
EXCHANGEABLE = 'kind = "exchangeable"\nconcentration = [8, 1, 1]'


class Begun(Exception):
    """A search was begun."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Problems to refuse, in the current folder; no search may begin."""
    import importlib

    def begin(*_: object, **__: object) -> None:
        raise Begun

    for search in SEARCHES:
        module, _, name = search.rpartition(".")
        monkeypatch.setattr(importlib.import_module(module), name, begin)
    plain = problem_text(8)
    iid = 'kind = "iid"\nprobabilities = [0.89, 0.09, 0.02]'
    assert iid in plain
    threshold = 'kind = "expression"\npayoff = "omega*a - 2*a"\nactions = ["0", "1"]'
    texts = {
        "places": plain,
        "spread": plain.replace(iid, EXCHANGEABLE),
        "smaller": problem_text(7),
        "threshold": plain.replace('kind = "squared-error"\nactions = "integer"', threshold),
        "averages": problem_text(8, statistic='kind = "mean"'),
        "many": problem_text(10_000, values="[" + ", ".join(map(str, range(21))) + "]", prior="[" + ", ".join(["1/21"] * 21) + "]"),
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.toml").write_text(text.replace("1/21", '"1/21"'), encoding="utf-8")
    (tmp_path / "others.toml").write_text('[[prior]]\nkind = "iid"\nprobabilities = [0.8, 0.1, 0.1]\n', encoding="utf-8")
    (tmp_path / "taken").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("design places.toml -o nowhere/x.mechanism.json", "could not be written"),
        ("design places.toml -o taken", "could not be written"),
        ("design places.toml --figure nowhere/x.svg", "could not be written"),
        ("design places.toml --alternative smaller.toml", "another universe"),
        ("design places.toml --alternative threshold.toml", "actions that the other decision does not have"),
        ("design places.toml --alternative missing.toml", "missing.toml"),
        ("design spread.toml --radius 0.05", "around iid priors"),
        ("design places.toml --radius 2", "radius"),
        ("design places.toml --draws 3", "no reference counts"),
        ("design places.toml --draws 3 --counts 1,2", "one for each type"),
        ("design many.toml --slopes", "Too large"),
        ("design places.toml --limit 3", "different questions"),
        ("design places.toml --sizes 4..5 --within oblivious", "different questions"),
        ("design places.toml --sizes 4..5 --priors others.toml", "different questions"),
        ("design places.toml --sizes 4..5 -o nowhere/x.family.json", "could not be written"),
        ("design averages.toml --sizes 4-5", "cannot be padded"),
        ("design places.toml --priors others.toml -o nowhere/x.json", "could not be written"),
        ("frontier places.toml -o nowhere/x.mechanism.json", "could not be written"),
        ("frontier places.toml --against none -o x.mechanism.json", "no single mechanism to write"),
        ("allocate places.toml places.toml --budget 1 -o taken/../places.toml", "could not be written"),
    ],
)
def test_nothing_is_searched_that_will_be_refused(folder: Path, call: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(path.name for path in folder.iterdir())
    assert run(call.split()) == 2
    assert said in capsys.readouterr().err
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize("call", ["design places.toml", "design places.toml --radius 0.05", "design places.toml --sizes 4..5"])
def test_what_can_be_asked_is_searched(folder: Path, call: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Near-miss: without a reason to refuse, the search begins."""
    assert run(call.split()) == 70
    assert "Begun" in capsys.readouterr().err


def test_what_was_found_is_kept_before_it_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Near-miss: whoever was killed while baselines were computed had no mechanism to show for the search."""
    from discreet.design import best_mechanism

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(best_mechanism._Search, "beside_baselines", killed)
    (tmp_path / "places.toml").write_text(problem_text(6), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert run(["design", "places.toml", "-o", "places.mechanism.json"]) == 130
    assert run(["certify", "places.mechanism.json"]) == 0 and "loses less than" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("values = [0, 1, 2]", 'values = [0, 1, "1e400"]', "1e-100 to 1e100"),
        ("values = [0, 1, 2]", 'values = [0, 1, "1e-400"]', "1e-100 to 1e100"),
        ("epsilon = 1.0", 'epsilon = "1e-300"', "0, or 1e-12"),
    ],
)
def test_numbers_that_floats_cannot_hold_are_refused(
    folder: Path, old: str, new: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """They ended as defects, in the middle of the search."""
    text = (folder / "places.toml").read_text(encoding="utf-8")
    assert old in text
    (folder / "places.toml").write_text(text.replace(old, new), encoding="utf-8")
    assert run(["design", "places.toml"]) == 2
    assert said in capsys.readouterr().err


def test_a_negative_value_is_read_and_is_no_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Seen: -7/3 was published, and reading it ended in "No such option: -7"."""
    values = [Fraction(-7, 3), Fraction(-1, 3), Fraction(2)]
    question = Problem(
        Universe.of(3, tuple(values)),
        ReplaceOne(),
        IidPrior((Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))),
        SumStatistic(),
        (Decision(SquaredLoss(), ListedActions((Fraction(-7, 3), Fraction(1)))),),
        PurePromise(Fraction(1)),
    )
    place = tmp_path / "debts.mechanism.json"
    write_mechanism(place, design(question).mechanism)
    assert run(["read", str(place), "-7/3", "--level", "0.8"]) == 0
    assert "-7/3" in capsys.readouterr().out
    for words in (["-7/3", "--levl", "0.8"], ["--levl=3"], ["-x"]):
        assert run(["read", str(place), *words]) == 2
        assert f"No such option: {next(w for w in words if w[:2] in ('--', '-x')).split('=')[0]}" in capsys.readouterr().err
