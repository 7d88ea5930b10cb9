"""`discreet choose PROBLEM`: a range of ε side by side, in this problem's own units."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, show
from discreet.cli.pictures import Draw, drawable, drawn, tell_drawn
from discreet.cli.progress import progress

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.interpret.choosing import Choices
    from discreet.model.mechanism import Mechanism
    from discreet.model.problem import Problem
    from discreet.watch import Watch

GAP = 1e-4
"""A design this close to best is near enough for a comparison."""
Designed = Callable[[Fraction], "tuple[Mechanism, float]"]


def command(
    problem: Annotated[Path, typer.Argument(metavar="PROBLEM", help="A problem file.")],
    epsilons: Annotated[
        str, typer.Option("--epsilons", metavar="LIST", help="Values of ε to compare, separated by commas.")
    ] = "0.25,0.5,1,2",
    sure: Annotated[float, typer.Option("--sure", help="How sure the attacker is beforehand.")] = 0.5,
    together: Annotated[
        int, typer.Option("--together", help="Respondents who always answer alike, you included.")
    ] = 4,
    alpha: Annotated[float, typer.Option("--alpha", help="False alarms that a test may have.")] = 0.05,
    limits_only: Annotated[
        bool, typer.Option("--limits-only", help="Leave out designs and their losses: instant.")
    ] = False,
    seconds: Annotated[
        float, typer.Option("--seconds", help="The longest time to search for each design.")
    ] = 20.0,
    figure: Draw = None,
    as_json: Json = False,
) -> None:
    """Compare values of ε side by side, in this problem's own units.

    For each: the attacker's best guess, the analyst's power, the decision's loss.

    Example: discreet choose places.toml --epsilons 0.25,0.5,1,2
    """
    from discreet import files

    drawable(figure)
    read = files.read_problem(problem)
    with progress() as watch:
        designed = None if limits_only else designer(read, watch, seconds)
        choices = compared(read, numbers(epsilons), sure, together, alpha, designed)
    result = facts(choices)
    if figure is not None:
        from discreet.present import choice_figure
        from discreet.present.axes import loss_title

        result |= drawn(choice_figure(choices, loss_title(read)), figure)
    show(result, as_json=as_json, person=lambda console: tell(result, console))


def numbers(text: str) -> list[Fraction]:
    """The values of ε in a list separated by commas."""
    from discreet.numerics.exact import exact

    return [exact(part.strip(), "epsilon") for part in text.split(",") if part.strip()]


def designer(problem: Problem, watch: Watch, seconds: float) -> Designed:
    """The best design for each ε within a time limit: its mechanism and its loss."""

    def designed(epsilon: Fraction) -> tuple[Mechanism, float]:
        from discreet.design import design

        found = design(problem.with_epsilon(epsilon), watch, seconds=seconds, gap=GAP, compare=False)
        return found.mechanism, -float(found.value)

    return designed


def compared(
    problem: Problem,
    epsilons: list[Fraction],
    sure: float,
    together: int,
    alpha: float,
    designed: Designed | None,
) -> Choices:
    """The table; without `designed` only what follows from ε alone."""
    from discreet.interpret.choosing import choose

    made = {} if designed is None else {e: designed(e) for e in sorted(set(epsilons))}
    return choose(
        problem,
        epsilons,
        frontier=[(e, loss) for e, (_, loss) in made.items()] if made else None,
        mechanism_at=(lambda e: made[e][0]) if made else None,
        sure=sure,
        together=together,
        alpha=alpha,
    )


def compare(
    problem: Problem,
    epsilons: list[Fraction],
    sure: float,
    together: int,
    alpha: float,
    designed: Designed | None,
) -> dict[str, Any]:
    """The table as a mapping, in one step."""
    return facts(compared(problem, epsilons, sure, together, alpha, designed))


def facts(choices: Choices) -> dict[str, Any]:
    """The table as a mapping."""
    from discreet.interpret.choosing import in_words

    return {
        "sure": choices.sure,
        "together": choices.together,
        "alpha": choices.alpha,
        "telling": [float(choices.low), float(choices.high)],
        "distance": choices.distance,
        "loss": choices.loss_name,
        "rows": [
            {
                "epsilon": row.epsilon,
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


def tell(result: dict[str, Any], console: Console) -> None:
    """A table, then the same in words."""
    from rich.table import Table

    from discreet.numerics.digits import about, given, percent_about, percent_at_most, percent_given

    low, high = (given(value) for value in result["telling"])
    table = Table(box=None, pad_edge=False)
    designed = any(row["loss"] is not None for row in result["rows"])
    heads = ["ε", f"attacker from\n{percent_given(result['sure'])} to at most", f"with {result['together']}\nalike",
             f"telling {low} from {high}\nat most"]
    for head in [*heads, "this design", result["loss"].lower()] if designed else heads:
        table.add_column(head, justify="right", no_wrap=True)
    for row in result["rows"]:
        cells = [
            given(row["epsilon"]),
            percent_at_most(row["attacker"]),
            percent_at_most(row["attacker_together"]),
            percent_at_most(row["power_at_most"]),
            "" if row["power"] is None else percent_about(row["power"]),
            "" if row["loss"] is None else about(row["loss"]),
        ]
        table.add_row(*cells[: len(table.columns)])
    console.print(table)
    console.print()
    for line in result["words"]:
        console.print(line)
    tell_drawn(result, console)
