"""`discreet choose PROBLEM`: a range of ε side by side, in this problem's own units."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.output import Json, show
from discreet.cli.pictures import Draw, drawable, drawn
from discreet.cli.progress import progress


def command(
    problem: Annotated[Path, typer.Argument(metavar="PROBLEM", help="A problem file.")],
    epsilons: Annotated[
        str, typer.Option("--epsilons", metavar="LIST", help="Values of ε to compare, separated by commas.")
    ] = "0.25,0.5,1,2",
    sure: Annotated[float, typer.Option("--sure", help="How sure the attacker is beforehand.")] = 0.5,
    together: Annotated[int, typer.Option("--together", help="Respondents who always answer alike, you included.")] = 4,
    alpha: Annotated[float, typer.Option("--alpha", help="False alarms that a test may have.")] = 0.05,
    limits_only: Annotated[bool, typer.Option("--limits-only", help="Leave out designs and their losses: instant.")] = False,
    seconds: Annotated[float, typer.Option("--seconds", help="The longest time to search for each design.")] = 20.0,
    figure: Draw = None,
    as_json: Json = False,
) -> None:
    """Compare values of ε side by side, in this problem's own units.

    For each: the attacker's best guess, the analyst's power, the decision's loss.

    Example: discreet choose places.toml --epsilons 0.25,0.5,1,2
    """
    from discreet import files
    from discreet.interpret.choosing import choose
    from discreet.numerics.exact import exact
    from discreet.views.choice import choice_view, choices_with_designs

    drawable(figure)
    read = files.read_problem(problem)
    levels = [exact(part.strip(), "epsilon") for part in epsilons.split(",") if part.strip()]
    asked: dict[str, Any] = {"sure": sure, "together": together, "alpha": alpha}
    if limits_only:
        choices = choose(read, levels, **asked)
    else:
        with progress(read) as watch:
            choices = choices_with_designs(read, levels, watch, seconds=seconds, **asked)
    view = choice_view(choices)
    if figure is not None:
        from discreet.present import choice_figure
        from discreet.present.axes import loss_title

        view += drawn(choice_figure(choices, loss_title(read)), figure)
    show(view, as_json=as_json)
