"""`discreet allocate PROBLEM PROBLEM … --budget LEVEL`: split one budget of ε or ρ over several statistics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.keeping import kept, writable_folder, written
from discreet.cli.output import Json, show
from discreet.cli.pictures import Draw, drawable, drawn
from discreet.cli.progress import progress
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.design.questions.allocation import Allocation
    from discreet.design.questions.frontier import Frontier


def command(
    problems: Annotated[list[Path], typer.Argument(metavar="PROBLEM", help="Problem files, one for each statistic.")],
    budget: Annotated[str, typer.Option(help="The ε to split, or the ρ where the problems ask for ρ: the parts add up.")],
    weight: Annotated[
        list[str] | None, typer.Option("--weight", help="Weight of a loss, in the order of the problems; 1 by default.")
    ] = None,
    gap: Annotated[float, typer.Option(help="The relative gap of each design.")] = 1e-4,
    within: Annotated[float, typer.Option(help="Stop when the split is proved within this share of the best.")] = 0.01,
    seconds: Annotated[float, typer.Option(help="The longest search for each design.")] = 60.0,
    steps: Annotated[int, typer.Option(help="Levels of the first look at each frontier.")] = 8,
    rounds: Annotated[int, typer.Option(help="How often points are added where a better split may hide.")] = 8,
    workers: Annotated[int | None, typer.Option(help="Processes side by side; all cores by default.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="Write each statistic's mechanism and certificate here.")
    ] = None,
    levels: Annotated[
        bool, typer.Option("--levels", help="Levels of one table, the finest first: those above read the statistic alone.")
    ] = False,
    figure: Draw = None,
    as_json: Json = False,
) -> None:
    """Split a budget of ε or ρ over statistics for the least loss.

    The weighted sum of their losses is made least. Nothing is interpolated: every loss is that of a mechanism designed and
    proved at exactly the level it gets, and another bound says what no split at all can beat.

    All of the problems ask for ε, or all for ρ (zCDP): one kind does not add up with the other.

    Example: discreet allocate places.toml buses.toml --budget 2 --weight 1 --weight 3
    """
    from discreet import files
    from discreet.design.questions.allocation import allocate
    from discreet.numerics.exact import exact
    from discreet.views.allocation import allocation_view

    weights = [exact(w, "weight") for w in weight or []] or [exact("1")] * len(problems)
    if len(weights) != len(problems):
        raise InputError(
            "There must be one weight for each problem",
            found=f"{len(weights)} weights",
            allowed=f"{len(problems)}",
            remedy="repeat --weight for each problem, or leave it out",
        )
    drawable(figure)
    read = [files.read_problem(path) for path in problems]
    names = _names([p.name or path.stem for p, path in zip(read, problems, strict=True)])
    if output is not None:
        writable_folder(output)
    with progress(*read) as watch:
        found, frontiers = allocate(
            list(zip(names, read, weights, strict=True)),
            exact(budget, "budget"),
            watch,
            gap=gap,
            within=within,
            seconds=seconds,
            steps=steps,
            rounds=rounds,
            workers=workers,
            levels=levels,
        )
    paths = [] if output is None else _written(output, found, frontiers)
    view = allocation_view(found)
    if figure is not None:
        from discreet.present import allocation_figure

        view += drawn(allocation_figure(found, frontiers), figure)
    if paths:
        view += written(mechanisms=paths)
    show(view, as_json=as_json)


def _written(folder: Path, found: Allocation, frontiers: list[Frontier]) -> list[Path]:
    """The mechanism and certificate of each part, named by its statistic."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for part, curve in zip(found.parts, frontiers, strict=True):
        point = next(p for p in curve.points if p.level == part.level)
        assert point.mechanism is not None and point.certificate is not None
        paths.append(_place(folder, part.name))
        kept(paths[-1], point.mechanism, point.certificate)
    return paths


def _place(folder: Path, name: str) -> Path:
    return folder / f"{name.replace('/', '-')}.mechanism.json"


def _names(names: list[str]) -> list[str]:
    """Different names, numbered where two agree."""
    return [n if names.count(n) == 1 else f"{n} {names[: i + 1].count(n)}" for i, n in enumerate(names)]
