"""`discreet read MECHANISM OUTPUT…`: what published values mean, under the design's prior or any other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import Json, show


def command(
    mechanism: Annotated[Path, typer.Argument(metavar="MECHANISM", help="A mechanism file.")],
    outputs: Annotated[
        list[str],
        typer.Argument(metavar="OUTPUT", help="The published value; several are about the same database."),
    ],
    prior: Annotated[
        Path | None,
        typer.Option(
            "--prior", metavar="FILE", help="A TOML file with another [prior] (or a whole problem)."
        ),
    ] = None,
    about: Annotated[
        str, typer.Option("--about", help="What to read about: statistic, database or respondent.")
    ] = "statistic",
    level: Annotated[float, typer.Option("--level", help="Probability that the interval should hold.")] = 0.9,
    exact: Annotated[bool, typer.Option("--exact", help="Compute with rationals and show them.")] = False,
    as_json: Json = False,
) -> None:
    """Say what a published value means, and what to do about it.

    Prints the posterior of the statistic, its mean, an interval and the best action, under any prior.

    Example: discreet read places.mechanism.json 3 --prior mine.toml
    """
    from discreet import files
    from discreet.files.priors import read_prior
    from discreet.views.reading import reading_view

    held = files.read_mechanism(mechanism)
    believed = None if prior is None else read_prior(prior, held.problem)
    view = reading_view(held, outputs, believed, prior_name=str(prior), about=about, level=level, exact=exact)
    show(view, as_json=as_json)
