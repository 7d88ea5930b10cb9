"""`discreet total RELEASE… --where KEY=VALUE`: sums, differences, shares and ranks over cells, with intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import Json, show
from discreet.cli.pictures import Draw, drawable, drawn
from discreet.errors import InputError


def command(
    releases: Annotated[list[Path], typer.Argument(metavar="RELEASE", help="Release folders about the same population.")],
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="KEY=VALUE", help="Cells to add up: a key again allows another value, * any text."),
    ] = None,
    less: Annotated[
        list[str] | None, typer.Option("--less", metavar="KEY=VALUE", help="Take the total over these cells away: a difference.")
    ] = None,
    of: Annotated[
        list[str] | None, typer.Option("--of", metavar="KEY=VALUE", help="Also the share of the total in that over these cells.")
    ] = None,
    share: Annotated[bool, typer.Option("--share", help="Also the share of the total in that over all cells.")] = False,
    by: Annotated[
        list[str] | None, typer.Option("--by", metavar="KEY", help="A total for each value of this key, with ranks.")
    ] = None,
    regions: Annotated[
        Path | None, typer.Option("--regions", metavar="FILE", help="A total for each region of a CSV file.")
    ] = None,
    over: Annotated[str | None, typer.Option("--over", metavar="NUMBER", help="Also the probability to exceed this.")] = None,
    level: Annotated[float, typer.Option("--level", help="Probability that an interval should hold.")] = 0.9,
    prior: Annotated[
        Path | None, typer.Option("--prior", metavar="FILE", help="A TOML file with another [prior] to read the release with.")
    ] = None,
    doubt: Annotated[
        float | None,
        typer.Option("--doubt", metavar="SHARE", help="Allow every probability of the prior to be off by this share (0.1)."),
    ] = None,
    figure: Draw = None,
    as_json: Json = False,
) -> None:
    """Add up cells of a release: the total with its interval.

    Several releases about the same cells are put together. Beside it stands the unbiased sum, where there
    is one.

    Example: discreet total release-2026 --where block=b0 --where block=b1 --over 3
    """
    from discreet.files.priors import read_prior
    from discreet.interpret.regions import check_level
    from discreet.numerics.exact import exact
    from discreet.publish.cell_regions import by_keys, chosen, listed_regions
    from discreet.publish.cells import published_cells
    from discreet.views.total import asked_regions, asked_share, asked_total, regions_view, total_view

    if ((by or regions) and (less or of or share)) or (by and regions):
        raise InputError(
            "These options ask for different things",
            found="--by or --regions together with another of them",
            allowed="--by, or --regions, or --less, --of and --share",
            remedy="ask one after the other",
        )
    drawable(figure)
    check_level(level)
    threshold = None if over is None else exact(over, "over")
    believing = None if prior is None else (lambda problem: read_prior(prior, problem))
    cells = published_cells(*releases, believing=believing)
    if by or regions is not None:
        among = chosen(cells, where or [])
        pieces = by_keys(cells, by, among) if by else listed_regions(cells, regions or Path(), among)
        found = asked_regions(cells, pieces, level, doubt)
        view = regions_view(found, level, threshold)
    else:
        asked = asked_total(cells, where or [], less=less or [], level=level, over=threshold, doubt=doubt)
        part = asked_share(cells, where or [], of or [], level, doubt) if of or share else None
        view = total_view(asked, part, of or [])
    if figure is not None:
        from discreet.present.figures.total import regions_figure, total_figure

        view += drawn(regions_figure(found, level) if by or regions is not None else total_figure(asked), figure)
    show(view, as_json=as_json)
