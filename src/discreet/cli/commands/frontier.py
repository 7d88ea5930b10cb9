"""`discreet frontier PROBLEM`: loss against ε for the optimum and what people do today; ε saved at equal loss."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, show
from discreet.cli.progress import progress

if TYPE_CHECKING:
    from fractions import Fraction

    from rich.console import Console

    from discreet.design.questions.frontier import Frontier
    from discreet.design.questions.smallest_epsilon import Reach, Saving
    from discreet.model.problem import Problem

POINTS = 10
SHOWN = ("geometric", "staircase", "best oblivious")


def command(
    problem: Annotated[Path, typer.Argument(metavar="PROBLEM", help="A problem file (TOML).")],
    epsilon: Annotated[
        list[str] | None, typer.Option("--epsilon", help="A level of ε; may be repeated. Default: up to twice the problem's.")
    ] = None,
    points: Annotated[int, typer.Option(help="How many levels, evenly up to twice the problem's ε.")] = POINTS,
    target: Annotated[str | None, typer.Option(help="Also find the smallest ε that reaches this loss.")] = None,
    against: Annotated[str, typer.Option(help="The baseline for ε saved at equal loss; 'none' skips it.")] = "geometric",
    gap: Annotated[float | None, typer.Option(help="The relative gap of each point; 1e-4 when there are many.")] = None,
    seconds: Annotated[float, typer.Option(help="The longest search for each point.")] = 60.0,
    workers: Annotated[int | None, typer.Option(help="Processes side by side; all cores by default.")] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE",
            help="Write the certified mechanism of --target (without one: of the ε saved), its certificate beside it.",
        ),
    ] = None,
    figure: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the frontier (.svg, .png or .json).")] = None,
    as_json: Json = False,
) -> None:
    """Show what accuracy costs: the least loss at each level of ε.

    Every point is proved from both sides and stands beside the baselines.

    Also finds the ε at which the best mechanism matches a baseline's loss (privacy saved at equal accuracy), and with
    --target the smallest ε for a loss, each certified by a mechanism at that ε.

    Example: discreet frontier places.toml --figure frontier.svg
    """
    from discreet import files
    from discreet.design.questions.frontier import frontier
    from discreet.numerics.exact import exact

    if figure is not None:
        from discreet.present.figure import must_be_drawable

        must_be_drawable(figure)
    read = files.read_problem(problem)
    levels = [exact(e, "epsilon") for e in epsilon] if epsilon else _levels(read.epsilon, points)
    with progress() as watch:
        found = frontier(read, levels, watch, gap=gap, seconds=seconds, workers=workers)
        saved = None if against == "none" else _saving(read, found, against, watch, seconds)
        reached = None if target is None else _reach(read, found, float(exact(target, "target")), watch, seconds)
    result = facts(found, saved, reached)
    if output is not None:
        result |= _written(output, reached or (saved.reach if saved is not None else None))
    if figure is not None:
        from discreet.present import frontier_figure

        drawn = frontier_figure(found, saved)
        result |= {"figure": drawn.write(figure), "alt": drawn.alt}
    show(result, as_json=as_json, person=lambda console: tell(result, console))


def _written(path: Path, reach: Reach | None) -> dict[str, Any]:
    """The mechanism at the smallest ε found, with its certificate."""
    from discreet import files
    from discreet.errors import InputError

    if reach is None:
        raise InputError(
            "There is no single mechanism to write", found="no target, and no ε saved", allowed="a loss to reach",
            remedy="add --target with a loss",
        )
    files.write_mechanism(path, reach.design.mechanism)
    files.write_certificate(files.certificate_path(path), reach.design.certificate)
    return {"mechanism": path, "certificate": files.certificate_path(path)}


def _levels(epsilon: Fraction, points: int) -> list[Fraction]:
    from fractions import Fraction

    from discreet.errors import InputError

    if points < 2:
        raise InputError("A frontier needs several levels", found=points, allowed="2 or more", remedy="for instance 10")
    top = 2 * (epsilon or Fraction(1))
    return sorted({top * k / points for k in range(1, points + 1)} | {epsilon or Fraction(1)})


def _known(found: Frontier) -> tuple[tuple[Fraction, float, float], ...]:
    return tuple((p.epsilon, p.lower_bound, p.loss) for p in found.points)


def _saving(problem: Problem, found: Frontier, name: str, watch: Any, seconds: float) -> Saving | None:
    """The ε saved at the problem's own ε, when the baseline is known there."""
    from discreet.design.questions.smallest_epsilon import saving
    from discreet.errors import InputError

    at = next((p for p in found.points if p.epsilon == problem.epsilon), None)
    if at is not None and name not in at.baselines:
        raise InputError(
            "This baseline is not known here", found=name, allowed=sorted(at.baselines), remedy="choose one of these"
        )
    if at is None or (loss := at.baselines[name].loss) is None or at.loss >= loss or watch.cancelled():
        return None
    return saving(problem, name, loss, watch, seconds=seconds, known=_known(found))


def _reach(problem: Problem, found: Frontier, target: float, watch: Any, seconds: float) -> Reach:
    from discreet.design.questions.smallest_epsilon import smallest_epsilon

    return smallest_epsilon(problem, target, watch, seconds=seconds, known=_known(found))


def facts(found: Frontier, saved: Saving | None, reached: Reach | None) -> dict[str, Any]:
    """The frontier as one mapping."""
    result: dict[str, Any] = {
        "points": [
            {
                "epsilon": p.epsilon, "epsilon_number": float(p.epsilon),
                "value": float(p.value), "bound": float(p.bound), "loss": p.loss,
                "lower_bound": p.lower_bound, "relative_gap": p.relative_gap, "designed_at": p.designed,
                "bound_proved_at": p.proved, "seconds": p.seconds,
                "baselines": {name: b.loss for name, b in p.baselines.items()},
            }
            for p in found.points
        ],
        "not_convex_at": [list(bend.epsilons) for bend in found.bends],
        "seconds": found.seconds,
    }
    if saved is not None:
        result["saving"] = {"baseline": saved.baseline, "loss": saved.loss, "epsilon": saved.epsilon,
                            "share": saved.share, **_reach_facts(saved.reach)}
    if reached is not None:
        result["target"] = {"loss": reached.target, **_reach_facts(reached)}
    return result


def _reach_facts(reach: Reach) -> dict[str, Any]:
    return {
        "smallest_epsilon": reach.epsilon,
        "between": [reach.below, reach.above],
        "loss_reached": float(reach.design.loss),
        "probes": len(reach.probes),
        "status": reach.status,
    }


def tell(result: dict[str, Any], console: Console) -> None:
    """A table, then what is saved, in words."""
    from rich.table import Table

    shown = [n for n in SHOWN if all(p["baselines"].get(n) is not None for p in result["points"])]
    table = Table(box=None, pad_edge=False)
    for title in ("ε", "least loss", "no mechanism below", "gap", *shown):
        table.add_column(title, justify="right", overflow="fold")
    for p in result["points"]:
        table.add_row(
            f"{p['epsilon_number']:g}", f"{p['loss']:.6g}", f"{p['lower_bound']:.6g}", f"{p['relative_gap']:.0e}",
            *(f"{p['baselines'][n]:.5g}" for n in shown),
        )
    console.print(table)
    if "saving" in result:
        s = result["saving"]
        console.print(
            f"Saved: the loss {s['loss']:.6g} of {s['baseline']} at ε = {float(s['epsilon']):g} is reached at ε = "
            f"{s['smallest_epsilon']:.4f}, which is {s['share']:.0%} of it {_between(s)}."
        )
    if "target" in result:
        t = result["target"]
        console.print(f"Target: a loss of {t['loss']:g} needs ε = {t['smallest_epsilon']:.5g} {_between(t)}.")
    if result["not_convex_at"]:
        low, _, high = result["not_convex_at"][0]
        console.print(
            f"Mind: the curve is proved not convex between ε = {float(low):g} and {float(high):g}, so halving ε does not halve "
            "the gain."
        )
    if "mechanism" in result:
        console.print(f"Written: {result['mechanism']} and {result['certificate']}", soft_wrap=True)
    if "figure" in result:
        console.print(f"Drawn: {result['figure']}", soft_wrap=True)


def _between(facts: dict[str, Any]) -> str:
    low, high = facts["between"]
    if low is None:
        return f"(at most {float(high):.9g}, certified)"
    return f"(proved between {float(low):.9g} and {float(high):.9g}; a certified mechanism stands at the upper end)"
