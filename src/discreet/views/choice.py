"""Values of ε, or of ρ, side by side, viewed in the problem's own units: attacker, analyst, decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from discreet.design import design
from discreet.interpret.choosing import Choices, choose, in_words
from discreet.model.mechanism import Mechanism
from discreet.model.problem import Problem
from discreet.model.promises import LETTERS
from discreet.numerics.digits import about, given, percent_at_most, percent_given
from discreet.views.view import BREAK, Block, Grid, Sentence, View
from discreet.watch import SILENT, Watch

GAP = 1e-4
"""A design this close to best is near enough for a comparison."""


def choices_with_designs(
    problem: Problem,
    levels: Sequence[Fraction],
    watch: Watch = SILENT,
    *,
    seconds: float = 20.0,
    sure: float = 0.5,
    together: int = 4,
    alpha: float = 0.05,
) -> Choices:
    """What each level of the problem's promise means, with the best design at each and its loss."""
    choose(problem, levels, sure=sure, together=together, alpha=alpha)  # refuses what it cannot answer before any design
    made: dict[Fraction, tuple[Mechanism, float]] = {}
    for level in sorted(set(levels)):
        found = design(problem.with_level(level), watch, seconds=seconds, gap=GAP, compare=False)
        made[level] = found.mechanism, float(found.loss)
    return choose(
        problem,
        levels,
        frontier=[(e, loss) for e, (_, loss) in made.items()],
        mechanism_at=lambda e: made[e][0],
        sure=sure,
        together=together,
        alpha=alpha,
    )


def choice_view(choices: Choices) -> View:
    """A table, then the same in words."""
    facts = {
        "sure": choices.sure,
        "except_for": float(choices.except_for),
        "together": choices.together,
        "alpha": choices.alpha,
        "telling": [float(choices.low), float(choices.high)],
        "distance": choices.distance,
        "loss": choices.loss_name,
        "rows": [
            {
                choices.key: row.level,
                "attacker": row.attacker,
                "attacker_together": row.attacker_together,
                "power_at_most": row.power_limit,
                "power": row.power,
                "loss": row.loss,
            }
            for row in choices.rows
        ],
        "words": in_words(choices),
    }
    return View(facts, tuple(_told(choices)))


def _told(choices: Choices) -> Iterator[Block]:
    designed = any(row.loss is not None for row in choices.rows)
    heads = (
        LETTERS[choices.key],
        f"attacker from\n{percent_given(choices.sure)} to at most",
        f"with {choices.together}\nalike",
        f"telling {given(choices.low)} from {given(choices.high)}\nat most",
        *(("this design\nat most", choices.loss_name.lower()) if designed else ()),
    )
    rows = [
        (
            given(row.level),
            percent_at_most(row.attacker),
            percent_at_most(row.attacker_together),
            percent_at_most(row.power_limit),
            "" if row.power is None else percent_at_most(row.power),
            "" if row.loss is None else about(row.loss),
        )[: len(heads)]
        for row in choices.rows
    ]
    yield Grid(heads, rows, left=0)
    yield BREAK
    yield from (Sentence(line) for line in in_words(choices))
