"""`discreet allocate PROBLEM PROBLEM … --budget ε`: split one budget over several statistics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, show
from discreet.cli.progress import progress

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.design.questions.allocation import Allocation
    from discreet.design.questions.frontier import Frontier


def command(
    problems: Annotated[list[Path], typer.Argument(metavar="PROBLEM", help="Problem files, one for each statistic.")],
    budget: Annotated[str, typer.Option(help="The ε to split (sequential composition: the parts add up).")],
    weight: Annotated[
        list[str] | None, typer.Option("--weight", help="Weight of a loss, in the order of the problems; 1 by default.")
    ] = None,
    gap: Annotated[float, typer.Option(help="The relative gap of each design.")] = 1e-4,
    within: Annotated[float, typer.Option(help="Stop when the split is proved within this share of the best.")] = 0.01,
    seconds: Annotated[float, typer.Option(help="The longest search for each design.")] = 60.0,
    steps: Annotated[int, typer.Option(help="Levels of ε of the first look at each frontier.")] = 8,
    rounds: Annotated[int, typer.Option(help="How often points are added where a better split may hide.")] = 8,
    workers: Annotated[int | None, typer.Option(help="Processes side by side; all cores by default.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="Write each statistic's mechanism and certificate here.")
    ] = None,
    figure: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the curves (.svg, .png or .json).")] = None,
    as_json: Json = False,
) -> None:
    """Split a budget of ε over several statistics for the least loss.

    The weighted sum of their losses is made least. Nothing is interpolated: every loss is that of a mechanism designed and
    proved at exactly the ε it gets, and another bound says what no split at all can beat.

    Example: discreet allocate places.toml buses.toml --budget 2 --weight 1 --weight 3
    """
    from discreet import files
    from discreet.design.questions.allocation import allocate
    from discreet.errors import InputError
    from discreet.numerics.exact import exact

    weights = [exact(w, "weight") for w in weight or []] or [exact("1")] * len(problems)
    if len(weights) != len(problems):
        raise InputError(
            "There must be one weight for each problem", found=f"{len(weights)} weights", allowed=f"{len(problems)}",
            remedy="repeat --weight for each problem, or leave it out",
        )
    if figure is not None:
        from discreet.present.figure import must_be_drawable

        must_be_drawable(figure)
    read = [files.read_problem(path) for path in problems]
    names = _names([p.name or path.stem for p, path in zip(read, problems, strict=True)])
    with progress() as watch:
        found, frontiers = allocate(
            list(zip(names, read, weights, strict=True)), exact(budget, "budget"), watch,
            gap=gap, within=within, seconds=seconds, steps=steps, rounds=rounds, workers=workers,
        )
    result = facts(found)
    if output is not None:
        result["mechanisms"] = _written(output, found, frontiers)
    if figure is not None:
        from discreet.present import allocation_figure

        drawn = allocation_figure(found, frontiers)
        result |= {"figure": drawn.write(figure), "alt": drawn.alt}
    show(result, as_json=as_json, person=lambda console: tell(result, console))


def _written(folder: Path, found: Allocation, frontiers: list[Frontier]) -> list[Path]:
    """The mechanism and certificate of each part, named by its statistic."""
    from discreet import files

    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for part, curve in zip(found.parts, frontiers, strict=True):
        point = next(p for p in curve.points if p.epsilon == part.epsilon)
        assert point.mechanism is not None and point.certificate is not None
        path = folder / f"{part.name.replace('/', '-')}.mechanism.json"
        files.write_mechanism(path, point.mechanism)
        files.write_certificate(files.certificate_path(path), point.certificate)
        paths.append(path)
    return paths


def _names(names: list[str]) -> list[str]:
    """Different names, numbered where two agree."""
    return [n if names.count(n) == 1 else f"{n} {names[: i + 1].count(n)}" for i, n in enumerate(names)]


def facts(found: Allocation) -> dict[str, Any]:
    """The split as one mapping."""
    return {
        "budget": found.budget,
        "spent": found.spent,
        "loss": float(found.loss),
        "lower_bound": float(found.lower_bound),
        "relative_gap": found.relative_gap,
        "convex": found.convex,
        "parts": [
            {
                "name": part.name, "epsilon": part.epsilon, "epsilon_number": float(part.epsilon), "loss": float(part.loss),
                "lower_bound": float(part.lower_bound), "marginal": part.marginal,
            }
            for part in found.parts
        ],
        "notes": list(found.notes),
    }


def tell(result: dict[str, Any], console: Console) -> None:
    """A table of the parts, and both sides of the total."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("statistic", "ε", "loss", "gain per further ε"):
        table.add_column(title, justify="left" if title == "statistic" else "right", overflow="fold")
    for part in result["parts"]:
        gain = "–" if part["marginal"] is None else f"{part['marginal']:.4g}"
        table.add_row(part["name"], f"{part['epsilon_number']:.6g}", f"{part['loss']:.6g}", gain)
    console.print(table)
    console.print(
        f"Weighted loss {result['loss']:.6g} with ε = {float(result['spent']):.6g} of {float(result['budget']):g}; proved: no "
        f"split has less than {result['lower_bound']:.6g}, so this one is within {result['relative_gap']:.2g} of the best."
    )
    console.print("Each loss is proved for a mechanism designed at exactly this ε; none is interpolated.")
    everything = [part["name"] for part in result["parts"] if part["epsilon"] == result["budget"]]
    if everything and len(result["parts"]) > 1:
        console.print(f"All of the budget goes to {everything[0]}; the bound says how little any other split could gain.")
    if result["convex"]:
        console.print("The computed points are consistent with convex frontiers.")
    for note in result["notes"]:
        console.print(f"[yellow]Mind:[/yellow] {note}.", soft_wrap=True)
    for path in result.get("mechanisms", ()):
        console.print(f"Written: {path}", soft_wrap=True)
    if "figure" in result:
        console.print(f"Drawn: {result['figure']}", soft_wrap=True)
