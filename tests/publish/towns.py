"""A town small enough to publish hundreds of times: people in streets answer no or yes, and the number of yes is published.

Geometric noise at ε = 1 on the number of yes among four people; one cell for each street.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet import files
from discreet.errors import InputError
from discreet.files.problem import problem_from_document
from discreet.ledger import Ledger, Signer, open_ledger
from discreet.mechanisms.geometric import geometric_mechanism
from discreet.model.mechanism import Mechanism
from discreet.model.summary import LinearSummary
from discreet.publish import Bundle, commit, gather, publish

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
    """A folder with everything that publishing needs."""

    folder: Path

    @property
    def plan(self) -> Path:
        return self.folder / "plan.toml"

    @property
    def target(self) -> Path:
        return self.folder / "release"

    @property
    def signer(self) -> Signer:
        return Signer.read(self.folder / "key.pem")

    def bundle(self) -> Bundle:
        return gather(self.plan)

    def ledger(self) -> Ledger:
        return open_ledger(str(self.folder / "ledger.db"))

    def publish(self, target: Path | None = None, **options: Any) -> Path:
        with self.ledger() as book:
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
    folder.mkdir(parents=True)
    town = Town(folder)
    write_people(folder, answers)
    chosen = mechanism or town_mechanism()
    size = chosen.problem.universe.respondents  # type: ignore[union-attr]
    cells = [f"s{i},{size}" for i in range(len(answers))]
    (folder / "streets.csv").write_text("\n".join(["street,size", *cells, ""]), encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN.format(protects=protects), encoding="utf-8")
    files.write_mechanism(folder / "yes.mechanism.json", chosen)
    signer = Signer.create(folder / "key.pem")
    with open_ledger(str(folder / "ledger.db"), create=True) as book:
        book.init(currency, signer if signed else None)
        book.declare("the town", "person", cap, delta)
        commit(town.bundle(), book, signer if signed else None)
    return town


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
