"""`discreet profile MECHANISM`: the guarantee of a mechanism in every currency."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, show
from discreet.cli.pictures import Draw, drawable, drawn, tell_drawn

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.currencies.bracket import Worst
    from discreet.model.mechanism import Mechanism
    from discreet.present.figure import Figure


def command(
    mechanism: Annotated[Path, typer.Argument(metavar="MECHANISM", help="A mechanism file.")],
    epsilon: Annotated[
        list[str] | None, typer.Option("--epsilon", help="Also show δ at this ε; may be repeated.")
    ] = None,
    delta: Annotated[
        list[str] | None, typer.Option("--delta", help="Also show ε at this δ; may be repeated.")
    ] = None,
    group: Annotated[int, typer.Option("--group", help="Protect groups of this many respondents.")] = 1,
    times: Annotated[int, typer.Option("--times", help="Compose this many releases (with --epsilon).")] = 1,
    alpha: Annotated[str, typer.Option("--alpha", help="The FPR at which attacks are shown.")] = "0.05",
    figure: Draw = None,
    as_json: Json = False,
) -> None:
    """Show what a mechanism promises, in every currency of privacy.

    The currencies: ε, (ε, δ), Rényi, zCDP, trade-off, attack risk and mutual information.
    Every number is rounded outward and holds for the worst edge; the tight ε is exact.

    Example: discreet profile places.mechanism.json --delta 1e-6 --figure profile.svg
    """
    from discreet import files

    drawable(figure)
    read = files.read_mechanism(mechanism)
    result = facts(read, epsilon or [], delta or [], group, times, alpha)
    if figure is not None:
        result |= drawn(picture(read, group), figure)
    show(result, as_json=as_json, person=lambda console: tell(result, console))


def facts(
    mechanism: Mechanism, epsilons: list[str], deltas: list[str], size: int, times: int, alpha: str
) -> dict[str, Any]:
    """Every currency of a mechanism as one mapping."""
    from discreet.currencies.attack import advantage, bayes_success, success_at
    from discreet.currencies.divergences import relative_entropy, renyi_curve
    from discreet.currencies.groups import group
    from discreet.currencies.information import mutual_information
    from discreet.currencies.profiles import profile
    from discreet.currencies.tradeoffs import tradeoff
    from discreet.currencies.zcdp import rho

    channel = group(mechanism, size)
    seen = profile(channel)
    tight, concentrated, information = seen.epsilon, rho(channel), mutual_information(channel)
    divergences = renyi_curve(channel)
    risk, attack, guess = advantage(seen), success_at(seen, alpha), bayes_success(seen)
    result: dict[str, Any] = {
        "guarantee": str(mechanism.guarantee),
        "group": size,
        "epsilon": tight.upper,
        "epsilon_bracket": [tight.bracket.lower, tight.bracket.upper],
        "ratio": tight.ratio,
        "delta": [list(point) for point in seen.breakpoints],
        "kl": _ends(relative_entropy(channel)),
        "rho": concentrated.upper,
        "rho_bracket": _ends(concentrated),
        "renyi": [[order, found.upper] for order, found in divergences],
        "tradeoff": [list(corner) for corner in tradeoff(seen).corners],
        "advantage": _ends(risk),
        "attack": {"alpha": alpha, "success": _ends(attack), "even_guess": _ends(guess)},
        "mi": [information.bracket.lower, information.bracket.upper],
        "witness": {
            "epsilon": {"edge": tight.edge, "output": tight.output},
            "rho": {"edge": concentrated.edge},
            "advantage": {"edge": risk.edge},
            "mi": {"states": information.states, "inputs": [float(p) for p in information.inputs]},
        },
    }
    result["delta_for_epsilon"] = [[at, *_ends(seen.delta_for_epsilon(at))] for at in epsilons]
    result["epsilon_for_delta"] = [[at, *_ends(seen.epsilon_for_delta(at))] for at in deltas]
    if times > 1:
        result["composition"] = _composed(channel, times, epsilons)
    return result


def picture(mechanism: Mechanism, size: int) -> Figure:
    """δ(ε) and the trade-off curve side by side, for groups of `size` respondents."""
    from discreet.currencies.groups import group
    from discreet.currencies.profiles import profile
    from discreet.present import beside, delta_figure, tradeoff_figure

    seen, promised = profile(group(mechanism, size)), size * float(mechanism.guarantee.epsilon)
    title = f"What is promised: {mechanism.guarantee}" + ("" if size == 1 else f", groups of {size}")
    return beside(title, [delta_figure(seen, promised), tradeoff_figure(seen, promised)])


def _composed(channel: Any, times: int, epsilons: list[str]) -> dict[str, Any]:
    from discreet.currencies.repeated import compose

    return {
        "releases": times,
        "assumes": "The same database each time, fresh randomness, parameters fixed in advance.",
        "delta_for_epsilon": [[at, *_ends(compose(channel, times, at))] for at in epsilons],
    }


def _ends(found: Worst) -> list[float]:
    return [found.lower, found.upper]


def tell(result: dict[str, Any], console: Console) -> None:
    """The profile for a person."""
    from rich.table import Table

    who = "" if result["group"] == 1 else f" for groups of {result['group']} respondents"
    console.print(f"[bold]Promised:[/bold] {result['guarantee']}")
    console.print(f"[bold]Computed[/bold] over every edge{who}, rounded outward:")
    table = Table(box=None, pad_edge=False, show_header=False)
    attack = result["attack"]
    edge = result["witness"]["epsilon"]["edge"]
    where = f"between states {edge[0]} and {edge[1]}, output {result['witness']['epsilon']['output']}" if edge else ""
    rows = [
        ("tight ε", _number(result["epsilon"]), where),
        ("zCDP ρ", _number(result["rho"]), "largest D_α/α over all orders"),
        ("relative entropy", _number(result["kl"][1]), "nats"),
        ("mutual information", _number(result["mi"][1]), "nats about one respondent, all others known"),
        ("advantage", _number(result["advantage"][1]), "hits minus false alarms of the best attacker"),
        ("attack success", _number(attack["success"][1]), f"TPR at FPR {attack['alpha']}"),
        ("even guess", _number(attack["even_guess"][1]), "chance of telling two neighbours apart"),
    ]
    for row in rows:
        table.add_row(*row)
    console.print(table)
    points = result["delta"]
    console.print("\n[bold]δ(ε)[/bold] " + "  ".join(f"({e:.4g}, {d:.4g})" for e, d in _some(points)))
    console.print("[bold]Rényi[/bold] " + "  ".join(f"D_{a:g} ≤ {_number(d)}" for a, d in result["renyi"]))
    corners = [(a, b) for a, b in result["tradeoff"] if b > 0]
    console.print("[bold]FPR, FNR[/bold] " + "  ".join(f"({a:.4g}, {b:.4g})" for a, b in _some(corners)))
    for at, low, high in result["delta_for_epsilon"]:
        console.print(f"At ε = {at}: δ from {_number(low)} to {_number(high)}.")
    for at, low, high in result["epsilon_for_delta"]:
        console.print(f"At δ = {at}: ε from {_number(low)} to {_number(high)}.")
    composed = result.get("composition")
    if composed:
        console.print(f"{composed['releases']} releases. {composed['assumes']}")
        for at, low, high in composed["delta_for_epsilon"]:
            console.print(f"  At ε = {at}: δ from {_number(low)} to {_number(high)}.")
    tell_drawn(result, console)


def _some(points: list[Any], most: int = 8) -> list[Any]:
    """At most a line of points, the ends among them."""
    if len(points) <= most:
        return points
    return [points[round(k * (len(points) - 1) / (most - 1))] for k in range(most)]


def _number(value: float) -> str:
    """Nine digits, rounded up: what is shown may be promised."""
    from decimal import ROUND_CEILING, Context

    if value == float("inf"):
        return "infinite"
    return f"{Context(prec=9, rounding=ROUND_CEILING).create_decimal(repr(value)).normalize():g}"
