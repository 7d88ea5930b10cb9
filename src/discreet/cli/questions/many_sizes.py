"""`discreet design PROBLEM --sizes`: a family of mechanisms for cells of many sizes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from discreet.cli.keeping import next_step, writable
from discreet.cli.pictures import drawable, drawn
from discreet.design.questions.family import design_family
from discreet.design.questions.hedge import NEVER, must_be_hedgeable
from discreet.files import record_path, write_family, write_records
from discreet.files.sizes import Sizes
from discreet.model.problem import Problem
from discreet.model.sizes import must_scale, padded
from discreet.views.family import family_view
from discreet.views.view import Sentence, View, told
from discreet.watch import Watch

GAP = 1e-3
"""A table needs no more, takes a third of the time, and its release half the room of one within 1e-6."""


@dataclass(frozen=True)
class ManySizes:
    """The question: a mechanism for each size, the time for each and for all, and where finished members are kept."""

    problem: Problem
    sizes: Sizes
    seconds: float
    gap: float | None = None
    limit: float | None = None
    folder: Path | None = None
    workers: int | None = None
    output: Path | None = None
    figure: Path | None = None
    hedge: Fraction | None = None
    never: float | None = NEVER

    def __post_init__(self) -> None:
        drawable(self.figure)
        if self.output is not None:
            writable(self.output, record_path(self.output))
        must_scale(self.problem)
        if self.hedge is not None:
            must_be_hedgeable(self.problem)
        if bucket := next((high for low, high in self.sizes.ranges if low < high), None):
            padded(self.problem, bucket, Fraction(1, 2))  # refuses what cannot be padded

    def answer(self, watch: Watch) -> View:
        """Design the family and keep it."""
        found = design_family(
            self.problem,
            self.sizes,
            watch,
            gap=GAP if self.gap is None else self.gap,
            seconds=self.seconds,
            limit=self.limit,
            folder=self.folder,
            workers=self.workers,
            hedged=self.hedge,
            never=self.never,
        )
        written = View({}, ())
        if self.output is not None:
            digest = write_family(self.output, found.family)
            write_records(record_path(self.output), [how.record for how in found.made])
            line = Sentence(f"Written: {self.output} (hash {digest})", whole=True)
            facts = {"family": self.output, "hash": digest, "record": record_path(self.output)}
            written = told(facts, line) + next_step(f"certify {self.output}")
        view = family_view(found)
        if self.figure is not None:
            from discreet.present import family_figure

            view += drawn(family_figure(found), self.figure)
        return view + written
