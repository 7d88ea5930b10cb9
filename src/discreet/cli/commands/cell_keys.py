"""`discreet cell-keys certify|design|improve|convert`: perturbation tables of statistical agencies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.output import Json, show
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.exchange.cell_keys import PerturbationTable
    from discreet.views.view import View

group = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Certify, design, improve and convert cell-key tables.",
)

Table = Annotated[Path, typer.Argument(metavar="TABLE", help="A table of ptable, cellKey or the ONS.")]
Level = Annotated[str, typer.Option("--epsilon", help="The ε at which δ is stated.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where the table is written.")]
Format = Annotated[str, typer.Option("--format", help="tau-argus, sas, cellkey or ons.")]
Keys = Annotated[int | None, typer.Option("--keys", help="Equally likely keys; 256 for ons, else 10^8.", show_default=False)]
Encoding = Annotated[str | None, typer.Option("--encoding", help="The encoding of the file, if not UTF-8.")]


@group.command("certify")
def certify(
    table: Table,
    epsilon: Level = "1",
    delta: Annotated[str | None, typer.Option("--delta", help="Claim this δ.")] = None,
    below: Annotated[int | None, typer.Option("--below", help="Published counts below this are suppressed.")] = None,
    encoding: Encoding = None,
    as_json: Json = False,
) -> None:
    """State the exact δ of a table at an ε, count by count.

    One cell whose key is uniform and secret; neighbours are counts one apart. Ends with 1 when a claimed δ is false.

    Example: discreet cell-keys certify d5v3.txt --epsilon 1
    """
    from discreet.exchange.cell_keys import read_table
    from discreet.numerics.exact import exact
    from discreet.views.cell_keys import certified_view

    claimed = None if delta is None else exact(delta, "delta")
    show(certified_view(read_table(table, encoding), exact(epsilon, "epsilon"), claimed, below), as_json=as_json)


@group.command("design")
def design(
    noise: Annotated[int, typer.Option("--noise", help="D: no noise is larger.")],
    variance: Annotated[str, typer.Option("--variance", help="V: the variance of the noise.")],
    epsilon: Annotated[str | None, typer.Option("--epsilon", help="Find the least δ at this ε.")] = None,
    delta: Annotated[str | None, typer.Option("--delta", help="Or the least ε at this δ.")] = None,
    monotone: Annotated[bool, typer.Option("--monotone", help="Chances fall away from noise 0.")] = False,
    blocked: Annotated[int, typer.Option("--blocked", help="Publish no counts from 1 to this (js).")] = 0,
    biased_zero: Annotated[bool, typer.Option("--biased-zero", help="Allow bias at 0, so that zeros may change.")] = False,
    output: Output = None,
    form: Format = "tau-argus",
    keys: Keys = None,
    as_json: Json = False,
) -> None:
    """Design the table with the least δ, or the least ε.

    Unbiased, never negative, noise of at most D and variance V; with a proof of what no such table can go below.

    Example: discreet cell-keys design --noise 5 --variance 3 --epsilon 1 -o best.txt
    """
    from discreet.exchange.cell_keys import design_table, least_epsilon, wanted_table
    from discreet.views.cell_keys import design_view, least_epsilon_view

    if (epsilon is None) == (delta is None):
        raise InputError(
            "A table is designed for an ε or for a δ",
            found="both" if epsilon else "neither",
            allowed="--epsilon or --delta",
            remedy="give one of them",
        )
    wanted = wanted_table(noise, variance, blocked=tuple(range(1, blocked + 1)), monotone=monotone, unbiased_zero=not biased_zero)
    many = _keys(keys, form)
    if epsilon is not None:
        found = design_table(wanted, epsilon, many)
        view = design_view(found)
    else:
        least = least_epsilon(wanted, delta, many)
        found, view = least.found, least_epsilon_view(least)
    show(view + _written(found.table, output, form), as_json=as_json)


@group.command("improve")
def improve(
    table: Table,
    epsilon: Level = "1",
    output: Output = None,
    form: Format = "tau-argus",
    keys: Keys = None,
    encoding: Encoding = None,
    as_json: Json = False,
) -> None:
    """Redesign a table with no more noise at any count.

    The new table is unbiased and never negative and has the least δ at ε; or it is proved that none is better.

    Example: discreet cell-keys improve d5v3.txt --epsilon 1
    """
    from discreet.exchange.cell_keys import improve as improved
    from discreet.exchange.cell_keys import read_table
    from discreet.views.cell_keys import improvement_view

    found = improved(read_table(table, encoding), epsilon, _keys(keys, form))
    show(improvement_view(found) + _written(found.found.table, output, form), as_json=as_json)


@group.command("convert")
def convert(
    table: Table,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where the table is written.")],
    form: Format,
    encoding: Encoding = None,
    as_json: Json = False,
) -> None:
    """Write a table in another format, every chance the same.

    Example: discreet cell-keys convert d5v3.txt -o d5v3.yaml --format cellkey
    """
    from discreet.exchange.cell_keys import read_table
    from discreet.views.cell_keys import table_view

    read = read_table(table, encoding)
    show(table_view(read) + _written(read, output, form), as_json=as_json)


def _keys(keys: int | None, form: str) -> int:
    return keys if keys is not None else 256 if form == "ons" else 10**8


def _written(table: PerturbationTable, output: Path | None, form: str) -> View:
    from discreet.exchange.cell_keys import table_text, write_table
    from discreet.views.cell_keys import written_view

    if output is None:
        table_text(table, form)  # an unknown format is refused even when nothing is written
    else:
        write_table(table, output, form)
    return written_view(output, form)
