"""Places that keep heads, so that a ledger that was rolled back, rewritten or begun a second time is noticed when it is next used.

    /elsewhere/heads         a folder, on another disk or another machine: one file for each ledger, a line for each head
    git:/srv/heads           the same files in a Git repository, a commit for each head; push it where others can see it

A ledger names its place in its own chain, so a restored backup names it too. Before anything is appended the newest kept head
must be in the chain, and afterwards the new one is kept. A line also lists the populations that the ledger has budgets for:
another ledger for the same people, or for names that look alike, is noticed there.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import InputError, Refuted
from discreet.files.canonical import canonical_bytes, parse_json
from discreet.ledger.heads import Head
from discreet.ledger.names import likeness

Account = tuple[str, str]


@dataclass(frozen=True)
class KeptHead:
    """One line: a head, the time of its entry, and the accounts of its ledger then."""

    head: Head
    time: str
    accounts: tuple[Account, ...]

    def line(self) -> bytes:
        """As it is written."""
        document = {"head": self.head.document(), "time": self.time, "accounts": [list(a) for a in self.accounts]}
        return canonical_bytes(document) + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> KeptHead:
        """As it was written."""
        document = parse_json(line, "a kept head")
        accounts = tuple((str(population), str(unit)) for population, unit in document["accounts"])
        return cls(Head.from_document(document["head"]), str(document["time"]), accounts)


class Keeper(ABC):
    """A place that keeps heads."""

    place: str

    @abstractmethod
    def text(self, ledger: str) -> bytes:
        """The lines of one ledger, as far as they are safely kept."""

    @abstractmethod
    def ledgers(self) -> list[str]:
        """The ledgers that heads are kept of."""

    @abstractmethod
    def add(self, ledger: str, kept: KeptHead) -> None:
        """Write a line behind the others, safely."""

    @abstractmethod
    def lock(self) -> Any:
        """A context that holds off other writers."""

    def kept(self, ledger: str) -> list[KeptHead]:
        """Every head that is kept of a ledger, oldest first."""
        try:
            return [KeptHead.from_line(line) for line in self.text(ledger).splitlines()]
        except (InputError, KeyError, TypeError, ValueError, AttributeError):
            raise Refuted("the place that keeps heads was changed", f"{self.place}: a line that is no head") from None

    def keep(self, kept: KeptHead) -> None:
        """Keep a head unless a newer one is kept already."""
        ledger = str(kept.head.ledger)
        with self.lock():
            earlier = self.kept(ledger)
            if not earlier or earlier[-1].head.sequence < kept.head.sequence:
                self.add(ledger, kept)

    def alike(self, ledger: str, account: Account) -> str | None:
        """Another ledger that has a budget for these people, or for names that look alike; None when there is none."""
        for other in self.ledgers():
            lines = [] if other == ledger else self.kept(other)
            for name in lines[-1].accounts if lines else ():
                if all(likeness(mine) == likeness(theirs) for mine, theirs in zip(account, name, strict=True)):
                    return f"{name[0]} ({name[1]}) in the ledger {other[:16]}…"
        return None


class HeadFolder(Keeper):
    """Heads in files of a folder that exists."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.place = folder, str(folder)
        if not folder.is_dir():
            raise _unreachable(self.place, "no such folder")

    def text(self, ledger: str) -> bytes:
        """The file of a ledger; a last line that a crash cut short counts as not written."""
        try:
            data = (self.folder / f"{ledger}.jsonl").read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise _unreachable(self.place, error.strerror) from None
        return data[: data.rfind(b"\n") + 1]

    def ledgers(self) -> list[str]:
        """The names of the files."""
        return sorted(path.stem for path in self.folder.glob("*.jsonl"))

    @contextmanager
    def lock(self) -> Iterator[None]:
        """A lock on the folder."""
        try:
            handle = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise _unreachable(self.place, error.strerror) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def add(self, ledger: str, kept: KeptHead) -> None:
        """Cut off what a crash left, write behind it, flush to disk."""
        try:
            with (self.folder / f"{ledger}.jsonl").open("ab") as file:
                file.truncate(len(self.text(ledger)))
                file.seek(0, os.SEEK_END)
                file.write(kept.line())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise _unreachable(self.place, error.strerror) from None


class HeadRepository(Keeper):
    """Heads in a Git repository: what is committed there counts, not what lies in its work tree."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.place = folder, f"git:{folder}"
        self._git("rev-parse", "--git-dir")

    def text(self, ledger: str) -> bytes:
        """The committed file of a ledger."""
        return self._git("show", f"HEAD:{ledger}.jsonl") if ledger in self.ledgers() else b""

    def ledgers(self) -> list[str]:
        """The names of the committed files."""
        if not self._begun():
            return []
        names = self._git("ls-tree", "--name-only", "HEAD").decode().splitlines()
        return [name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl")]

    @contextmanager
    def lock(self) -> Iterator[None]:
        """A lock on the repository's own folder."""
        where = self._git("rev-parse", "--absolute-git-dir").decode().strip()
        with HeadFolder(Path(where)).lock():
            yield

    def add(self, ledger: str, kept: KeptHead) -> None:
        """Commit the file with one line more, dated as the entry is: how long data was read is nobody's business."""
        name, words = f"{ledger}.jsonl", f"Keep head {kept.head.sequence} of ledger {ledger[:16]}"
        blob = self._git("hash-object", "-w", "--stdin", given=self.text(ledger) + kept.line()).decode().strip()
        old = self._git("ls-tree", "HEAD").decode().splitlines() if self._begun() else []
        rest = [line for line in old if line.partition("\t")[2] != name]
        listed = "\n".join([*rest, f"100644 blob {blob}\t{name}", ""])
        tree = self._git("mktree", given=listed.encode()).decode().strip()
        who = {"NAME": "discreet", "EMAIL": "ledger@localhost", "DATE": kept.time}
        signed_off = {f"GIT_{role}_{part}": text for role in ("AUTHOR", "COMMITTER") for part, text in who.items()}
        parent = ("-p", "HEAD") if self._begun() else ()
        made = self._git("commit-tree", tree, *parent, "-m", words, more=signed_off).decode().strip()
        self._git("update-ref", "HEAD", made)
        if self._git("rev-parse", "--is-bare-repository").strip() == b"false":
            self._git("checkout", "--quiet", "HEAD", "--", name)

    def _begun(self) -> bool:
        """Whether anything was committed yet."""
        return bool(self._git("rev-list", "-n", "1", "--all"))

    def _git(self, *words: str, given: bytes | None = None, more: dict[str, str] | None = None) -> bytes:
        environment = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")} | (more or {})
        try:
            done = subprocess.run(
                ["git", "-C", str(self.folder), *words], input=given, capture_output=True, check=False, env=environment
            )
        except OSError as error:
            raise _unreachable(self.place, f"git: {error.strerror}") from None
        if done.returncode:
            raise _unreachable(self.place, f"git {words[0]} refused")
        return done.stdout


def keeper_at(place: str, base: Path | None = None) -> Keeper:
    """The keeper at a place; a relative path is taken from `base`, the folder of the ledger."""
    path = Path(place.removeprefix("git:"))
    if base is None and not path.is_absolute():
        raise _unreachable(place, "a ledger in a database needs a whole path, the same on every machine")
    where = path if base is None else base / path
    return HeadRepository(where) if place.startswith("git:") else HeadFolder(where)


def _unreachable(place: str, why: str | None) -> InputError:
    return InputError(
        "The place that keeps the heads of this ledger cannot be used",
        found=f"{place}: {why or 'refused'}",
        allowed="a folder that exists, or git: and a repository that exists",
        remedy="make it reachable; to name another place: discreet ledger heads LEDGER --to PLACE",
    )
