"""`discreet learn PLAN QUESTION -o DIR`: everything for someone without a prior: learn one privately, design, publish, read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import Json, show
from discreet.cli.places import Key, ledger_at, signer_at
from discreet.views.view import told


def command(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="A plan file (TOML); its mechanism is made here.")],
    question: Annotated[Path, typer.Argument(metavar="QUESTION", help="A problem file without [prior]; its ε or ρ is the total.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder for everything that is made.")],
    share: Annotated[str, typer.Option(help="The share of ε or ρ for learning: auto, or a number between 0 and 1.")] = "auto",
    strata: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY", help="A key column whose values have priors of their own; may be repeated."),
    ] = None,
    hedge: Annotated[
        bool, typer.Option("--hedge", help="Design for the least worst regret over all that was learned with confidence.")
    ] = False,
    kinds: Annotated[
        bool, typer.Option("--kinds", help="Ask also whether cells are of several kinds: the prior may be a mixture.")
    ] = False,
    until: Annotated[str, typer.Option(help="Stop after this step: learn, fit, design or publish.")] = "publish",
    gap: Annotated[float, typer.Option(help="Stop a design when it is proved this close to the best.")] = 0.01,
    seconds: Annotated[float, typer.Option(help="Time for each design.")] = 60.0,
    workers: Annotated[int | None, typer.Option(help="Processes that design side by side.")] = None,
    ledger: Annotated[str | None, typer.Option(help="The ledger; by default the plan's budget.ledger.")] = None,
    key: Key = None,
    engine: Annotated[str, typer.Option(help="What counts the rows: duckdb, spark or reference.")] = "duckdb",
    as_json: Json = False,
) -> None:
    """Learn a prior, design with it, publish: all in one go.

    A share of ε (or of ρ) is spent on a first release that a prior is learned from; mechanisms are designed under it and the
    cells are published with the rest. After an interruption run the same line again. Every file in DIR is an ordinary one.

    Example: discreet learn streets.toml question.toml -o learned-2026 --key publisher.pem
    """
    from discreet.cli.commands.publish import Steps
    from discreet.cli.progress import progress
    from discreet.engines import engine_named
    from discreet.face.learned import chosen, learn
    from discreet.publish.agreement import agreement
    from discreet.publish.verification import verified
    from discreet.views.learning import designed_view, learned_view, split_view, unread_view, used_view

    choices = chosen(plan, question, output, share=share, strata=tuple(strata or ()), hedged=hedge, kinds=kinds)
    view = split_view(choices.split, choices.total)
    signer = signer_at(key)
    located = choices.located
    with ledger_at(ledger, located) as book, progress(choices.problem) as watch:
        found = learn(
            choices,
            book,
            signer=signer,
            engine=engine_named(engine),
            until=until,
            gap=gap,
            seconds=seconds,
            workers=workers,
            watch=watch,
            publishing=Steps(),
        )
        left = book.remaining(located.population, located.unit.name)
    view += told({"folder": output, "until": until, "remaining": left})
    view += unread_view(found.learned) if found.found is None else learned_view(found.found, found.learned)
    if found.designs is not None:
        view += designed_view(found.designs)
    if found.release is not None:
        held = verified(found.release, None if signer is None else signer.fingerprint)
        view += used_view(found.release, held, agreement(found.release))
    show(view, as_json=as_json)
