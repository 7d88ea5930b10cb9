"""A town small enough to publish hundreds of times: people in streets answer no or yes, and the number of yes is published.

Geometric noise at ε = 1 on the number of yes among four people; one cell for each street.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp
from pathlib import Path
from typing import Any

from discreet import files
from discreet.errors import InputError
from discreet.files.problem import problem_from_document
from discreet.ledger import Ledger, Signer, open_ledger
from discreet.mechanisms.geometric import geometric_mechanism
from discreet.model.kernel import Output, TableKernel
from discreet.model.mechanism import Mechanism
from discreet.model.summary import LinearSummary
from discreet.publish import Bundle, commit, commit_batch, gather, publish

ANSWERS = ((0, 1, 1, 0), (1, 1, 1, 1), (0, 0, 0, 0))
BUDGET = 5

PLAN = """\
dataset = "answers by street"
mechanism = "yes.mechanism.json"
[source]
kind = "csv"
path = "people.csv"
[cells]
keys = ["street"]
key_set = "streets.csv"
padding = true
[recoding]
column = "answer"
kind = "values"
values = [["0"], ["1"]]
missing = 0
outside = 0
absent = 0
[unit]
name = "person"
protects = "{protects}"
[budget]
population = "the town"
ledger = "ledger.db"
"""


@dataclass(frozen=True)
class Town:
    """A folder with everything that publishing needs; `member` tells the plans of a batch apart."""

    folder: Path
    member: str = ""

    @property
    def plan(self) -> Path:
        return self.folder / f"plan{self.member}.toml"

    @property
    def target(self) -> Path:
        return self.folder / f"release{self.member}"

    @property
    def signer(self) -> Signer:
        return Signer.read(self.folder / "key.pem")

    def bundle(self) -> Bundle:
        return gather(self.plan)

    def ledger(self) -> Ledger:
        return open_ledger(str(self.folder / "ledger.db"))

    def publish(self, target: Path | None = None, **options: Any) -> Path:
        """Publish, signed when the ledger has keys unless a test says otherwise."""
        with self.ledger() as book:
            options.setdefault("signer", self.signer if book.state.trust.keys else None)
            return publish(self.bundle(), target or self.target, book, **options)

    def remaining(self) -> Fraction:
        with self.ledger() as book:
            return book.remaining("the town", "person")

    def stages(self) -> list[str]:
        """How far each reservation has come."""
        with self.ledger() as book:
            return [held.stage for held in book.state.reservations.values()]


def town_mechanism(people: int = 4, epsilon: str = "1") -> Mechanism:
    """Geometric noise on the number of yes."""
    problem = problem_from_document(
        {
            "data": {"respondents": people, "values": [0, 1]},
            "prior": {"kind": "iid", "probabilities": ["0.7", "0.3"]},
            "statistic": {"kind": "sum"},
            "decision": {"kind": "squared-error", "actions": "integer"},
            "privacy": {"epsilon": epsilon, "unit": "person"},
        }
    )
    return geometric_mechanism(problem, LinearSummary((0, 1)))


def bell_mechanism(people: int = 4, epsilon: str = "2", spread: float = 6.0) -> Mechanism:
    """Rounded bell curves around the number of yes: losses of many sizes, so that ε alone says little."""
    like = town_mechanism(people, epsilon)
    span = range(-6, people + 7)
    total = 1 << 64
    columns = []
    for state in range(people + 1):
        weights = [exp(-((y - state) ** 2) / (2 * spread)) for y in span]
        column = [int(total * w / sum(weights)) for w in weights]
        column[state + 6] += total - sum(column)
        columns.append(column)
    outputs = tuple(Output(str(y), Fraction(min(max(y, 0), people))) for y in span)
    kernel = TableKernel(like.space.labels, outputs, tuple(zip(*columns, strict=True)), total)
    return replace(like, kernel=kernel)


def write_people(folder: Path, answers: Sequence[Sequence[int]]) -> None:
    lines = [f"s{street},{answer}" for street, people in enumerate(answers) for answer in people]
    (folder / "people.csv").write_text("\n".join(["street,answer", *lines, ""]), encoding="utf-8")


def make_town(
    folder: Path,
    answers: Sequence[Sequence[int]] = ANSWERS,
    *,
    currency: str = "pure",
    cap: Fraction = Fraction(BUDGET),
    delta: Fraction = Fraction(0),
    protects: str = "values",
    signed: bool = True,
    mechanism: Mechanism | None = None,
) -> Town:
    """Write the files, make the ledger and commit."""
    town = Town(folder)
    write_files(folder, answers, mechanism or town_mechanism())
    town.plan.write_text(PLAN.format(protects=protects), encoding="utf-8")
    with make_ledger(folder, currency, cap, delta, signed=signed) as book:
        commit(town.bundle(), book, town.signer if signed else None)
    return town


def make_batch(
    folder: Path,
    plans: int = 3,
    *,
    currency: str = "pure",
    cap: Fraction = Fraction(BUDGET),
    delta: Fraction = Fraction(0),
    protects: str = "values",
    signed: bool = True,
    mechanism: Mechanism | None = None,
    share: Fraction | None = None,
) -> list[Town]:
    """A town with several plans, committed as one batch."""
    towns = [Town(folder, str(i)) for i in range(plans)]
    write_files(folder, ANSWERS, mechanism or town_mechanism())
    for i, town in enumerate(towns):
        text = PLAN.format(protects=protects).replace("answers by street", f"answers by street, wave {i}")
        town.plan.write_text(text, encoding="utf-8")
    with make_ledger(folder, currency, cap, delta, signed=signed) as book:
        signer = towns[0].signer if signed else None
        commit_batch([town.bundle() for town in towns], book, signer, name="waves", delta=share)
    return towns


def write_files(folder: Path, answers: Sequence[Sequence[int]], mechanism: Mechanism) -> None:
    """People, streets, mechanism and key."""
    folder.mkdir(parents=True)
    write_people(folder, answers)
    size = mechanism.problem.universe.respondents  # type: ignore[union-attr]
    cells = [f"s{i},{size}" for i in range(len(answers))]
    (folder / "streets.csv").write_text("\n".join(["street,size", *cells, ""]), encoding="utf-8")
    files.write_mechanism(folder / "yes.mechanism.json", mechanism)
    Signer.create(folder / "key.pem")


def make_ledger(folder: Path, currency: str, cap: Fraction, delta: Fraction, *, signed: bool) -> Ledger:
    """A fresh ledger with a budget for the town."""
    book = open_ledger(str(folder / "ledger.db"), create=True)
    book.init(currency, Signer.read(folder / "key.pem") if signed else None)
    book.declare("the town", "person", cap, delta)
    return book


def publish_until_done(town: Town, target: Path | None = None) -> int:
    """Run the same command until it succeeds, as a person would; how many times it said that a draw was burned."""
    for burned in range(3):
        try:
            town.publish(target)
        except InputError as refused:
            if "interrupted" not in str(refused):
                raise
        else:
            return burned
    raise AssertionError("publishing never ended")
