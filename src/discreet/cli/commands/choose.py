"""`discreet choose PROBLEM`: a range of ε (or ρ) side by side, in this problem's own units."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.output import Json, show
from discreet.cli.pictures import Draw, drawable, drawn
from discreet.cli.progress import progress
from discreet.cli.questions.levels import levels_asked

DEFAULTS = {"epsilon": "0.25,0.5,1,2", "rho": "0.05,0.1,0.5,1"}


def command(
    problem: Annotated[Path, typer.Argument(metavar="PROBLEM", help="A problem file.")],
    epsilons: Annotated[
        str | None, typer.Option("--epsilons", metavar="LIST", help="Values of ε to compare, separated by commas: 0.25,0.5,1,2.")
    ] = None,
    rhos: Annotated[
        str | None, typer.Option("--rhos", metavar="LIST", help="Values of ρ, for a problem that asks for ρ: 0.05,0.1,0.5,1.")
    ] = None,
    sure: Annotated[float, typer.Option("--sure", help="How sure the attacker is beforehand.")] = 0.5,
    together: Annotated[int, typer.Option("--together", help="Respondents who always answer alike, you included.")] = 4,
    alpha: Annotated[float, typer.Option("--alpha", help="False alarms that a test may have.")] = 0.05,
    limits_only: Annotated[bool, typer.Option("--limits-only", help="Leave out designs and their losses: instant.")] = False,
    seconds: Annotated[float, typer.Option("--seconds", help="The longest time to search for each design.")] = 20.0,
    figure: Draw = None,
    as_json: Json = False,
) -> None:
    """Compare levels of ε or ρ side by side, in the problem's units.

    For each: the attacker's best guess, the analyst's power, the decision's loss. Under ρ the attacker's limit holds except
    with a chance of one in a million.

    Example: discreet choose places.toml --epsilons 0.25,0.5,1,2
    """
    from discreet import files
    from discreet.interpret.choosing import choose
    from discreet.numerics.exact import exact
    from discreet.views.choice import choice_view, choices_with_designs

    drawable(figure)
    read = files.read_problem(problem)
    key = read.promise.keys[0]
    given = levels_asked(read, {"epsilons": epsilons, "rhos": rhos})
    levels = [exact(part.strip(), key) for part in (DEFAULTS[key] if given is None else given).split(",") if part.strip()]
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
