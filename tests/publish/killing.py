"""Publish in processes that are killed, for real: at a named step, or at random times.

    python killing.py step TOWN NAME [MEMBER]   publish, and end by SIGKILL before the step NAME
    python killing.py random TEMPLATE WORK COUNT SEED

The second copies a town COUNT times, kills a publishing child of each after a random time, then checks in another child that
nothing was lost: what was drawn is counted, a release is whole or absent, and the same command comes to an end.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from towns import BUDGET, Town, publish_until_done

from discreet.publish import verify
from discreet.publish.staging import DRAWS, SEAL


def killed_at(name: str) -> Callable[[str], None]:
    """A step hook that ends the process before the named step, as the kernel would."""

    def hook(step: str) -> None:
        if step == name:
            os.kill(os.getpid(), signal.SIGKILL)

    return hook


def check(town: Town) -> str:
    """Everything that must hold after an interruption, and after the command was given again."""
    before = town.stages()
    drawn = list(town.folder.glob(f".release.*.staging/{DRAWS}"))
    sealed = list(town.folder.glob(f".release.*.staging/{SEAL}"))
    if town.target.exists():
        assert verify(town.target).holds, "half a release"
    if drawn or town.target.exists():
        assert before and before[-1] in ("spent", "released"), f"drawn but not counted: {before}"
    assert town.remaining() == BUDGET - len(before), "reserved is spent"
    staged = drawn[0].read_bytes() if sealed else None
    with town.ledger() as book:
        assert book.verify() is None
    if before == ["released"] and not list(town.folder.glob(".release.*")):
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


def at_random(template: Path, work: Path, count: int, seed: int) -> int:
    """How many of the interrupted publications broke a promise."""
    chance = random.Random(seed)
    spans = []
    for i in range(3):
        town = Town(Path(shutil.copytree(template, work / f"timing{i}")))
        started = time.perf_counter()
        assert os.waitpid(child(town.publish), 0)[1] == 0
        spans.append(time.perf_counter() - started)
    longest = 1.1 * sorted(spans)[1]
    bad = 0
    for i in range(count):
        town = Town(Path(shutil.copytree(template, work / f"town{i}")))
        pid = child(town.publish)
        time.sleep(chance.uniform(0, longest))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        broken = os.waitpid(child(lambda town=town, i=i: print(i, check(town), flush=True)), 0)[1] != 0  # noqa: T201
        bad += broken
        if not broken:
            shutil.rmtree(town.folder)
    return bad


if __name__ == "__main__":
    if sys.argv[1] == "step":
        Town(Path(sys.argv[2]), *sys.argv[4:]).publish(step=killed_at(sys.argv[3]))
    else:
        sys.exit(at_random(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])) > 0)
