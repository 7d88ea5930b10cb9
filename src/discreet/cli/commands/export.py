"""`discreet export MECHANISM -o FILE`: a mechanism's table, or the pair that dominates it, for other people's tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import Json, show
from discreet.errors import InputError


def command(
    mechanism: Annotated[Path, typer.Argument(metavar="MECHANISM", help="A mechanism file.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write.")],
    pair: Annotated[bool, typer.Option("--pair", help="The dominating pair instead of the table.")] = False,
    opendp: Annotated[
        bool, typer.Option("--opendp", help="A script for OpenDP alone, for discrete Gaussian noise, instead of the table.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a mechanism as a CSV table that any tool can read.

    A line for each state with the exact probability of each output; or, for accountants, the two distributions of the pair
    that dominates all neighbours. Discrete Gaussian noise has no exact table: --opendp writes it as a Python script that draws
    OpenDP's own noise. In Python: discreet.exchange.to_opendp, to_accounting.

    Example: discreet export places.mechanism.json -o places.csv
    """
    from discreet import files
    from discreet.exchange import dominating, finite_of, write_finite
    from discreet.exchange.accounting import pair_table
    from discreet.model.kernel import GaussianKernel
    from discreet.numerics.exact import brief
    from discreet.views.judgement import exported_view, scripted_view

    read = files.read_mechanism(mechanism)
    if opendp:
        from discreet.exchange.opendp_script import opendp_script
        from discreet.files.atomic import write_atomically

        write_atomically(output, opendp_script(read).encode())
        show(scripted_view(read, output), as_json=as_json)
        return
    if isinstance(read.kernel, GaussianKernel):
        raise InputError(
            "Discrete Gaussian noise has no exact table: its probabilities are irrational",
            found=f"a kernel with σ² = {brief(read.kernel.sigma_squared)}",
            allowed="a table, geometric or staircase kernel; or --opendp",
            remedy="--opendp writes it as a script for OpenDP's own noise",
        )
    found = dominating(read) if pair else None
    table = finite_of(read) if found is None else pair_table(found)
    write_finite(table, output)
    show(exported_view(read, table, output, found), as_json=as_json)
