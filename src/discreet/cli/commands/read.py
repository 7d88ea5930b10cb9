"""`discreet read FILE|DIR OUTPUT…|KEY=VALUE…`: what published values mean, under the design's prior or any other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import Json, show
from discreet.errors import InputError

SETTINGS = {"ignore_unknown_options": True}
"""Published values may be negative: -3 is no option, and what is no number either is refused here."""


def command(
    mechanism: Annotated[Path, typer.Argument(metavar="FILE|DIR", help="A mechanism or family file, or a release folder.")],
    outputs: Annotated[
        list[str],
        typer.Argument(
            metavar="OUTPUT|KEY=VALUE",
            help="The code that was published (several are about the same database), or the keys of a cell of a release.",
        ),
    ],
    size: Annotated[
        int | None, typer.Option("--size", help="For a family or a release: the size of the cell that the value is about.")
    ] = None,
    prior: Annotated[
        Path | None,
        typer.Option("--prior", metavar="FILE", help="A TOML file with another [prior] (or a whole problem)."),
    ] = None,
    about: Annotated[str, typer.Option("--about", help="What to read about: statistic, database or respondent.")] = "statistic",
    level: Annotated[float, typer.Option("--level", help="Probability that the interval should hold.")] = 0.9,
    exact: Annotated[bool, typer.Option("--exact", help="Compute with rationals and show them.")] = False,
    as_json: Json = False,
) -> None:
    """Say what a published value means, and what to do about it.

    Prints the posterior of the statistic, its mean, an interval and the best action, under any prior.

    Example: discreet read places.mechanism.json 3 --prior mine.toml
    """
    from discreet.files.priors import read_prior
    from discreet.views.reading import cell_view, reading_view
    from discreet.views.subject import subject_of

    for word in outputs:
        if word.startswith("-") and not word[1:2].isdigit() and not word.startswith("-."):
            raise InputError(f"No such option: {word.split('=')[0]}", remedy="Try: discreet read --help")
    keys = [word for word in outputs if "=" in word]
    held = subject_of(mechanism, size, keys)
    values = [word for word in outputs if "=" not in word]
    if held.code is not None and not values:
        values = [held.code]
    believed = None if prior is None else read_prior(prior, held.mechanism.problem)
    view = reading_view(held.mechanism, values, believed, prior_name=str(prior), about=about, level=level, exact=exact)
    if held.words:
        view = cell_view(held) + view
    show(view, as_json=as_json)
