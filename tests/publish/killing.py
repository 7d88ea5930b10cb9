"""Publish in processes that are killed, for real: at a named step, or at random moments of their work.

    python killing.py step TOWN NAME [MEMBER]   publish, and end by SIGKILL before the step NAME
    python killing.py random TEMPLATE WORK COUNT SEED
    python killing.py batch TEMPLATE WORK COUNT SEED

The last two copy a town COUNT times, kill a publishing child of each at a random one of all the calls that it makes, then check
in another child that nothing was lost: what was drawn is counted, a release is whole or absent, and the same command comes to an
end. In a batch the child publishes all members, one after another. Calls are counted and not seconds: a busy machine is met at the
same moments.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from functools import partial
from math import ceil
from pathlib import Path

import pytest
from towns import BUDGET, Town, publish_until_done

from discreet.errors import InputError
from discreet.publish import verify
from discreet.publish.staging import DRAWS, SEAL

MEMBERS = ("0", "1", "2")


def killed_at(name: str) -> Callable[[str], None]:
    """A step hook that ends the process before the named step, as the kernel would."""

    def hook(step: str) -> None:
        if step == name:
            os.kill(os.getpid(), signal.SIGKILL)

    return hook


def check(town: Town) -> str:
    """Everything that must hold after an interruption, and after the command was given again."""
    before = town.stages()
    drawn = list(town.folder.glob(f".release.staging/{DRAWS}"))
    sealed = list(town.folder.glob(f".release.staging/{SEAL}"))
    if town.target.exists():
        assert verify(town.target).holds, "half a release"
    if drawn or town.target.exists():
        assert before and before[-1] in ("spent", "released"), f"drawn but not counted: {before}"
    assert town.remaining() == BUDGET - len(before), "reserved is spent"
    staged = drawn[0].read_bytes() if sealed else None
    with town.ledger() as book:
        assert book.verify() is None
    if before == ["released"] and ended(town):
        burned = 0
    else:
        burned = publish_until_done(town)
    verdict = verify(town.target)
    assert verdict.holds, [c for c in verdict.checks if c.holds is False]
    after = town.stages()
    assert after.count("released") == 1
    assert town.remaining() == BUDGET - len(after), "a drawn sample is never refunded"
    if sealed or (before and before[-1] == "released"):
        assert after == [*before[:-1], "released"], "a sealed stage is finished, not drawn again"
    assert not list(town.folder.glob(".release*")), "something was left behind"
    with town.ledger() as book:
        assert book.verify() is None
    return f"{before}{' sealed' if staged else ''}, burned {burned}"


def ended(town: Town) -> bool:
    """Whether nothing is left to do. A process killed with its stage emptied but not yet removed had ended too: the command given
    again says that the release exists, and removes the stage."""
    left = list(town.folder.glob(f".{town.target.name}.*"))
    if not town.target.exists() or any(not path.is_dir() or list(path.iterdir()) for path in left):
        return False
    if left:
        with pytest.raises(InputError, match="exists already"):
            town.publish()
        assert not left[0].exists(), "an empty stage was left behind"
    return True


def publish_all(folder: Path) -> None:
    """Every member of a batch of three."""
    for member in MEMBERS:
        Town(folder, member).publish()


def check_batch(folder: Path) -> str:
    """The batch is charged once or not at all, each member drawn at most once, before and after everything was tried again."""
    towns = [Town(folder, member) for member in MEMBERS]
    before = towns[0].stages()
    assert towns[0].remaining() == (BUDGET - len(MEMBERS) if before else BUDGET), "charged whole or not at all"
    burned = 0
    for town in towns:
        with town.ledger() as book:
            recorded = [held.stage for held in book.state.reservations.values() if str(held.member) == town.member]
            assert book.verify() is None
        assert len(recorded) <= 1 and (not town.target.exists() or verify(town.target).holds)
        if recorded == ["released"] and ended(town):
            continue
        try:
            town.publish()
        except InputError as refused:
            assert "drawn once" in str(refused) or "at most once" in str(refused), refused
            assert not town.target.exists()
            burned += 1
        else:
            assert verify(town.target).holds
    after = towns[0].stages()
    assert burned <= 1 and len(after) == len(MEMBERS) and after.count("released") == len(MEMBERS) - burned
    assert towns[0].remaining() == BUDGET - len(MEMBERS), "never more, never refunded"
    with towns[0].ledger() as book:
        assert book.verify() is None
    return f"{before}, burned {burned}"


def child(work: Callable[[], object]) -> int:
    """Fork; the child does the work and ends without a word."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    return pid


def calls_of(work: Callable[[], object], last: int | None = None) -> int:
    """Do the work and count the calls and returns in it, Python's and C's; the process is killed at the one numbered `last`."""
    seen = 0

    def heard(*_: object) -> None:
        nonlocal seen
        seen += 1
        if seen == last:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(heard)
    work()
    sys.setprofile(None)
    return seen


def rehearsed(folder: Path, doing: Callable[[Path], object]) -> int:
    """How many calls the whole takes, in a child that is not killed."""
    reading, writing = os.pipe()
    assert os.waitpid(child(lambda: os.write(writing, str(calls_of(partial(doing, folder))).encode())), 0)[1] == 0
    return int(os.read(reading, 100))


def at_random(
    template: Path, work: Path, count: int, seed: int, doing: Callable[[Path], object], checking: Callable[[Path], str]
) -> int:
    """How many of the interrupted publications broke a promise; the moments are spread evenly over the work."""
    chance, bad = random.Random(seed), 0
    calls = rehearsed(Path(shutil.copytree(template, work / "rehearsal")), doing)
    for i in range(count):
        folder = Path(shutil.copytree(template, work / f"town{i}"))
        last = ceil((i + chance.random()) / count * calls)
        os.waitpid(child(partial(calls_of, partial(doing, folder), last)), 0)
        broken = os.waitpid(child(lambda folder=folder, i=i: print(i, checking(folder), flush=True)), 0)[1] != 0  # noqa: T201
        bad += broken
        if not broken:
            shutil.rmtree(folder)
    return bad


if __name__ == "__main__":
    if sys.argv[1] == "step":
        Town(Path(sys.argv[2]), *sys.argv[4:]).publish(step=killed_at(sys.argv[3]))
    else:
        single = sys.argv[1] == "random"
        broken_ones = at_random(
            Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]),
            (lambda folder: Town(folder).publish()) if single else publish_all,
            (lambda folder: check(Town(folder))) if single else check_batch,
        )  # fmt: skip
        sys.exit(broken_ones > 0)
