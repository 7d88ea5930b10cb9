"""`discreet noise PROBLEM`: is adding noise to the statistic optimal, why, and at what price."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import Json, show
from discreet.cli.pictures import Draw, drawable, drawn
from discreet.cli.progress import progress
from discreet.views.view import told


def command(
    problem: Annotated[Path, typer.Argument(metavar="PROBLEM", help="A problem file.")],
    price: Annotated[bool, typer.Option("--price/--no-price", help="Also solve for what noise costs in this problem.")] = True,
    seconds: Annotated[float, typer.Option("--seconds", help="Time for each of the two solves.", min=1.0)] = 60.0,
    figure: Draw = None,
    as_json: Json = False,
) -> None:
    """Say whether adding noise is optimal here, why, and its price.

    "Adding noise" means that the mechanism reads nothing but the statistic. Where that is not optimal, a witness is
    shown: something a private mechanism can say about the statistic that no private noise can. A statistic with three
    values can be drawn: all beliefs that privacy allows, and those that noise can induce.

    Example: discreet noise places.toml
    """
    from discreet import files
    from discreet.views.noise import noise_view

    drawable(figure)
    read = files.read_problem(problem)
    picture = None
    if figure is not None:
        from discreet.present import simplex_figure

        picture = simplex_figure(read)
    with progress(read) as watch:
        view = told({"problem": problem}) + noise_view(read, watch, price=price, seconds=seconds)
    if figure is not None and picture is not None:
        view += drawn(picture, figure)
    show(view, as_json=as_json)
