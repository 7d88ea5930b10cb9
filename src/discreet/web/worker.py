"""A worker process: answers one question after another, within the memory it was given, until nobody listens any more.

`python -m discreet.web.worker BYTES [NICE]` reads a JSON object on each line of its input: {"do": {kind, arguments, folder, home}}
or {"stop": true}. It writes {"event": …} while it works and {"done": …} or {"failed": words} at the end. When its input ends, so
does it: a server that is killed leaves no worker behind.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TextIO

from discreet.design.schedule import working_with
from discreet.errors import DiscreetError
from discreet.watch import Event, Listening
from discreet.web.questions import answer

LEAST_SECONDS = 0.05
"""Events follow each other no faster than this, except the first and those of a new stage."""


class Reporting(Listening):
    """A watch that writes what it hears as lines, and hears whether to stop."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.stopped = threading.Event()
        self.begun = self.last = 0.0
        self.stage = ""

    def begin(self) -> None:
        """A new question."""
        self.stopped.clear()
        self.begun, self.last, self.stage = time.monotonic(), 0.0, ""

    def say(self, **message: Any) -> None:
        """One line to the server."""
        self.out.write(json.dumps(message) + "\n")
        self.out.flush()

    def hear(self, event: Event) -> None:
        """Pass an event on, unless the last one was a moment ago."""
        now = time.monotonic()
        if event.stage == self.stage and now - self.last < LEAST_SECONDS:
            return
        self.stage, self.last = event.stage, now
        self.say(event=asdict(replace(event, seconds=round(now - self.begun, 3))))

    def cancelled(self) -> bool:
        """Whether somebody pressed stop."""
        return self.stopped.is_set()


def main(memory: int) -> None:
    """Answer until the input ends."""
    bounded(memory)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints does not get into the conversation
    told = Reporting(out)
    asked: queue.Queue[dict[str, Any]] = queue.Queue()
    threading.Thread(target=_listen, args=(asked, told), daemon=True).start()
    told.say(ready=True)
    while True:
        question = asked.get()
        told.begin()
        try:
            folder = None if question["folder"] is None else Path(question["folder"])
            with working_with(1):  # as many questions are answered at the same time as the server was told
                told.say(done=answer(question["kind"], question["arguments"], folder, Path(question["home"]), told))
        except DiscreetError as error:  # where the folder lies on this machine is for nobody else
            told.say(failed=str(error).replace(f"{Path(question['home']).parent}{os.sep}", ""), refused=True)
        except MemoryError:
            told.say(failed=f"This needs more memory than the {memory >> 20:,} MiB that one question may take.", refused=True)
        except Exception as error:  # the words of an unexpected error may hold anything, so only its kind is told
            told.say(failed=f"Something unexpected happened here ({type(error).__name__}).", refused=False)


def bounded(memory: int) -> None:
    """Take no more memory than this from here on: what is written counts, not addresses that a library merely sets aside."""
    if memory:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _listen(asked: queue.Queue[dict[str, Any]], told: Reporting) -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "do" in message:
            asked.put(message["do"])
        else:
            told.stopped.set()
    os._exit(0)


if __name__ == "__main__":
    os.nice(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    main(int(sys.argv[1]))
