"""`discreet frontier PROBLEM`: loss against ε or ρ for the optimum and what people do today; what is saved at equal loss."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.keeping import kept, writable
from discreet.cli.output import Json, show
from discreet.cli.pictures import Draw, drawable, drawn
from discreet.cli.progress import progress
from discreet.cli.questions.levels import levels_asked
from discreet.errors import InputError

if TYPE_CHECKING:
    from fractions import Fraction

    from discreet.design.questions.frontier import Frontier
    from discreet.design.questions.smallest_epsilon import Reach, Saving
    from discreet.model.problem import Problem

POINTS = 10


def command(
    problem: Annotated[Path, typer.Argument(metavar="PROBLEM", help="A problem file (TOML).")],
    epsilon: Annotated[
        list[str] | None, typer.Option("--epsilon", help="A level of ε; may be repeated. Default: up to twice the problem's.")
    ] = None,
    rho: Annotated[list[str] | None, typer.Option("--rho", help="A level of ρ, for a problem that asks for ρ.")] = None,
    points: Annotated[int, typer.Option(help="How many levels, evenly up to twice the problem's own.")] = POINTS,
    target: Annotated[str | None, typer.Option(help="Also find the smallest ε (or ρ) that reaches this loss.")] = None,
    against: Annotated[
        str | None,
        typer.Option(help="The baseline for ε saved at equal loss: geometric, under ρ discrete gaussian; 'none' skips it."),
    ] = None,
    both: Annotated[
        bool | None,
        typer.Option(
            "--both/--alone", help="Pure ε and ρ beside each other, at equal ρ and at equal ε for δ = 1e-6. Default: under ρ."
        ),
    ] = None,
    gap: Annotated[float | None, typer.Option(help="The relative gap of each point; 1e-4 when there are many.")] = None,
    seconds: Annotated[float, typer.Option(help="The longest search for each point.")] = 60.0,
    workers: Annotated[int | None, typer.Option(help="Processes side by side; all cores by default.")] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="The most memory to take, such as 2GB; half of what is free by default.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the certified mechanism of --target (without one: of the ε saved), its certificate beside it.",
        ),
    ] = None,
    figure: Draw = None,
    as_json: Json = False,
) -> None:
    """Show what accuracy costs: the least loss at each level of ε or ρ.

    Every point is proved from both sides and stands beside the baselines.

    Also finds the ε at which the best mechanism matches a baseline's loss (privacy saved at equal accuracy), and with
    --target the smallest ε for a loss, each certified by a mechanism at that ε.

    Under ρ (or with --both) the best under the other promise stands beside it, at equal ρ and at equal (ε, δ).

    Example: discreet frontier places.toml --figure frontier.svg
    """
    from discreet import files
    from discreet.design.memory import allowing, bytes_of
    from discreet.design.questions.frontier import frontier
    from discreet.design.questions.two_promises import beside, two_promises
    from discreet.numerics.exact import exact
    from discreet.views.frontier import frontier_view
    from discreet.views.two_promises import two_promises_view

    drawable(figure)
    most = bytes_of(memory)
    read = files.read_problem(problem)
    key = read.promise.keys[0]
    asked = levels_asked(read, {"epsilon": epsilon, "rho": rho})
    levels = [exact(level, key) for level in asked] if asked else _levels(read.promise.level, points)
    against = against or ("geometric" if key == "epsilon" else "discrete gaussian")
    paired = key == "rho" if both is None else both
    if paired:
        beside(read, levels)
    loss = None if target is None else float(exact(target, "target"))
    if output is not None:
        writable(output, files.certificate_path(output))
        if loss is None and against == "none":
            raise _nothing_to_write()
    with allowing(most), progress(read) as watch:
        found = frontier(read, levels, watch, gap=gap, seconds=seconds, workers=workers)
        together = two_promises(read, levels, watch, own=found, gap=gap, seconds=seconds, workers=workers) if paired else None
        saved = None if against == "none" else _saving(read, found, against, watch, seconds)
        reached = None if loss is None else _reach(read, found, loss, watch, seconds)
    view = frontier_view(found, saved, reached)
    if together is not None:
        view += two_promises_view(together)
    if figure is not None:
        from discreet.present import frontier_figure, two_promises_figure

        view += drawn(frontier_figure(found, saved) if together is None else two_promises_figure(together), figure)
    if output is not None:
        best = reached or (saved.reach if saved is not None else None)
        if best is None:
            raise _nothing_to_write()
        view += kept(output, best.design.mechanism, best.design.certificate, best.design.record())
    show(view, as_json=as_json)


def _nothing_to_write() -> InputError:
    return InputError(
        "There is no single mechanism to write",
        found="no target, and nothing saved",
        allowed="a loss to reach",
        remedy="add --target with a loss",
    )


def _levels(own: Fraction, points: int) -> list[Fraction]:
    from fractions import Fraction

    if points < 2:
        raise InputError("A frontier needs several levels", found=points, allowed="2 or more", remedy="for instance 10")
    top = 2 * (own or Fraction(1))
    return sorted({top * k / points for k in range(1, points + 1)} | {own or Fraction(1)})


def _known(found: Frontier) -> tuple[tuple[Fraction, float, float], ...]:
    return tuple((p.level, p.lower_bound, p.loss) for p in found.points)


def _saving(problem: Problem, found: Frontier, name: str, watch: Any, seconds: float) -> Saving | None:
    """What is saved at the problem's own level, when the baseline is known there."""
    from discreet.design.questions.smallest_epsilon import saving

    at = next((p for p in found.points if p.level == problem.promise.level), None)
    if at is not None and name not in at.baselines:
        raise InputError("This baseline is not known here", found=name, allowed=sorted(at.baselines), remedy="choose one of these")
    if at is None or (loss := at.baselines[name].loss) is None or at.loss >= loss or watch.cancelled():
        return None
    return saving(problem, name, loss, watch, seconds=seconds, known=_known(found))


def _reach(problem: Problem, found: Frontier, target: float, watch: Any, seconds: float) -> Reach:
    from discreet.design.questions.smallest_epsilon import smallest_epsilon

    return smallest_epsilon(problem, target, watch, seconds=seconds, known=_known(found))
