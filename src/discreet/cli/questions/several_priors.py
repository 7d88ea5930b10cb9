"""`discreet design PROBLEM --priors FILE`: one mechanism with the least worst regret over several priors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from discreet.cli.keeping import kept, writable
from discreet.cli.pictures import drawable, drawn
from discreet.design.questions.robust import robust_design
from discreet.files import certificate_path
from discreet.files.priors import read_priors
from discreet.files.robust import RobustFile, write_robust
from discreet.model.priors import Prior
from discreet.model.problem import Problem
from discreet.views.robust import robust_view
from discreet.views.view import Sentence, View, told
from discreet.watch import Watch

ENDINGS = (".json", ".mechanism", ".robust")


@dataclass(frozen=True)
class SeveralPriors:
    """The question: the problem's own prior first, then those of a file."""

    problem: Problem
    priors: tuple[Prior, ...]
    seconds: float
    gap: float | None = None
    workers: int | None = None
    output: Path | None = None
    figure: Path | None = None

    def __post_init__(self) -> None:
        drawable(self.figure)
        for place in () if self.output is None else self._places(self.output):
            writable(place)

    @staticmethod
    def of(problem: Problem, priors: Path, **asked: object) -> SeveralPriors:
        """The question with the priors of a file."""
        every = dict.fromkeys((problem.prior, *read_priors(priors, problem)))
        return SeveralPriors(problem, tuple(every), **asked)  # type: ignore[arg-type]

    @staticmethod
    def _places(output: Path) -> tuple[Path, Path, Path]:
        """X.mechanism.json, X.certificate.json and X.robust.json, whichever of the first and the last was named."""
        stem = output.name
        for ending in ENDINGS:
            stem = stem.removesuffix(ending)
        robust = output.with_name(f"{stem}.robust.json")
        mechanism = output.with_name(f"{stem}.mechanism.json") if output == robust else output
        return mechanism, certificate_path(mechanism), robust

    def answer(self, watch: Watch) -> View:
        """Design against the worst of these priors, and keep the mechanism with the proof of its regret."""
        found = robust_design(self.problem, self.priors, watch, gap=self.gap, seconds=self.seconds, workers=self.workers)
        written = View({}, ())
        if self.output is not None:
            mechanism, _, proof = self._places(self.output)
            references = tuple((r.mechanism, r.certificate) for r in found.references)
            write_robust(proof, RobustFile(found.mechanism, found.certificate, found.weights, references))
            line = Sentence(f"Written: {proof}, with what proves the worst regret", whole=True)
            written = kept(mechanism, found.mechanism, found.certificate) + told({"proof": proof}, line)
        view = robust_view(found)
        if self.figure is not None:
            from discreet.present import priors_figure

            view += drawn(priors_figure(found), self.figure)
        return view + written
