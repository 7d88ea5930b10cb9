"""Many people at one workbench: each designs a problem of their own, watches it, reads it, moves along its frontier and takes the
report, all at the same time; nobody may see an error or anything of another's, and no more may be at work than was allowed.

`python tools/crowd.py [--clients 20] [--workers 2] [--waiting 8]` starts `discreet serve` over an empty folder and says
what it saw.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

PROBLEM = """\
name = "of {who}"
[data]
respondents = {people}
values = [0, 1]
[prior]
kind = "iid"
probabilities = ["{share}/97", "{rest}/97"]
[statistic]
kind = "sum"
[decision]
kind = "squared-error"
actions = "integer"
[privacy]
epsilon = 1
unit = "{who}"
"""
GLANCES = ("/", "/problem?example=buses", "/jobs.json", "/designs.json", "/gallery", "/releases", "/openapi.json")


@dataclass
class Seen:
    """What all of them saw together."""

    answers: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    most_at_work: int = 0
    most_waiting: int = 0
    slowest: float = 0.0
    ended: int = 0


@dataclass(frozen=True)
class Guest:
    """One of them, known by a word that is in their problem and in nobody else's."""

    port: int
    place: int
    seen: Seen

    @property
    def who(self) -> str:
        return f"guest-{self.place:03d}-end"

    def ask(self, method: str, path: str, fields: dict[str, str] | None = None) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        body = None if fields is None else urlencode(fields)
        headers = {"accept": "application/json"} if fields is not None else {}
        headers |= {"content-type": "application/x-www-form-urlencoded"} if fields is not None else {}
        begun = time.monotonic()
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if "/events" not in path:
            self.seen.slowest = max(self.seen.slowest, time.monotonic() - begun)
        self.seen.answers[answer.status] += 1
        if answer.status not in (200, 201, 202, 503):
            self.seen.wrong.append(f"{answer.status} at {path}: {text[:200]}")
        return answer.status, text

    def got(self, path: str) -> Any:
        return json.loads(self.ask("GET", path)[1])

    def stay(self) -> None:
        """A whole visit."""
        chance = random.Random(self.place)
        word = self.got("/form-word.json")["form_word"]
        share = 20 + self.place % 70
        toml = PROBLEM.format(who=self.who, people=4 + self.place % 3, share=share, rest=97 - share)
        asked = {"form_word": word, "toml": toml, "written": "toml", "then": "design", "gap": "1e-3"}
        status, text = 503, ""
        while status == 503:  # as many wait as may: look at something else, then ask again
            status, text = self.ask("POST", "/problem", asked)
            self.ask("GET", chance.choice(GLANCES))
        begun = json.loads(text)
        self.ask("GET", f"/jobs/{begun['design']}/events")
        mine = f"/design/{begun['design']}"
        facts = self.got(f"{mine}.json")
        if facts.get("state") != "done" or facts["problem"] != begun["problem"]:
            self.seen.wrong.append(f"{self.who} found {facts.get('state')} {facts.get('words')}")
            return
        frontier = f"/frontier/{begun['problem']}"
        for path in (mine, f"{mine}/reading", f"{mine}/guarantees", f"{mine}/report", frontier, f"/problem/{begun['problem']}"):
            _, page = self.ask("GET", path)
            strangers = {piece[:7] for piece in page.split("guest-")[1:]} - {self.who.removeprefix("guest-")}
            if strangers:
                self.seen.wrong.append(f"{self.who} saw {sorted(strangers)} at {path}")
            self.ask("GET", chance.choice(GLANCES))
        at = self.got(f"{frontier}/at.json?epsilon=1")
        if not at["solved_here"] or abs(at["loss_at_most"] - facts["loss"]) > 1e-9 * facts["loss"]:
            self.seen.wrong.append(f"{self.who} found another loss at their frontier")
        self.seen.ended += 1


def crowd(port: int, clients: int) -> Seen:
    """All of them at once, and somebody who counts."""
    seen, done = Seen(), threading.Event()
    watcher = Guest(port, 999, seen)

    def count() -> None:
        while not done.is_set():
            states = Counter(row["state"] for row in watcher.got("/jobs.json")["work"] if row["kind"] == "design")
            seen.most_at_work = max(seen.most_at_work, states["running"])
            seen.most_waiting = max(seen.most_waiting, states["queued"])
            done.wait(0.05)

    counting = threading.Thread(target=count)
    counting.start()
    with ThreadPoolExecutor(clients) as pool:
        for visit in [pool.submit(Guest(port, place, seen).stay) for place in range(clients)]:
            error = visit.exception()
            if error is not None:
                seen.wrong.append(repr(error))
    done.set()
    counting.join()
    return seen


@contextmanager
def served(folder: Path, workers: int, waiting: int) -> Iterator[int]:
    """The port of `discreet serve` over a folder."""
    command = [sys.executable, "-m", "discreet", "serve", str(folder), "--port", "0", "--json"]
    command += ["--workers", str(workers), "--waiting", str(waiting)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = ""
        while not told.rstrip().endswith("}"):
            told += process.stdout.readline()
        try:
            yield urlsplit(json.loads(told)["address"]).port or 0
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()


def main() -> int:
    """Print what was seen; 1 when something was wrong."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--clients", type=int, default=20)
    asked.add_argument("--workers", type=int, default=2)
    asked.add_argument("--waiting", type=int, default=8)
    given = asked.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), given.workers, given.waiting) as port:
        seen = crowd(port, given.clients)
    print(f"{seen.ended} of {given.clients} visits ended in {time.monotonic() - begun:.0f} s; answers {dict(seen.answers)}")
    print(f"at work at most {seen.most_at_work} of {given.workers}, waiting at most {seen.most_waiting} of {given.waiting}")
    print(f"slowest answer {seen.slowest:.1f} s; wrong: {seen.wrong or 'nothing'}")
    return 0 if not seen.wrong and seen.ended == given.clients else 1


if __name__ == "__main__":
    sys.exit(main())
