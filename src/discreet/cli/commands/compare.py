"""`discreet compare MECH MECH …`: losses, privacy and orders of several mechanisms side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, beside, show
from discreet.cli.pictures import Draw, drawable, drawn, tell_drawn

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.model.mechanism import Mechanism


def command(
    mechanisms: Annotated[list[Path], typer.Argument(metavar="MECH", help="Two or more mechanism files.")],
    figure: Draw = None,
    as_json: Json = False,
) -> None:
    """Compare mechanisms side by side: losses, privacy, information.

    Shows what each is worth for the first one's problem, what it promises, and which of each pair is more informative.

    Example: discreet compare places.mechanism.json usual.mechanism.json
    """
    from discreet import files
    from discreet.errors import InputError

    if len(mechanisms) < 2:
        raise InputError(
            "There is nothing to compare",
            found=f"{len(mechanisms)} mechanism",
            allowed="two or more files",
            remedy="name another mechanism file",
        )
    drawable(figure)
    if figure is not None and len(mechanisms) != 2:
        raise InputError(
            "The picture shows the relative risks of two mechanisms",
            found=f"{len(mechanisms)} mechanisms",
            allowed="two files",
            remedy="name two, or leave --figure out",
        )
    read = [files.read_mechanism(path) for path in mechanisms]
    result: dict[str, Any] = {
        "mechanisms": [row(path, mechanism, read[0]) for path, mechanism in zip(mechanisms, read, strict=True)],
        "orders": orders(mechanisms, read),
    }
    if figure is not None:
        from discreet.present import compared_risks_figure

        names = tuple(path.name.removesuffix(".json").removesuffix(".mechanism") for path in mechanisms)
        result |= drawn(compared_risks_figure(read[0], read[1], (names[0], names[1])), figure)
    show(result, as_json=as_json, person=lambda console: tell(result, console))


def row(path: Path, mechanism: Mechanism, first: Mechanism) -> dict[str, Any]:
    """One mechanism under the first one's problem."""
    from discreet import certify
    from discreet.design.questions.regret import under
    from discreet.model.certificate import Certificate

    proof = certify.privacy(mechanism)
    seen = under(mechanism, first.problem)
    facts: dict[str, Any] = {
        "mechanism": path,
        "followed": seen.followed,
        "reread": seen.reread,
        "bias": None if seen.bias != seen.bias else seen.bias,
        "private": isinstance(proof, Certificate),
        "epsilon": mechanism.guarantee.epsilon,
        "outputs": len(mechanism.outputs),
    }
    if isinstance(proof, Certificate):
        facts["tight_epsilon"] = [proof.privacy.tight_low, proof.privacy.tight_high]
    return facts


def orders(paths: list[Path], read: list[Mechanism]) -> list[dict[str, Any]]:
    """Which of each pair is more informative, where the mechanisms are small enough to decide."""
    from discreet.errors import DiscreetError
    from discreet.geometry.orders import compare_orders

    found = []
    for i in range(len(read)):
        for j in range(i + 1, len(read)):
            entry: dict[str, Any] = {"first": paths[i], "second": paths[j]}
            try:
                entry |= compare_orders(read[i], read[j])
            except DiscreetError as error:
                entry["undecided"] = str(error)
            found.append(entry)
    return found


def tell(result: dict[str, Any], console: Console) -> None:
    """A table for a person, then the orders in words."""
    from rich.table import Table

    from discreet.geometry.orders import orders_in_words

    table = Table(box=None, pad_edge=False)
    for title in ("mechanism", "loss when followed", "loss when re-read", "bias", "ε", "outputs"):
        table.add_column(title, justify="left" if title == "mechanism" else "right", overflow="fold")
    for facts in result["mechanisms"]:
        bias = "–" if facts["bias"] is None else f"{facts['bias']:.3g}"
        level = f"{float(facts['epsilon']):g}" if facts["private"] else "[red]refuted[/red]"
        table.add_row(
            str(facts["mechanism"]),
            f"{facts['followed']:.6g}",
            f"{facts['reread']:.6g}",
            bias,
            level,
            str(facts["outputs"]),
        )
    console.print(table)
    for entry in result["orders"]:
        console.print(f"{entry['first']} and {entry['second']}:", soft_wrap=True)
        if "undecided" in entry:
            console.print(f"  orders not decided: {entry['undecided']}")
            continue
        for line in orders_in_words(entry):
            beside(console, "  ", line)
    tell_drawn(result, console)
