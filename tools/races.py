"""Race and kill the command line: nothing is overspent, lost or drawn twice, on both stores.

    python tools/races.py [--store sqlite|postgres|both] [--races N] [--folders N] [--kills N] [--processes N] [--seed N]

races     N times `discreet publish`, by several processes at once, each into folders of its own, for a budget of which the seed
          says how many of them it fits (from one to a quarter): exactly that many are released
folders   N times several processes with one release folder: one draw each
kills     N times `discreet publish` ended by SIGKILL after a random part of the processor time that one takes, then given again
          until it ends; only those that hit a live process count

One race is one `discreet publish` that runs while other processes publish against the same ledger, whether it wins or is refused.
A round is `processes` × 5 of them; what must hold is checked once for each round: what every process said, what the ledger holds,
which folders are there, that the chain stands and that a release chosen by the seed verifies.

Command lines run in processes forked from this one, which has imported what they need, so that starting Python is not what takes
the time. Races count with the reference engine, since half of what a small publication takes with DuckDB is opening it; folders and
kills use DuckDB. `TMPDIR` says where towns lie; in memory, flushing costs nothing. PostgreSQL is told to use serializable
transactions, which discreet must not rely on. Runs with different seeds add up. Ends with 1 if anything did not hold, and says so.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "publish")]

from towns import Town, make_town  # noqa: E402

from cluster import cluster  # noqa: E402
from discreet.cli.main import run  # noqa: E402
from discreet.ledger import Ledger, Signer, backup, open_ledger, restore  # noqa: E402
from discreet.publish import verify  # noqa: E402

EACH = 5
"""How often each process of a race publishes."""


class Office:
    """A town whose ledger lies in one of the stores."""

    def __init__(self, folder: Path, place: str) -> None:
        self.town, self.place = Town(folder), place

    def ledger(self) -> Ledger:
        """The ledger, opened."""
        return open_ledger(self.place, signer=Signer.read(self.town.folder / "key.pem"))

    def publish(self, name: str, *more: str) -> int:
        """`discreet publish` into a folder of that name; its exit code."""
        folder = self.town.folder
        line = ["publish", str(self.town.plan), "-o", str(folder / name), "--key", str(folder / "key.pem"), "--ledger", self.place]
        return run([*line, *more])

    def stages(self) -> list[str]:
        """How far each reservation has come."""
        with self.ledger() as book:
            return [held.stage for held in book.state.reservations.values()]

    def holds(self) -> bool:
        """Whether the ledger stands up to being checked."""
        with self.ledger() as book:
            return book.verify() is None


class Offices:
    """Makes offices from a template in one store."""

    def __init__(self, store: str, socket: str | None, work: Path) -> None:
        self.store, self.socket, self.work, self.count = store, socket, work, 0

    def new(self, cap: int) -> Office:
        """An office with a budget of so many publications."""
        self.count += 1
        folder = self.work / f"town{self.count}"
        make_town(folder, cap=Fraction(cap))
        if self.socket is None:
            return Office(folder, str(folder / "ledger.db"))
        import psycopg

        name = f"town_{self.count}"
        with psycopg.connect(f"host={self.socket} user=tester dbname=postgres", autocommit=True) as link:
            link.execute(f"CREATE DATABASE {name}")
        place = f"postgresql:///{name}?host={self.socket}&user=tester"
        with open_ledger(str(folder / "ledger.db")) as book:
            backup(book, folder / "b.jsonl")
        restore(folder / "b.jsonl", place)
        return Office(folder, place)

    def done(self, office: Office) -> None:
        """Clear an office away."""
        shutil.rmtree(office.town.folder)
        if self.socket is not None:
            import psycopg

            name = office.place.partition("///")[2].partition("?")[0]
            with psycopg.connect(f"host={self.socket} user=tester dbname=postgres", autocommit=True) as link:
                link.execute(f"DROP DATABASE {name} WITH (FORCE)")


def child(work: Callable[[], int]) -> int:
    """Fork; the child does the work without a word and ends with what it returned."""
    pid = os.fork()
    if pid == 0:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        code = 70
        try:
            code = work()
        finally:
            os._exit(code)
    return pid


def ended(pids: list[int]) -> list[int]:
    """The exit codes of children."""
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]


def import_ahead(offices: Offices) -> None:
    """Import whatever a publication imports, as one in a child shows; publishing here would start threads that no fork survives."""
    office = offices.new(1)
    told = office.town.folder / "modules.txt"

    def publish() -> int:
        code = office.publish("out")
        told.write_text("\n".join(sys.modules))
        return code

    if ended([child(publish)]) != [0]:
        raise SystemExit("A publication that nobody disturbs does not end well.")
    for name in told.read_text().split("\n"):
        with suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()
    offices.done(office)


def race(offices: Offices, races: int, processes: int, chance: random.Random) -> Iterator[str]:
    """What went wrong in races for a budget."""
    for start in range(0, races, processes * EACH):
        cap = chance.randint(1, processes * EACH // 4)
        office = offices.new(cap)

        def several(racer: int, office: Office = office) -> int:
            codes = {office.publish(f"out-{racer}-{turn}", "--engine", "reference") for turn in range(EACH)}
            return max(codes - {0, 1}, default=0)

        codes = ended([child(lambda racer=racer: several(racer)) for racer in range(processes)])
        released = sorted(office.town.folder.glob("out-*"))
        stages = office.stages()
        if any(codes) or stages != ["released"] * cap or len(released) != cap or not office.holds():
            yield f"race {start}: codes {codes}, {stages}, {len(released)} folders"
        elif not verify(one := chance.choice(released), Signer.read(office.town.folder / "key.pem").fingerprint).holds:
            yield f"race {start}: {one.name} does not verify"
        else:
            offices.done(office)


def one_folder(offices: Offices, folders: int, processes: int) -> Iterator[str]:
    """What went wrong with one folder and several processes."""
    if not folders:
        return
    office = offices.new(folders)
    for number in range(folders):
        codes = ended([child(lambda number=number: office.publish(f"same-{number}")) for _ in range(processes)])
        if not set(codes) <= {0, 2} or 0 not in codes or len(office.stages()) != number + 1:
            yield f"folder {number}: codes {codes}, {len(office.stages())} draws"
    if not office.holds():
        yield "one folder: the ledger does not hold"


def kill(offices: Offices, kills: int, chance: random.Random, told: dict[str, int]) -> Iterator[str]:
    """What went wrong after killing; counts what each kill met."""
    spans = []
    while sum(told.values()) < kills:
        office = offices.new(5)
        pid = child(lambda office=office: office.publish("release"))
        if len(spans) < 3:
            spans.append(_processor_time(pid, until=float("inf")))
            ended([pid])
            offices.done(office)
            continue
        _processor_time(pid, until=chance.uniform(0, 1.05 * sorted(spans)[1]))
        os.kill(pid, signal.SIGKILL)
        if ended([pid]) == [-signal.SIGKILL]:
            before = office.stages()
            met = before[-1] if before else "nothing"
            told[met] = told.get(met, 0) + 1
            wrong = _after(office, before)
            if wrong is not None:
                yield f"killed at {before}: {wrong}"
                continue
        offices.done(office)


def _processor_time(pid: int, until: float) -> float:
    """Wait until a child has ended or used so many seconds of processor time, which no other load hurries; what it has used."""
    clock, used = ~pid << 3 | 2, 0.0
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None and used < until:
        used = time.clock_gettime(clock)
        time.sleep(0.0005)
    return used


def _after(office: Office, before: list[str]) -> str | None:
    """What is wrong after a kill and after the same command was given again; None when nothing is."""
    target, folder = office.town.target, office.town.folder
    sealed = (folder / ".release.staging" / "seal.json").exists()
    draws = (folder / ".release.staging" / "draws.bin").read_bytes() if sealed else None
    if len(before) > 1 or (target.exists() and before[-1:] not in (["spent"], ["released"])):
        return "drawn but not counted"
    for _ in range(3):
        if target.exists() and not list(folder.glob(".release.*")) and office.stages()[-1:] == ["released"]:
            break
        ended([child(lambda: office.publish("release"))])
    after = office.stages()
    if after.count("released") != 1 or not set(after) <= {"released", "burned"}:
        return f"ended with {after}"
    if (sealed or before == ["released"]) and after != ["released"]:
        return f"what was drawn was lost: {after}"
    if draws is None and before in (["reserved"], ["spent"]) and not sealed and after not in (["burned", "released"], ["released"]):
        return f"ended with {after}"
    if list(folder.glob(".release*")):
        return "something was left behind"
    with office.ledger() as book:
        if book.remaining("the town", "person") != 5 - len(after) or book.verify() is not None:
            return "the budget does not add up"
    return None if verify(target, Signer.read(folder / "key.pem").fingerprint).holds else "the release does not verify"


@contextmanager
def offices_in(store: str, work: Path) -> Iterator[Offices]:
    """Offices in a store, which is started for them."""
    if store == "sqlite":
        yield Offices(store, None, work)
        return
    with cluster("default_transaction_isolation=serializable", "max_connections=200") as socket:
        yield Offices(store, socket, work)


def main() -> int:
    """Race, share folders and kill as often as asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", choices=("sqlite", "postgres", "both"), default="both")
    for name, default in (("races", 200), ("folders", 5), ("kills", 10), ("processes", 8), ("seed", 20260101)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    failures = 0
    for store in ("sqlite", "postgres") if asked.store == "both" else (asked.store,):
        with tempfile.TemporaryDirectory(prefix="races-") as work, offices_in(store, Path(work)) as offices:
            started, met, chance = time.perf_counter(), {}, random.Random(asked.seed)
            import_ahead(offices)
            wrong = [*race(offices, asked.races, asked.processes, chance), *one_folder(offices, asked.folders, asked.processes)]
            wrong += kill(offices, asked.kills, chance, met)
            print(
                f"{store}: {asked.races} races, {asked.folders} shared folders × {asked.processes}, {sum(met.values())} kills of a "
                f"live process (met: {met}), {len(wrong)} failures, {time.perf_counter() - started:.0f} s",
                flush=True,
            )
            for line in wrong:
                print(f"  {line}", flush=True)
            failures += len(wrong)
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
