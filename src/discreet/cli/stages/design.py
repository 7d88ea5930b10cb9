"""Design for places and for buses: the best mechanism for each decision, beside what people do today, and what accuracy costs.

SY Example 1. Places are first planned with any real number, as in the paper, then with whole numbers, as in life.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.views.view import Sentence, View, mind, told

TITLE = "Design the best mechanism for each decision"
EPSILONS = tuple(Fraction(k, 4) for k in (1, 2, 3, 4, 6, 8))
BESIDE = ("geometric", "staircase", "laplace", "no information")


def run(folder: Path) -> View:
    """Write places.mechanism.json and buses.mechanism.json with certificates, and frontier.svg."""
    from discreet import files
    from discreet.cli.keeping import kept
    from discreet.cli.progress import progress
    from discreet.design import design
    from discreet.gallery.frontier import places as paper_places
    from discreet.numerics.digits import about, at_least, at_most, percent_about, percent_at_most
    from discreet.views.words import adding_words

    whole = files.read_problem(folder / "places.toml")
    with progress(whole) as watch:
        paper = design(paper_places(), watch, gap=1e-4, seconds=40)
        places = design(whole, watch)
        buses = design(files.read_problem(folder / "buses.toml"), watch)
        saved = _frontier(folder, whole, watch)
    for name, found in (("places", places), ("buses", buses)):
        kept(folder / f"{name}.mechanism.json", found.mechanism, found.certificate, found.record(looked=True))
    facts = {
        "paper": _facts(paper),
        "places": _facts(places),
        "buses": _facts(buses),
        "same_loss_at": saved,
        "slope": places.evaluation.slope,
    }
    usual = {name: found.baselines["geometric"].loss or 0.0 for name, found in (("paper", paper), ("places", places))}
    less = percent_about(1 - float(paper.loss) / usual["paper"])
    return told(
        facts,
        Sentence(
            "School places, a block of 40 households, ε = 1. The usual geometric noise leaves an expected squared error of "
            f"{about(usual['paper'])}. The best private mechanism leaves {at_most(paper.loss, 4)}: {less} less. Proved: no purely "
            f"ε-private one can go below {at_least(paper.lower_bound, 4)}."
        ),
        Sentence(
            f"In whole places: {about(usual['places'])} → {at_most(places.loss, 4)}, or the usual loss at {percent_at_most(saved)} "
            "of the ε (frontier.svg)."
        ),
        Sentence(
            "Buses depend on how many households have any child. There the geometric mechanism is the best possible "
            f"({buses.theorem}): expected cost {at_most(buses.loss, 5)}."
        ),
        mind(adding_words(places.evaluation.slope)),
    )


def _frontier(folder: Path, problem: Any, watch: Any) -> float:
    """Draw the frontier of whole places; returns the share of ε that is enough for the usual mechanism's loss."""
    from discreet.design.questions.frontier import frontier
    from discreet.design.questions.smallest_epsilon import saving
    from discreet.errors import MissingExtra
    from discreet.numerics.digits import number_at_most
    from discreet.present import frontier_figure

    found = frontier(problem, EPSILONS, watch, gap=1e-4)
    usual = next(p for p in found.points if p.level == problem.epsilon).baselines["geometric"].loss
    assert usual is not None
    known = tuple((p.level, p.lower_bound, p.loss) for p in found.points)
    saved = saving(problem, "geometric", usual, watch, tolerance=1e-3, gap=1e-4, known=known)
    figure = frontier_figure(found, saved, BESIDE)
    try:
        figure.write(folder / "frontier.svg")
    except MissingExtra:
        figure.write(folder / "frontier.json")
    return number_at_most(saved.share[1])


def _facts(found: Any) -> dict[str, Any]:
    from discreet.numerics.digits import number_at_least, number_at_most

    usual = found.baselines.get("geometric")
    return {
        "loss": number_at_most(found.loss),
        "lower_bound": number_at_least(found.lower_bound),
        "gap": found.relative_gap,
        "usual": None if usual is None else usual.loss,
        "how": found.reduction,
        "theorem": found.theorem,
        "seconds": dict(found.seconds),
    }
