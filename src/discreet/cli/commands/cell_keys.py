"""`discreet cell-keys certify|design|improve|convert`: perturbation tables of statistical agencies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, beside, show
from discreet.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.exchange.cell_keys import PerturbationTable

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
Keys = Annotated[
    int | None, typer.Option("--keys", help="Equally likely keys; 256 for ons, else 10^8.", show_default=False)
]
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
    from discreet.exchange.cell_keys import facts, read_table
    from discreet.numerics.exact import exact

    claimed = None if delta is None else exact(delta, "delta")
    result = facts.certified_facts(read_table(table, encoding), exact(epsilon, "epsilon"), claimed, below)
    show(result, as_json=as_json, person=lambda console: tell_certified(result, console))
    if result["claim"] is not None and result["claim"]["holds"] is False:
        raise typer.Exit(1)


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
    from discreet.exchange.cell_keys import design_table, facts, least_epsilon, wanted_table

    if (epsilon is None) == (delta is None):
        raise InputError(
            "A table is designed for an ε or for a δ", found="both" if epsilon else "neither", allowed="--epsilon or --delta",
            remedy="give one of them",
        )
    wanted = wanted_table(
        noise, variance, blocked=tuple(range(1, blocked + 1)), monotone=monotone, unbiased_zero=not biased_zero
    )
    many = _keys(keys, form)
    if epsilon is not None:
        found = design_table(wanted, epsilon, many)
        result = facts.design_facts(found)
    else:
        least = least_epsilon(wanted, delta, many)
        found, result = least.found, facts.least_epsilon_facts(least)
    result |= _written(found.table, output, form)
    show(result, as_json=as_json, person=lambda console: tell_design(result, console))


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
    from discreet.exchange.cell_keys import facts, read_table
    from discreet.exchange.cell_keys import improve as improved

    found = improved(read_table(table, encoding), epsilon, _keys(keys, form))
    result = facts.improvement_facts(found) | _written(found.found.table, output, form)
    show(result, as_json=as_json, person=lambda console: tell_improvement(result, console))


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
    from discreet.exchange.cell_keys import facts, read_table

    read = read_table(table, encoding)
    result = facts.table_facts(read) | _written(read, output, form)
    show(result, as_json=as_json, person=lambda console: tell_written(result, console))


def _keys(keys: int | None, form: str) -> int:
    return keys if keys is not None else 256 if form == "ons" else 10**8


def _written(table: PerturbationTable, output: Path | None, form: str) -> dict[str, Any]:
    from discreet.exchange.cell_keys import table_text, write_table

    if output is None:
        table_text(table, form)  # an unknown format is refused even when nothing is written
        return {}
    write_table(table, output, form)
    return {"written": output, "format": form}


def tell_written(result: dict[str, Any], console: Console) -> None:
    """Where the table went."""
    if "written" in result:
        console.print(f"Written: {result['written']} ({result['format']})", soft_wrap=True, markup=False)


def tell_table(result: dict[str, Any], console: Console) -> None:
    """D, V and what is special, in one line."""
    from discreet.numerics.digits import about

    zeros = "zeros are kept" if result["keeps_zeros"] else "zeros may change"
    negative = "never negative" if result["never_negative"] else "may be negative"
    console.print(
        f"{result['table'] or 'table'}: D = {result['noise']}, V = {about(result['variance'], 6)}, "
        f"{result['rows']} rows, {zeros}, {negative}",
        markup=False,
    )
    for note in result["notes"]:
        beside(console, "  note     ", note)


def tell_delta(result: dict[str, Any], console: Console) -> None:
    """δ with its edge, and δ away from zero."""
    from discreet.numerics.digits import at_most, given

    edge = f", counts {result['edge'][0]} and {result['edge'][1]}" if result["edge"] else ""
    console.print(f"  δ at ε = {given(result['epsilon'])}  {at_most(result['delta'][1], 9)}{edge}")
    console.print(f"  between positive counts  {at_most(result['inner_delta'], 9)}")


def tell_certified(result: dict[str, Any], console: Console) -> None:
    """The table, its δ, and every pair of counts."""
    from rich.table import Table as Grid

    from discreet.cli.commands.check import tell_counterexample
    from discreet.numerics.digits import at_most

    tell_table(result, console)
    claim = result["claim"]
    if claim is not None:
        mark = "[bold green]Proved:[/bold green]" if claim["holds"] else "[bold red]Refuted:[/bold red]"
        console.print(f"{mark} {claim['claim']}")
        tell_counterexample(claim["counterexample"], console)
    tell_delta(result, console)
    grid = Grid(box=None, pad_edge=True)
    for title in ("counts", "δ upwards", "δ downwards"):
        grid.add_column(title, justify="right")
    shown = result["by_count"][:12]
    for pair in shown:
        low, high = pair["counts"]
        grid.add_row(f"{low}, {high}", at_most(pair["up"][1], 6), at_most(pair["down"][1], 6))
    console.print(grid)
    if len(result["by_count"]) > len(shown):
        console.print(f"  and {len(result['by_count']) - len(shown)} more pairs (--json shows all)")
    beside(console, "  note     ", result["across_tables"])


def tell_design(result: dict[str, Any], console: Console) -> None:
    """A designed table and its bound."""
    from discreet.numerics.digits import at_least, at_most, given

    tell_table(result, console)
    tell_delta(result, console)
    console.print(f"  no such table has a δ below  {at_least(result['bound'], 9)}")
    if "least_epsilon" in result:
        low, high = result["least_epsilon"]
        asked = given(result["asked_delta"])
        beside(console, "  least ε  ", f"{at_most(high, 6)} with this table; below {at_least(low, 6)} none has δ = {asked}")
    beside(console, "  note     ", result["across_tables"])
    tell_written(result, console)


def tell_improvement(result: dict[str, Any], console: Console) -> None:
    """Both tables, and what is proved about the difference."""
    from discreet.numerics.digits import at_least, at_most

    tell_table(result["given"], console)
    tell_delta(result["given"], console)
    tell_table(result["redesigned"], console)
    tell_delta(result["redesigned"], console)
    if result["none_better"]:
        console.print("[bold green]Proved:[/bold green] no unbiased table that is nowhere noisier has a smaller δ.")
    else:
        better, most = at_least(result["better_by"], 6), at_most(result["at_most_by"], 6)
        console.print(f"  smaller by at least {better}; no such table is better by more than {most}")
    beside(console, "  note     ", result["redesigned"]["across_tables"])
    tell_written(result, console)
