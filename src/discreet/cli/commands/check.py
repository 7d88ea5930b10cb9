"""`discreet check TABLE|RELEASE`: anyone's finite mechanism judged; or a release: do its cells look as its prior said?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import Json, show
from discreet.cli.progress import progress


def command(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="Probabilities in a .csv or .npy file, or a release folder.")],
    epsilon: Annotated[str | None, typer.Option("--epsilon", help="Claim this ε.")] = None,
    delta: Annotated[str | None, typer.Option("--delta", help="Claim this δ with it.")] = None,
    rho: Annotated[str | None, typer.Option("--rho", help="Claim this ρ (zCDP).")] = None,
    neighbours: Annotated[str, typer.Option("--neighbours", help="all, counts, listed, or a CSV file of pairs of states.")] = "all",
    step: Annotated[int, typer.Option("--step", help="How far one respondent moves a count.")] = 1,
    states: Annotated[str | None, typer.Option("--states", help="Where the states are: rows or columns.")] = None,
    at_epsilon: Annotated[list[str] | None, typer.Option("--at-epsilon", help="Show δ at this ε; may be repeated.")] = None,
    at_delta: Annotated[list[str] | None, typer.Option("--at-delta", help="Show ε at this δ; may be repeated.")] = None,
    best: Annotated[bool, typer.Option("--best", help="Also ask whether it could be best for anybody.")] = False,
    problem: Annotated[
        Path | None, typer.Option("--for", metavar="PROBLEM", help="Also ask by how much a design for this problem beats it.")
    ] = None,
    encoding: Annotated[str | None, typer.Option("--encoding", help="The encoding of the file, if not UTF-8.")] = None,
    as_json: Json = False,
) -> None:
    """Certify anyone's finite mechanism, or refute it with the edge.

    A line for each state, a column for each output. Pure ε and (ε, δ) are decided exactly, ρ between two sides.
    Ends with 1 when a claim is false. Of a release folder: whether its published values look as its prior said.

    Example: discreet check table.csv --neighbours counts --epsilon 1 --delta 0.1
    """
    if table.is_dir():
        from discreet.publish.agreement import agreement
        from discreet.views.agreement import agreement_view

        show(agreement_view(agreement(table), table), as_json=as_json)
        return
    from discreet import files
    from discreet.exchange.finite_files import read_finite
    from discreet.exchange.finite_mechanism import RELATIONS
    from discreet.exchange.judgement import judge
    from discreet.exchange.usefulness import beaten, could_be_best
    from discreet.views.judgement import beaten_view, judgement_view, screen_view

    joined = neighbours if neighbours in RELATIONS else Path(neighbours)
    found = read_finite(table, states_in=states, neighbours=joined, step=step, encoding=encoding)
    asked = None if problem is None else files.read_problem(problem)
    view = judgement_view(
        judge(found, epsilon=epsilon, delta=delta, rho=rho, at_epsilons=at_epsilon or (), at_deltas=at_delta or ())
    )
    if best:
        view += screen_view(could_be_best(found))
    if asked is not None:
        with progress() as watch:
            view += beaten_view(beaten(found, asked, watch=watch))
    show(view, as_json=as_json)
