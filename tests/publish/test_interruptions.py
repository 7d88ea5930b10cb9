"""A process that dies by SIGKILL while publishing: nothing is under-counted, no half release, and the same command ends well."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from killing import check
from towns import Town, make_batch, make_town

from discreet.errors import InputError
from discreet.publish.release import STEPS

KILLING = Path(__file__).parent / "killing.py"

LEFT = {
    "prove": [], "reserve": [], "count": ["reserved"], "spend": ["reserved"], "draw": ["spent"], "stage": ["spent"],
    "write": ["spent"], "rename": ["spent"], "record": ["spent"], "tidy": ["released"],
}  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_killed_before_each_named_step(town: Town, step: str) -> None:
    done = subprocess.run(
        [sys.executable, str(KILLING), "step", str(town.folder), step], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert town.stages() == LEFT[step]
    assert town.target.exists() == (step in ("record", "tidy"))
    check(town)
    burned = LEFT[step] and step not in ("write", "rename", "record", "tidy")
    assert town.stages() == (["burned", "released"] if burned else ["released"])


def test_a_burned_draw_is_told_before_more_is_spent(town: Town) -> None:
    subprocess.run([sys.executable, str(KILLING), "step", str(town.folder), "stage"], check=False, capture_output=True)
    with pytest.raises(InputError, match="interrupted"):
        town.publish()
    assert town.stages() == ["burned"] and not town.target.exists()
    assert town.remaining() == 4


def test_a_stage_whose_seal_does_not_fit_is_burned_not_published(town: Town) -> None:
    """The near-miss of a sealed stage: one byte of the draws was lost."""
    subprocess.run([sys.executable, str(KILLING), "step", str(town.folder), "write"], check=False, capture_output=True)
    [draws] = town.folder.glob(".release.staging/draws.bin")
    draws.write_bytes(draws.read_bytes()[:-1])
    with pytest.raises(InputError, match="interrupted"):
        town.publish()
    assert town.stages() == ["burned"]


def test_killed_between_emptying_the_stage_and_removing_it(town: Town) -> None:
    """The release is whole and recorded: the command given again draws nothing, says that it exists, and tidies up."""
    town.publish()
    stage = town.folder / ".release.staging"
    stage.mkdir(mode=0o700)
    check(town)
    assert town.stages() == ["released"] and not stage.exists()


@pytest.mark.slow
def test_killed_at_random_moments(tmp_path: Path) -> None:
    killed_at_random("random", make_town(tmp_path / "template").folder, tmp_path / "work", 16)


@pytest.mark.slow
def test_batches_killed_at_random_moments(tmp_path: Path) -> None:
    killed_at_random("batch", make_batch(tmp_path / "template")[0].folder, tmp_path / "work", 8)


def killed_at_random(kind: str, template: Path, work: Path, count: int) -> None:
    work.mkdir()
    done = subprocess.run(
        [sys.executable, str(KILLING), kind, str(template), str(work), str(count), "20260101"],
        capture_output=True, text=True, check=False, timeout=1800,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    outcomes = [line.split(" ", 1)[1] for line in done.stdout.splitlines()]
    assert len(outcomes) == count
    assert len(set(outcomes)) >= 3, f"too few different stages were met: {set(outcomes)}"
