"""A workbench for tests: a real server in a thread of this process, and a client that sends whatever it is told."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import uvicorn
from problem_texts import small_count

from discreet.web.app import Served, workbench
from discreet.web.desk import Limits
from discreet.web.guard import Door

POINTS = 7
SMALL = 'name = "small"\n' + small_count(4, privacy='epsilon = 1\nunit = "pupil"')


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Visitor:
    """Sends requests to a server."""

    port: int
    served: Served

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def word(self) -> str:
        return self.served.bench.door.form_word

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, named)
        answer = connection.getresponse()
        found = Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        connection.close()
        return found

    def get(self, path: str, **headers: str) -> Reply:
        return self.ask("GET", path, **headers)

    def post(self, path: str, fields: Mapping[str, str] = {}, word: bool = True, **headers: str) -> Reply:
        told = {**fields, **({"form_word": self.word} if word else {})}
        named = {"content_type": "application/x-www-form-urlencoded", "accept": "application/json", **headers}
        return self.ask("POST", path, urlencode(told).encode(), **named)

    def keep(self, toml: str = SMALL) -> str:
        return str(self.post("/problem", {"toml": toml, "written": "toml"}).json["problem"])

    def designed(self, toml: str = SMALL, **more: str) -> str:
        """The name of a design that has ended."""
        begun = self.post("/problem", {"toml": toml, "written": "toml", "then": "design", **more})
        assert begun.status == 201, begun.text
        name = str(begun.json["design"])
        return self.ended(name)

    def ended(self, name: str) -> str:
        """Listen until a piece of work has ended."""
        listened = self.get(f"/jobs/{name}/events").text
        assert "event: ended" in listened
        return name


@contextmanager
def running(folder: Path, limits: Limits | None = None, token: str | None = None, ledgers: Sequence[str] = ()) -> Iterator[Visitor]:
    """A workbench over a folder on any free port."""
    bounds = limits or Limits(workers=1, patience=600, quick_seconds=600, grace=600, points=POINTS)
    served = workbench(folder, bounds, Door(token=token, body=bounds.body), ledgers)
    server = uvicorn.Server(uvicorn.Config(served.app, log_level="error", lifespan="on", ws="none", timeout_graceful_shutdown=1))
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield Visitor(listening.getsockname()[1], served)
    finally:
        server.should_exit = True
        thread.join()
