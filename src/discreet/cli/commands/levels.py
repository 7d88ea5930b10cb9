"""`discreet levels …`: publish several levels of one table, and read them as one coherent answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import Json, show
from discreet.cli.pictures import Draw, drawable, drawn
from discreet.errors import InputError

group = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Publish several levels, and read them together.",
)


@group.command("plan")
def plan(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="The plan of the finest level.")],
    level: Annotated[
        list[str], typer.Option("--level", metavar="KEYS=MECHANISM", help="A level above: its keys and its mechanism or family.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where plans and key sets are written.")],
    as_json: Json = False,
) -> None:
    """Write the plans of levels above a plan.

    Cells and sizes of a level above follow from the plan's key set. Commit all of them together, in one batch; a unit pays for
    every level. discreet allocate splits a budget over them with a proof.

    Example: discreet levels plan counties.toml --level county=usual.mechanism.json -o above
    """
    from discreet.publish.levels import add_up_in_a_batch, level_plans
    from discreet.views.levels import plans_view

    pairs = []
    for word in level:
        keys, equals, mechanism = word.partition("=")
        if not equals or not mechanism.strip():
            raise InputError(
                "A level is given by its keys and its mechanism",
                found=word,
                allowed="KEYS=MECHANISM",
                remedy="for instance --level county=county.family.json",
            )
        pairs.append(([key.strip() for key in keys.split(",") if key.strip()], mechanism.strip()))
    paths = level_plans(plan, pairs, output)
    show(plans_view(paths, plan, together=add_up_in_a_batch([mechanism for _, mechanism in pairs])), as_json=as_json)


@group.command("read")
def read(
    releases: Annotated[list[Path], typer.Argument(metavar="RELEASE", help="Release folders of two or more levels.")],
    level: Annotated[float, typer.Option("--level", help="Probability that an interval should hold.")] = 0.9,
    prior: Annotated[
        Path | None, typer.Option("--prior", metavar="FILE", help="A TOML file with another [prior] to read the finest level with.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write every cell of every level as CSV.")
    ] = None,
    figure: Draw = None,
    as_json: Json = False,
) -> None:
    """Read several levels as one coherent answer.

    Every cell of every level: whole, non-negative and adding up, with what all levels together say; beside it least squares.

    Example: discreet levels read by-block by-county
    """
    from discreet.cli.keeping import writable, written
    from discreet.files.atomic import write_atomically
    from discreet.files.priors import read_prior
    from discreet.publish.levels import levelled_cells
    from discreet.views.levels import levels_table, levels_view

    writable(output)
    drawable(figure)
    believing = None if prior is None else (lambda problem: read_prior(prior, problem))
    found = levelled_cells(*releases, level=level, believing=believing)
    view = levels_view(found)
    if output is not None:
        write_atomically(output, levels_table(found))
        view += written(table=output)
    if figure is not None:
        from discreet.present import levels_figure

        view += drawn(levels_figure(found), figure)
    show(view, as_json=as_json)
