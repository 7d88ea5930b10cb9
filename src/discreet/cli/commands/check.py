"""`discreet check TABLE`: anyone's finite mechanism, certified or refuted with the edge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, beside, show
from discreet.cli.progress import progress

if TYPE_CHECKING:
    from rich.console import Console


def command(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="Probabilities in a .csv or .npy file.")],
    epsilon: Annotated[str | None, typer.Option("--epsilon", help="Claim this ε.")] = None,
    delta: Annotated[str | None, typer.Option("--delta", help="Claim this δ with it.")] = None,
    rho: Annotated[str | None, typer.Option("--rho", help="Claim this ρ (zCDP).")] = None,
    neighbours: Annotated[
        str, typer.Option("--neighbours", help="all, counts, listed, or a CSV file of pairs of states.")
    ] = "all",
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
    Ends with 1 when a claim is false.

    Example: discreet check table.csv --neighbours counts --epsilon 1 --delta 0.1
    """
    from discreet import files
    from discreet.exchange import facts
    from discreet.exchange.finite_files import read_finite
    from discreet.exchange.finite_mechanism import RELATIONS
    from discreet.exchange.judgement import judge
    from discreet.exchange.usefulness import beaten, could_be_best

    joined = neighbours if neighbours in RELATIONS else Path(neighbours)
    found = read_finite(table, states_in=states, neighbours=joined, step=step, encoding=encoding)
    asked = None if problem is None else files.read_problem(problem)
    judged = judge(
        found, epsilon=epsilon, delta=delta, rho=rho, at_epsilons=at_epsilon or (), at_deltas=at_delta or ()
    )
    result = facts.judgement_facts(judged)
    if best:
        result["best"] = facts.screen_facts(could_be_best(found))
    if asked is not None:
        with progress() as watch:
            result["beaten"] = facts.beaten_facts(beaten(found, asked, watch=watch))
    show(result, as_json=as_json, person=lambda console: tell(result, console))
    if result["refuted"]:
        raise typer.Exit(1)


def tell(result: dict[str, Any], console: Console) -> None:
    """The outcome for a person; names from the file are shown as they are."""
    from rich.markup import escape

    from discreet.numerics.digits import given

    counted = f"{result['states']:,} states, {result['outputs']:,} outputs; {escape(result['relation'])}"
    beside(console, f"{escape(result['mechanism'])}: ", counted)
    for claim in result["claims"]:
        mark = {True: "[bold green]Proved:[/bold green]", False: "[bold red]Refuted:[/bold red]", None: "Undecided:"}
        console.print(f"{mark[claim['holds']]} {claim['claim']}")
        tell_counterexample(claim["counterexample"], console)
    tell_tight(result, console)
    for line in result["deltas"]:
        edge = f", states {' and '.join(line['edge'])}" if line["edge"] else ""
        console.print(f"  δ at ε = {given(line['epsilon'])}  {_most(line['delta'][1])}{escape(edge)}")
    for line in result["epsilons"]:
        console.print(f"  ε at δ = {given(line['delta'])}  {_most(line['epsilon'][1])}")
    console.print(f"  ρ        {_most(result['rho']['rho'][1])}")
    if "best" in result:
        _tell_best(result["best"], console)
    if "beaten" in result:
        _tell_beaten(result["beaten"], console)
    for note in result["notes"]:
        beside(console, "  note     ", escape(note))


def tell_tight(result: dict[str, Any], console: Console) -> None:
    """The tight ε with the edge and the output that attain it."""
    from rich.markup import escape

    edge = result["edge"]
    where = f", output {result['output']} at states {edge[0]} and {edge[1]}" if edge else ""
    tight = result["tight_epsilon"]
    console.print(f"  tight ε  {'infinite' if tight is None else _most(tight[1])}{escape(where)}")


def tell_counterexample(found: Any, console: Console) -> None:
    """Why a claim is false."""
    from rich.markup import escape

    if found is not None:
        beside(console, "  ", escape(f"{found.words}."))
        beside(console, "  found    ", escape(found.found or ""))
        beside(console, "  allowed  ", escape(found.allowed or ""))


def _most(number: Any) -> str:
    """An upper limit in words."""
    from discreet.numerics.digits import at_most

    return "infinite" if number == float("inf") else at_most(number, 9)


def _tell_best(found: dict[str, Any], console: Console) -> None:
    from rich.markup import escape

    if found["could_be_best"]:
        beside(console, "  best     ", "it could be best for somebody: every output attains enough privacy bounds")
    else:
        listed = ", ".join(found["not_extreme"][:6])
        words = f"for nobody: outputs {escape(listed)} leave privacy bounds unused and can be split into better ones"
        beside(console, "  best     ", words)


def _tell_beaten(found: dict[str, Any], console: Console) -> None:
    from discreet.numerics.digits import about, at_least, at_most

    lost = found["of"] == "loss"
    bound = f"no private mechanism {'loses less than' if lost else 'is worth more than'}"
    limit = at_least(found["bound"], 9) if lost else at_most(found["bound"], 9)
    console.print(f"  decision at its own ε = {at_most(found['epsilon'], 9)}:")
    own, designed = about(found["own"], 9), about(found["designed"], 9)
    beside(console, f"  {found['of']:8} ", f"{own}; a design has {designed}, and {bound} {limit}")
    low, high = found["beaten_by"]
    beside(console, "  beaten   ", f"by at least {at_least(low, 6)}, and by nothing private by more than {at_most(high, 6)}")
