"""`discreet export MECHANISM -o FILE`: a mechanism's table, or the pair that dominates it, for other people's tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import Json, show


def command(
    mechanism: Annotated[Path, typer.Argument(metavar="MECHANISM", help="A mechanism file.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The CSV file to write.")],
    pair: Annotated[bool, typer.Option("--pair", help="The dominating pair instead of the table.")] = False,
    as_json: Json = False,
) -> None:
    """Write a mechanism as a CSV table that any tool can read.

    A line for each state with the exact probability of each output; or, for accountants, the two distributions of the pair
    that dominates all neighbours. In Python: discreet.exchange.to_opendp, to_accounting.

    Example: discreet export places.mechanism.json -o places.csv
    """
    from discreet import files
    from discreet.exchange import dominating, finite_of, write_finite
    from discreet.exchange.accounting import pair_table
    from discreet.views.judgement import exported_view

    read = files.read_mechanism(mechanism)
    found = dominating(read) if pair else None
    table = finite_of(read) if found is None else pair_table(found)
    write_finite(table, output)
    show(exported_view(read, table, output, found), as_json=as_json)
