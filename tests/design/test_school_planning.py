"""SY Example 1 and its family: certified optima, what people do today, and files that prove themselves.

Reference numbers were computed independently (squared loss, ε = 1; T = 2 with (.89, .09, .02), T = 3 with
(.86, .09, .03, .02)). SY print 3.22 and 2.48 for N = 40: with the printed prior the geometric mechanism loses 3.232040,
and 2.48 is achievable but not optimal.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from design_worlds import problem, school

from discreet import files
from discreet.certify import privacy
from discreet.certify.optimality import optimality
from discreet.design import Design, design
from discreet.model.certificate import Certificate, OptimalityClaim

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def places() -> Design:
    return design(problem(school(40)))


@pytest.mark.parametrize(
    ("respondents", "types", "lower", "upper"),
    [
        (10, 3, 1.088810808, 1.088810814),
        (20, 3, 1.6365117, 1.6365125),
        pytest.param(100, 3, 3.7793080, 3.7793102, marks=pytest.mark.slow),
        pytest.param(200, 3, 4.9925300, 4.9925354, marks=pytest.mark.slow),
        pytest.param(10, 4, 2.3534034, 2.3534040, marks=pytest.mark.slow),
    ],
)
def test_known_optima_are_enclosed(respondents: int, types: int, lower: float, upper: float) -> None:
    found = design(problem(school(respondents, types=types)), seconds=1e6)
    assert found.relative_gap <= 1e-6
    assert float(found.lower_bound) <= upper and float(found.loss) >= lower


def test_integer_actions_of_example_1(places: Design) -> None:
    assert places.relative_gap <= 1e-6
    assert float(places.loss) == pytest.approx(2.4097485, abs=2e-6)
    assert 2.4097470 <= float(places.lower_bound) <= 2.40974874
    assert places.reduction == "histogram program" and places.theorem == "SY Prop. 5"


@pytest.mark.parametrize(
    ("name", "loss"),
    [("geometric", 3.30255990683), ("best oblivious", 3.2007776), ("no information", 6.164), ("full information", 0.0)],
)
def test_baselines_of_example_1(places: Design, name: str, loss: float) -> None:
    assert places.baselines[name].loss == pytest.approx(loss, rel=2e-6, abs=1e-12)


def test_every_baseline_stands_beside_the_design(places: Design) -> None:
    named = {
        "geometric",
        "truncated geometric",
        "laplace",
        "staircase",
        "inverse sensitivity",
        "noisy histogram",
        "best oblivious",
        "no information",
        "full information",
    }
    assert set(places.baselines) >= named
    assert all(places.baselines[n].loss >= float(places.loss) for n in named - {"full information"})  # type: ignore[operator]


def test_a_mechanism_that_shrinks_is_not_for_adding_up(places: Design) -> None:
    assert not places.evaluation.for_adding_up
    assert 0.5 < places.evaluation.slope < 0.7


@pytest.mark.slow
def test_real_actions_of_example_1(tmp_path: Path) -> None:
    found = design(problem(school(40, "real")), seconds=1e6)
    assert 2.325919 <= float(found.loss) <= 2.325920
    assert float(found.lower_bound) >= 2.32591
    assert found.baselines["geometric"].loss == pytest.approx(3.23204002326, rel=1e-9)
    assert isinstance(privacy(found.mechanism), Certificate)
    assert isinstance(optimality(found.mechanism, found.claim), OptimalityClaim)
    check_files(found, tmp_path)


def test_the_files_alone_prove_everything(places: Design, tmp_path: Path) -> None:
    check_files(places, tmp_path)


def check_files(found: Design, folder: Path) -> None:
    """Written, then proved again by `discreet certify` and by the standalone verifier, each in its own process."""
    path = folder / "places.mechanism.json"
    files.write_mechanism(path, found.mechanism)
    files.write_certificate(files.certificate_path(path), found.certificate)
    assert files.read_certificate(files.certificate_path(path)) == found.certificate
    told = run("-c", "from discreet.cli.main import main; main()", "certify", str(path), "--json")
    result = json.loads(told)
    assert result["proved"] is True and result["certificate"]
    alone = run("-I", str(ROOT / "src" / "discreet" / "verify_standalone.py"), str(path))
    assert "rivate" in alone or "roved" in alone


def run(*words: str) -> str:
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_more_privacy_costs_more() -> None:
    losses = [float(design(problem(school(10, epsilon=e)), compare=False).loss) for e in (".25", ".5", "1", "2")]
    assert losses == sorted(losses, reverse=True)


def test_the_explanation_names_what_applied_and_what_did_not(places: Design) -> None:
    lines = places.explain().splitlines()
    assert lines[0] == (
        "histogram program (SY Prop. 5) applied: the prior is exchangeable: a mechanism may read the histogram alone"
    )
    assert "geometric (SY Thm 3) did not apply: respondents have more than two types" in lines
    assert any(line.startswith("merged-count did not apply") for line in lines)
