"""From a design to a release: `discreet.budget` holds the ledger, `publish` commits and draws, a release shows itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.engines.writer import read_parquet
from discreet.errors import InputError
from discreet.face.columns import Columns
from discreet.face.shown import Answer, Shown
from discreet.face.tables import SIZE, key_set_of
from discreet.files.atomic import write_atomically
from discreet.files.strata import Served
from discreet.interpret.totals import Total
from discreet.ledger import Signer, open_ledger
from discreet.model.family import Member
from discreet.model.mechanism import Mechanism
from discreet.model.plan import Plan, Source, Unit
from discreet.model.problem import Problem
from discreet.model.recoding import Recoding, Values
from discreet.model.universe import Universe
from discreet.numerics.digits import given
from discreet.numerics.exact import exact, format_exact
from discreet.present.release_report import release_report
from discreet.publish import commit, publish
from discreet.publish.bundle import Bundle, check_bundle
from discreet.publish.cell_regions import by_keys
from discreet.publish.cells import published_cells
from discreet.publish.verdict import ReleaseVerdict
from discreet.publish.verification import fingerprint_of, verified
from discreet.views.total import asked_regions, asked_total, regions_view, total_view
from discreet.views.verification import verification_view
from discreet.views.view import Fact, View


def budget(
    ledger: str | Path, *, population: str, unit: str, epsilon: int | float | str | Fraction, key: str | Path | None = None
) -> HeldBudget:
    """The budget of a population in a ledger (a path or a PostgreSQL address); what is new is made: ledger, budget and `key`.

    Asking again for the same budget changes nothing; a budget of another size is refused.
    """
    cap = exact(epsilon, "epsilon")
    with open_ledger(str(ledger), create=True) as book:
        state = book.state
        signer = None
        if key is not None:
            signer = Signer.create(key) if state.currency is None and not Path(key).exists() else Signer.read(key)
        if state.currency is None:
            book.init("pure", signer)
        held = book.state.budgets.get((population, unit))
        if held is None:
            book.declare(population, unit, cap, Fraction(0), signer)
        elif held.cap != cap:
            raise InputError(
                "This population has another budget in this ledger",
                found=f"ε = {given(cap)}",
                allowed=f"ε = {given(held.cap)}",
                remedy="a budget is fixed when it is declared: ask for the same, or name another ledger",
            )
    return HeldBudget(str(ledger), population, unit, None if key is None else Path(key))


@dataclass(frozen=True, repr=False)
class HeldBudget(Shown):
    """A budget in a ledger."""

    ledger: str
    population: str
    unit: str
    key: Path | None = None

    @property
    def remaining(self) -> Fraction:
        """What is left of it."""
        with open_ledger(self.ledger) as book:
            return book.remaining(self.population, self.unit)

    def view(self) -> View:
        """Whose budget, and what is left."""
        left = self.remaining
        facts = {"population": self.population, "unit": self.unit, "remaining": left}
        return View(facts, (Fact("population", f"{self.population} ({self.unit})"), Fact("left", f"ε = {given(left)}")))

    def __repr__(self) -> str:
        return f"<budget of {self.population} ({self.unit}): ε = {given(self.remaining)} left>"


def published(
    members: Mapping[Served, Member | Mechanism],
    document: Any,
    problem: Problem,
    frame: object,
    *,
    keys: object,
    column: str,
    otherwise: object,
    ledger: HeldBudget,
    folder: str | Path,
    dataset: str,
    protects: str,
) -> PublishedRelease:
    """Make the plan that was described, commit it, and publish it from a frame."""
    cells = key_set_of(keys)
    universe = problem.people_for("Only problems about values are published", "state the problem with values")
    plan = Plan(
        dataset=dataset or problem.name or "a private table",
        source=Source("frame"),
        keys=cells.columns,
        key_set="key_set.csv",
        recoding=_recoding(universe, column, otherwise),
        unit=Unit(problem.unit),
        mechanism="mechanism.json",
        population=ledger.population,
        protects=protects,
        size_column=SIZE,
    )
    bundle = Bundle(plan, plan, cells, members, document)
    check_bundle(bundle)
    signer = None if ledger.key is None else Signer.read(ledger.key)
    with open_ledger(ledger.ledger, signer=signer) as book:
        commit(bundle, book, signer)
        place = publish(bundle, folder, book, signer=signer, frame=frame)
    return PublishedRelease(place)


def _recoding(universe: Universe, column: str, otherwise: object) -> Recoding:
    """Each value as it is written is its type; what is missing or unknown counts as `otherwise`."""
    values = [format_exact(value) for value in universe.values]
    counted = format_exact(exact(otherwise, "otherwise"))
    if counted not in values:
        raise InputError(
            "A missing or unknown value must count as one of the values",
            found=counted,
            allowed=values,
            remedy="for instance otherwise=0",
        )
    place = values.index(counted)
    return Recoding(column, Values(tuple((value,) for value in values)), len(values), place, place, place)


def release(folder: str | Path) -> PublishedRelease:
    """A release folder as an object."""
    place = Path(folder)
    if not (place / "release.csv").is_file():
        raise InputError(
            "This folder is no release",
            found=str(place),
            allowed="a folder that publish wrote",
            remedy="give the release's folder",
        )
    return PublishedRelease(place)


@dataclass(frozen=True, repr=False)
class PublishedRelease(Shown):
    """A release folder."""

    folder: Path

    def __repr__(self) -> str:
        return f"<release in {self.folder}; .table(), .total(), .verify()>"

    def columns(self) -> Columns:
        """The published table."""
        return read_parquet(self.folder / "release.parquet")

    def verify(self, key: str | None = None) -> Answer[ReleaseVerdict]:
        """Every check that the folder allows, with what each is worth; `key` is the publisher's fingerprint, from elsewhere."""
        found = verified(self.folder, fingerprint_of(key))
        return Answer(found, verification_view(found))

    def total(
        self,
        where: Mapping[str, object] | None = None,
        *,
        less: Mapping[str, object] | None = None,
        level: float = 0.9,
        over: int | float | str | Fraction | None = None,
        doubt: float | None = None,
        also: Sequence[PublishedRelease] = (),
    ) -> Answer[Total]:
        """The total over the cells with these keys (a key's value may be a list), less that over others, with its interval.

        `doubt` allows every probability of the prior to be off by that share; `also` are further releases about the same cells;
        `.result` is the typed total.
        """
        cells = published_cells(self.folder, *(release.folder for release in also))
        threshold = None if over is None else exact(over, "over")
        asked = asked_total(cells, _words(where), less=_words(less), level=level, over=threshold, doubt=doubt)
        return Answer(asked.found, total_view(asked))

    def totals(
        self, by: str | Sequence[str], *, level: float = 0.9, doubt: float | None = None, also: Sequence[PublishedRelease] = ()
    ) -> Answer[dict[str, Total]]:
        """The total for each value of a key, with ranks; `doubt` and `also` as in `total`."""
        cells = published_cells(self.folder, *(release.folder for release in also))
        found = asked_regions(cells, by_keys(cells, [by] if isinstance(by, str) else list(by)), level, doubt)
        return Answer({region.name: region.found for region in found}, regions_view(found, level))

    def view(self) -> View:
        """Whether it verifies."""
        return self.verify().view()

    def report(self, path: str | Path) -> Path:
        """Write one printable page about it."""
        write_atomically(Path(path), release_report(self.folder).encode())
        return Path(path)


def _words(where: Mapping[str, object] | None) -> list[str]:
    """Keys and values as they are written on a command line."""
    found = []
    for key, value in (where or {}).items():
        several = value if isinstance(value, (list, tuple, set, frozenset)) else [value]
        found += [f"{key}={one}" for one in several]
    return found
