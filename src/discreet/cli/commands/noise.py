"""`discreet noise PROBLEM`: is adding noise to the statistic optimal, why, and at what price."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, beside, show
from discreet.cli.pictures import Draw, drawable, drawn, tell_drawn

if TYPE_CHECKING:
    from fractions import Fraction

    from rich.console import Console

    from discreet.geometry.witness import Witness
    from discreet.model.problem import Problem

MOST_SHOWN = 64
"""The most states of a witness that are written out."""


def command(
    problem: Annotated[Path, typer.Argument(metavar="PROBLEM", help="A problem file.")],
    price: Annotated[
        bool, typer.Option("--price/--no-price", help="Also solve for what noise costs in this problem.")
    ] = True,
    seconds: Annotated[float, typer.Option("--seconds", help="Time for each of the two solves.", min=1.0)] = 60.0,
    figure: Draw = None,
    as_json: Json = False,
) -> None:
    """Say whether adding noise is optimal here, why, and its price.

    "Adding noise" means that the mechanism reads nothing but the statistic. Where that is not optimal, a witness is
    shown: something a private mechanism can say about the statistic that no private noise can. A statistic with three
    values can be drawn: all beliefs that privacy allows, and those that noise can induce.

    Example: discreet noise places.toml
    """
    from discreet import files

    drawable(figure)
    read = files.read_problem(problem)
    picture = None
    if figure is not None:
        from discreet.present import simplex_figure

        picture = simplex_figure(read)
    result = {"problem": problem, **answer(read, price, seconds)}
    if figure is not None and picture is not None:
        result |= drawn(picture, figure)
    show(result, as_json=as_json, person=lambda console: tell(result, console))


def answer(problem: Problem, price: bool = True, seconds: float = 60.0) -> dict[str, Any]:
    """The answer, its reasons and the price as a mapping."""
    from discreet.geometry.noise import is_noise_optimal

    found = is_noise_optimal(problem)
    result: dict[str, Any] = {
        "optimal": found.optimal, "theorem": found.theorem, "conditions": list(found.conditions),
        "epsilon": problem.epsilon,
    }
    if found.witness is not None:
        result["witness"] = witness_facts(found.witness)
    if found.optimal:
        result["price"] = {"at_least": 0.0, "at_most": 0.0, "by": found.theorem}
    elif price:
        result["price"] = price_facts(problem, seconds)
    return result


def witness_facts(witness: Witness) -> dict[str, Any]:
    """The pair of values whose odds move too far, and the labelling that moves them."""
    from discreet.numerics.exact import format_exact

    labels = witness.listed.space.labels
    facts: dict[str, Any] = {
        "raised": format_exact(witness.raised), "lowered": format_exact(witness.lowered),
        "log_odds_shift": witness.log_shift, "states": len(labels),
    }
    if len(labels) <= MOST_SHOWN:
        facts["exponents"] = dict(zip(labels, witness.exponents, strict=True))
    return facts


def price_facts(problem: Problem, seconds: float) -> dict[str, Any]:
    """What adding noise costs: exactly where extreme points can be listed, else by two designs with their bounds."""
    from discreet.errors import InputError, TooLarge
    from discreet.geometry.price import price_of_noise

    by = "concavification over all extreme points"
    try:
        found = price_of_noise(problem)
    except (TooLarge, InputError):
        by = "two designs with their bounds"
        try:
            found = price_of_noise(problem, lambda one: designed(one, seconds))
        except TooLarge as error:
            return {"not_computed": str(error)}
    return {
        "value": float(found.value), "bound": float(found.bound),
        "oblivious_value": float(found.oblivious_value), "oblivious_bound": float(found.oblivious_bound),
        "at_least": float(found.at_least), "at_most": float(found.at_most), "by": by,
    }


def designed(problem: Problem, seconds: float) -> tuple[Fraction, Fraction]:
    """Value and bound of the best design."""
    from discreet import design

    found = design.design(problem, seconds=seconds, compare=False)
    return found.value, found.bound


def tell(result: dict[str, Any], console: Console) -> None:
    """The answer for a person."""
    from discreet.present.words import theorem_words

    if result["optimal"]:
        console.print("[bold green]Yes:[/bold green] adding noise to the statistic loses nothing, for any decision.")
    else:
        console.print("[bold red]No:[/bold red] adding noise to the statistic is not always optimal here.")
    beside(console, "  by       ", theorem_words(result["theorem"]))
    for condition in result["conditions"]:
        beside(console, "  checked  ", f"{condition}")
    witness = result.get("witness")
    if witness:
        beside(
            console,
            "  witness  ",
            f"a private posterior over {witness['states']:,} states moves the log odds of "
            f"ω = {witness['raised']} against ω = {witness['lowered']} by {witness['log_odds_shift']:.6f}; "
            f"private noise moves them by at most ε = {float(result['epsilon']):g}",
        )
        if "exponents" in witness:
            shown = "  ".join(f"{label}:{k}" for label, k in witness["exponents"].items())
            beside(console, "           ", f"prior × e^(ε·k) with k at each state: {shown}")
    tell_price(result.get("price"), console, result["optimal"])
    tell_drawn(result, console)


def tell_price(price: dict[str, Any] | None, console: Console, optimal: bool) -> None:
    """The price line."""
    if price is None or optimal:
        return
    if "not_computed" in price:
        beside(console, "  price    ", f"not computed: {price['not_computed']}")
        return
    console.print(f"  best     {price['value']:.8g} (no private mechanism exceeds {price['bound']:.8g})")
    limit = f"none that reads only ω exceeds {price['oblivious_bound']:.8g}"
    console.print(f"  noise    {price['oblivious_value']:.8g} ({limit})")
    if price["at_least"] > 0:
        beside(console, "  price    ", f"{price['at_least']:.6g} to {price['at_most']:.6g} for this decision")
        beside(console, "           ", f"found by {price['by']}")
    else:
        console.print(f"  price    at most {price['at_most']:.3g}: this decision hardly notices, others may")
