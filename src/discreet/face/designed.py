"""What `problem.design()` returns: a proved mechanism, or a family of them, with everything that can be done with it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.certify.verdict import FamilyVerdict, MechanismVerdict, of_family, of_mechanism
from discreet.design import Design
from discreet.design.questions.family import FamilyDesign
from discreet.face.columns import Columns, family_columns, mechanism_columns, posterior_columns
from discreet.face.published import HeldBudget, PublishedRelease, published
from discreet.face.shown import Answer, Shown
from discreet.files import (
    certificate_path,
    family_hash,
    record_path,
    write_certificate,
    write_family,
    write_mechanism,
    write_records,
)
from discreet.files.atomic import write_atomically
from discreet.files.family import family_document
from discreet.files.mechanism import mechanism_document
from discreet.files.strata import Served
from discreet.interpret import Posterior, posterior, posterior_after
from discreet.model.family import Member
from discreet.model.mechanism import Mechanism
from discreet.model.priors import Prior
from discreet.model.problem import Problem
from discreet.model.universe import Universe
from discreet.numerics.digits import at_least, at_most
from discreet.present.report import mechanism_report
from discreet.views.citation import citation_view
from discreet.views.design import design_view
from discreet.views.family import family_view
from discreet.views.profile import profile_view
from discreet.views.reading import reading_view
from discreet.views.verdict import verdict_view
from discreet.views.view import View

Cells = tuple[dict[Served, Member | Mechanism], dict[str, Any], Problem]


class Publishing(Shown):
    """What publishes cells: mechanisms by the sizes that they serve, and the document that holds them."""

    @abstractmethod
    def _served(self) -> Cells:
        """The mechanism of each size, the document of them all, and their problem."""

    def publish(
        self,
        frame: object,
        *,
        keys: object,
        column: str,
        otherwise: object,
        ledger: HeldBudget,
        folder: str | Path = "release",
        dataset: str = "",
        protects: str = "values",
    ) -> PublishedRelease:
        """Commit in the ledger, then draw once for each cell and write a release that anyone can verify.

        `frame` holds one row for each respondent; `keys` lists every cell that is published with its `size`, a public table that is
        never taken from the data. `column` holds the values; `otherwise` is the value that a missing or unknown one counts as.
        `ledger` is what `discreet.budget` returned, and `protects` says what is hidden: "values", "presence" or "moves".
        """
        return published(
            *self._served(),
            frame,
            keys=keys,
            column=column,
            otherwise=otherwise,
            ledger=ledger,
            folder=folder,
            dataset=dataset,
            protects=protects,
        )


@dataclass(frozen=True, eq=False, repr=False)
class DesignedMechanism(Publishing):
    """The best mechanism for a problem, with its proof and what people do today beside it."""

    found: Design

    def __repr__(self) -> str:
        loss, lower = at_most(self.found.loss), at_least(self.found.lower_bound)
        return f"<design: expected loss {loss}, none below {lower}; {self.mechanism.guarantee}>"

    def view(self) -> View:
        """The design beside what people do today."""
        return design_view(self.found)

    def columns(self) -> Columns:
        """How likely each output is in each state."""
        return mechanism_columns(self.mechanism)

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism itself: problem, summary, exact kernel, guarantee."""
        return self.found.mechanism

    @property
    def loss(self) -> float:
        """Its expected loss."""
        return float(self.found.loss)

    @property
    def lower_bound(self) -> float:
        """What no private mechanism loses less than."""
        return float(self.found.lower_bound)

    def certify(self) -> Answer[MechanismVerdict]:
        """Every claim proved again by the checker, which knows no solver."""
        verdict = of_mechanism(self.mechanism, self.found.certificate)
        return Answer(verdict, verdict_view(verdict))

    def read(self, *outputs: int | float | str | Fraction, prior: Prior | None = None, level: float = 0.9) -> Answer[Posterior]:
        """What published values about one database mean, under the design's prior or another."""
        labels = [str(output) for output in outputs]
        shown = reading_view(self.mechanism, labels, prior, level=level)
        believed = self.mechanism.problem.prior if prior is None else prior
        found = posterior_after([(self.mechanism, label) for label in labels], believed)
        return Answer(found, shown, posterior_columns)

    def profile(self, **asked: Any) -> Answer[Mechanism]:
        """The guarantee in every currency of privacy."""
        return Answer(self.mechanism, profile_view(self.mechanism, **asked))

    def cite(self) -> Answer[Mechanism]:
        """How to cite the mechanism and the results it rests on."""
        return Answer(self.mechanism, citation_view(self.mechanism))

    def write(self, path: str | Path) -> Path:
        """Write the mechanism, its certificate and its record beside it."""
        place = Path(path)
        write_mechanism(place, self.mechanism)
        write_certificate(certificate_path(place), self.found.certificate)
        write_records(record_path(place), [self.found.record(looked=True)])
        return place

    def report(self, path: str | Path) -> Path:
        """Write one printable page about it."""
        text = mechanism_report(self.mechanism, self.found.certificate, record=self.found.record(looked=True))
        write_atomically(Path(path), text.encode())
        return Path(path)

    def _served(self) -> Cells:
        universe = self.mechanism.problem.universe
        size = universe.largest if isinstance(universe, Universe) else 0
        return {size: self.mechanism}, mechanism_document(self.mechanism), self.mechanism.problem


@dataclass(frozen=True, eq=False, repr=False)
class DesignedFamily(Publishing):
    """A certified mechanism for each size of cell of a problem."""

    problem: Problem
    found: FamilyDesign

    def __repr__(self) -> str:
        members = self.found.family.members
        return f"<family: {len(members)} mechanisms for sizes {self.found.family.words}; {members[0].mechanism.guarantee}>"

    def view(self) -> View:
        """One row for each size."""
        return family_view(self.found)

    def columns(self) -> Columns:
        """The loss at each size."""
        return family_columns(self.found)

    def certify(self) -> Answer[FamilyVerdict]:
        """Every claim of every member proved again."""
        verdict = of_family(self.found.family, family_hash(self.found.family))
        return Answer(verdict, verdict_view(verdict))

    def read(self, output: int | float | str | Fraction, *, size: int, prior: Prior | None = None) -> Answer[Posterior]:
        """What a value published for a cell of so many respondents means."""
        mechanism = self.found.family.member(size).mechanism
        shown = reading_view(mechanism, [str(output)], prior)
        return Answer(posterior(mechanism, str(output), prior), shown, posterior_columns)

    def write(self, path: str | Path) -> Path:
        """Write the family, and the record of its designs beside it."""
        place = Path(path)
        write_family(place, self.found.family)
        write_records(record_path(place), [how.record for how in self.found.made])
        return place

    def _served(self) -> Cells:
        family = self.found.family
        members: dict[Served, Member | Mechanism] = {n: m for m in family.members for n in range(m.low, m.high + 1)}
        return members, family_document(family), self.problem
