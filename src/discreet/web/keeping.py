"""What the workbench keeps: problems as TOML, answers as folders, all named by the hash of what was asked.

    HOME/problems/ID.toml          a problem as it was written
    HOME/answers/ID/question.json  what was asked: a kind and its arguments
    HOME/answers/ID/state.json     queued, running, done, stopped, failed or lost, and the events on the way
    HOME/answers/ID/answer.json    facts, blocks of words, pictures
    HOME/answers/ID/…              files that belong to it: mechanism, certificate, record, report

The same question has the same name, so asking it twice is asking it once, and a page can be shared by its address. A name is
sixteen hexadecimal digits and nothing else ever becomes part of a path.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet import __version__
from discreet.errors import InputError
from discreet.files.atomic import write_atomically

NAME = re.compile(r"[0-9a-f]{16}")
FINISHED = ("done", "stopped", "failed", "lost")
ANSWERED = ("done", "stopped")
FILES = ("design.mechanism.json", "design.certificate.json", "design.record.json", "design.family.json", "report.html")
"""Files of an answer that can be asked for."""


def name_of(*parts: str) -> str:
    """A name for what is asked: the beginning of its SHA-256."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def must_be_name(text: str) -> str:
    """A name, or a refusal: nothing else is ever looked for on disk."""
    if not NAME.fullmatch(text):
        raise InputError(
            "This is not the name of anything kept here",
            found=text,
            allowed="sixteen hexadecimal digits",
            remedy="follow a link of the workbench",
        )
    return text


@dataclass(frozen=True)
class Shelf:
    """The folder in which a workbench keeps everything."""

    home: Path

    def prepared(self) -> Shelf:
        """The same, with its folders made; they are for their owner alone."""
        try:
            for folder in (self.home, self.problems, self.answers):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise InputError(
                "The workbench has no place to keep its files",
                found=f"{self.home}: {error.strerror}",
                allowed="a folder that can be written to",
                remedy="name another folder: discreet serve FOLDER",
            ) from None
        return self

    @property
    def problems(self) -> Path:
        """Where problems are."""
        return self.home / "problems"

    @property
    def answers(self) -> Path:
        """Where answers are."""
        return self.home / "answers"

    def keep_problem(self, text: str) -> str:
        """Keep a problem's text; its name."""
        name = name_of("problem", text)
        place = self.problems / f"{name}.toml"
        if not place.exists():
            write_atomically(place, text.encode())
        return name

    def problem(self, name: str) -> str:
        """The text of a problem that is kept."""
        place = self.problems / f"{must_be_name(name)}.toml"
        try:
            return place.read_text(encoding="utf-8")
        except OSError:
            raise _gone("problem", name) from None

    def folder(self, kind: str, arguments: Mapping[str, Any]) -> tuple[str, Path]:
        """The name and folder of a question; another version of the software answers anew."""
        name = name_of(kind, json.dumps(arguments, sort_keys=True), __version__)
        return name, self.answers / name

    def found(self, name: str) -> Path:
        """The folder of an answer that is kept."""
        place = self.answers / must_be_name(name)
        if not (place / "question.json").is_file():
            raise _gone("answer", name)
        return place

    def question(self, name: str) -> tuple[str, dict[str, Any]]:
        """What was asked under this name."""
        asked = read_json(self.found(name) / "question.json")
        return str(asked["kind"]), dict(asked["arguments"])

    def unfinished(self) -> Iterator[Path]:
        """Answers that nobody finished: what a server was working on when it ended."""
        for place in sorted(self.answers.glob("*/state.json")):
            if read_json(place).get("state") not in FINISHED:
                yield place.parent

    def latest(self, kinds: tuple[str, ...], most: int) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
        """Names, questions and states of the newest answers of these kinds."""
        places = sorted(self.answers.glob("*/question.json"), key=lambda place: place.stat().st_mtime_ns, reverse=True)
        listed = []
        for place in places:
            asked = read_json(place)
            if asked.get("kind") in kinds and NAME.fullmatch(place.parent.name):
                listed.append((place.parent.name, asked, read_json(place.with_name("state.json"))))
            if len(listed) == most:
                break
        return listed


def read_json(place: Path) -> dict[str, Any]:
    """A file of ours as a mapping; empty when it is not there or was cut short."""
    try:
        found = json.loads(place.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_json(place: Path, document: Mapping[str, Any]) -> None:
    """Write a file of ours in one step."""
    write_atomically(place, json.dumps(document, ensure_ascii=False).encode())


def _gone(what: str, name: str) -> InputError:
    return InputError(
        f"There is no {what} of this name",
        found=name,
        allowed=f"a {what} kept by this workbench",
        remedy="it may belong to another folder, or to an older version; ask again",
    )
