"""Design for places and for buses: the best mechanism for each decision, beside what people do today, and what accuracy costs.

SY Example 1. Places are first planned with any real number, as in the paper, then with whole numbers, as in life.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

TITLE = "Design the best mechanism for each decision"
EPSILONS = tuple(Fraction(k, 4) for k in (1, 2, 3, 4, 6, 8))
BESIDE = ("geometric", "staircase", "laplace", "no information")


def run(folder: Path) -> Mapping[str, Any]:
    """Write places.mechanism.json and buses.mechanism.json with certificates, and frontier.svg."""
    from discreet import files
    from discreet.cli.progress import progress
    from discreet.design import design
    from discreet.gallery.frontier import places as paper_places

    whole = files.read_problem(folder / "places.toml")
    with progress() as watch:
        paper = design(paper_places(), watch, gap=1e-4, seconds=40)
        places = design(whole, watch)
        buses = design(files.read_problem(folder / "buses.toml"), watch)
        saved = _frontier(folder, whole, watch)
    for name, found in (("places", places), ("buses", buses)):
        files.write_mechanism(folder / f"{name}.mechanism.json", found.mechanism)
        files.write_certificate(folder / f"{name}.certificate.json", found.certificate)
    slope = places.evaluation.slope
    return {
        "paper": _facts(paper),
        "places": _facts(places),
        "buses": _facts(buses),
        "same_loss_at": saved,
        "slope": slope,
    }


def _frontier(folder: Path, problem: Any, watch: Any) -> float:
    """Draw the frontier of whole places; returns the ε that reaches the usual mechanism's loss."""
    from discreet.design.questions.frontier import frontier
    from discreet.design.questions.smallest_epsilon import saving
    from discreet.errors import MissingExtra
    from discreet.present import frontier_figure

    found = frontier(problem, EPSILONS, watch, gap=1e-4)
    usual = next(p for p in found.points if p.epsilon == problem.epsilon).baselines["geometric"].loss
    assert usual is not None
    known = tuple((p.epsilon, p.lower_bound, p.loss) for p in found.points)
    saved = saving(problem, "geometric", usual, watch, tolerance=1e-3, gap=1e-4, known=known)
    figure = frontier_figure(found, saved, BESIDE)
    try:
        figure.write(folder / "frontier.svg")
    except MissingExtra:
        figure.write(folder / "frontier.json")
    return float(saved.reach.epsilon)


def _facts(found: Any) -> dict[str, Any]:
    usual = found.baselines.get("geometric")
    return {
        "loss": float(found.loss),
        "lower_bound": float(found.lower_bound),
        "gap": found.relative_gap,
        "usual": None if usual is None else usual.loss,
        "how": found.reduction,
        "theorem": found.theorem,
        "seconds": dict(found.seconds),
    }


def tell(result: Mapping[str, Any], console: Console) -> None:
    """The numbers, and what the design is not for."""
    from discreet.views.words import adding_words

    paper, places, buses = result["paper"], result["places"], result["buses"]
    less = 1 - paper["loss"] / paper["usual"]
    console.print(
        f"School places, a block of 40 households, ε = 1. The usual geometric noise leaves an expected squared error of "
        f"{paper['usual']:.3f}. The best private mechanism leaves [bold]{paper['loss']:.3f}: {less:.0%} "
        f"less[/bold]. Proved: none can go "
        f"below {paper['lower_bound']:.3f}."
    )
    console.print(
        f"In whole places: {places['usual']:.3f} → {places['loss']:.3f}, or the usual loss at "
        f"{result['same_loss_at']:.0%} of the ε (frontier.svg)."
    )
    console.print(
        f"Buses depend on how many households have any child. There the geometric mechanism is the best "
        f"possible ({buses['theorem']}): "
        f"expected cost {buses['loss']:.4f}."
    )
    console.print(f"[yellow]Mind:[/yellow] {adding_words(result['slope'])}")
