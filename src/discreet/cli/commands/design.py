"""`discreet design PROBLEM`: the best private mechanism for a decision, proved, beside what people do today."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, show
from discreet.cli.progress import progress

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.design import Design

DEFAULT_GAP = 1e-6


def command(
    problem: Annotated[Path, typer.Argument(metavar="PROBLEM", help="A problem file (TOML).")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write the mechanism here and its certificate beside it."
        ),
    ] = None,
    gap: Annotated[
        float | None,
        typer.Option(
            help="The relative gap between value and bound to stop at: by default 1e-6; with --priors 1e-4 (real actions 1e-3)."
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option(help="The longest time to search; the best certified result is kept.")
    ] = 60.0,
    within: Annotated[
        str | None, typer.Option(help="Restrict to a class (oblivious, permutation-invariant) and see its price.")
    ] = None,
    alternative: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Another problem file (other prior or payoff) to report regret for."),
    ] = None,
    radius: Annotated[
        str | None,
        typer.Option(help="Report the worst regret when the prior moves by this share, such as 0.05; --figure draws it."),
    ] = None,
    draws: Annotated[
        int | None, typer.Option(help="Report the regret at so many priors drawn around reference counts; --figure draws it.")
    ] = None,
    counts: Annotated[
        str | None, typer.Option(help="With --draws: counts of each type, such as 890,90,20; a reference prior has its own.")
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Design a family: a file of cell sizes, or text such as 10..60 or 21-30 (padded)."),
    ] = None,
    limit: Annotated[float | None, typer.Option(help="With --sizes: the longest time for the whole family.")] = None,
    kept: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --sizes: where finished members are kept for the next run.")
    ] = None,
    priors: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Prepare for other priors too: a TOML file with [[prior]] tables.")
    ] = None,
    slopes: Annotated[bool, typer.Option("--slopes", help="Show how the optimum moves with ε and with the prior.")] = False,
    workers: Annotated[int | None, typer.Option(help="Processes side by side; all cores by default.")] = None,
    figure: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the result (.svg, .png or .json).")] = None,
    as_json: Json = False,
) -> None:
    """Find the best private mechanism for a problem, and prove it.

    Prints the expected loss of the design and of what people do today, the bound that no private mechanism beats, which
    theorem made it possible, and what the design is not good for. With --sizes a family of mechanisms for many cell sizes;
    with --priors one mechanism with the least worst regret over several priors.

    Example: discreet design places.toml -o places.mechanism.json
    """
    from discreet import design, files
    from discreet.cli import many_sizes, several_priors, wrong_priors

    read = files.read_problem(problem)
    _must_fit(sizes, priors, figure, within, alternative, radius, slopes, draws, counts)
    near = DEFAULT_GAP if gap is None else gap
    if sizes is not None:
        with progress() as watch:
            result = many_sizes.run(
                read, sizes, output, figure, watch, gap=near, seconds=seconds, limit=limit, folder=kept, workers=workers
            )
        show(result, as_json=as_json, person=lambda console: many_sizes.tell(result, console))
        return
    if priors is not None:
        with progress() as watch:
            result = several_priors.run(
                read, priors, output, figure, watch, gap=gap, seconds=seconds, workers=workers
            )
        show(result, as_json=as_json, person=lambda console: several_priors.tell(result, console))
        return
    with progress() as watch:
        found = design.design(read, watch, gap=near, seconds=seconds, within=within)
        extra = _alternative(found, alternative, watch)
        if radius is not None or draws is not None:
            extra |= wrong_priors.run(
                found.mechanism, watch, radius=radius, draws=draws, counts=counts, figure=figure, workers=workers
            )
        extra |= _more(found, slopes, watch, workers)
    result = facts(found) | extra
    if output is not None:
        files.write_mechanism(output, found.mechanism)
        files.write_certificate(files.certificate_path(output), found.certificate)
        result["mechanism"] = output
        result["certificate"] = files.certificate_path(output)
    if figure is not None and "figure" not in result:
        from discreet.present import comparison_figure

        drawn = comparison_figure(found)
        result |= {"figure": drawn.write(figure), "alt": drawn.alt}
    show(result, as_json=as_json, person=lambda console: tell(found, result, console))


def _must_fit(
    sizes: str | None, priors: Path | None, figure: Path | None, within: str | None, alternative: Path | None,
    radius: str | None, slopes: bool, draws: int | None, counts: str | None,
) -> None:
    """Refuse questions that exclude each other, and pictures that cannot be drawn, before any long work."""
    from discreet.errors import InputError

    if figure is not None:
        from discreet.present.figure import must_be_drawable

        must_be_drawable(figure)
    if counts is not None and draws is None:
        raise InputError(
            "Reference counts are for priors drawn around them", found="--counts without --draws",
            allowed="both, or neither", remedy="add --draws 20",
        )
    many = [name for name, given in (("--sizes", sizes), ("--priors", priors)) if given is not None]
    given = {"--within": within, "--alternative": alternative, "--radius": radius, "--draws": draws, "--slopes": slopes or None}
    others = [name for name, value in given.items() if value is not None]
    pairs = [("--within", within is not None and slopes), ("--radius", radius is not None and draws is not None)]
    clash = [name for name, both in pairs if both]
    if len(many) == 2 or (many and others) or clash:
        raise InputError(
            "These options answer different questions", found=", ".join([*many, *others]), allowed="one question at a time",
            remedy=f"leave out {(clash or many[1:] or others)[0]}",
        )


def _more(found: Design, slopes: bool, watch: Any, workers: int | None) -> dict[str, Any]:
    """What several decision makers pay for sharing, and the slopes when asked for."""
    extra: dict[str, Any] = {}
    if len(found.mechanism.problem.decisions) > 1:
        from discreet.design.questions.decision_makers import prices

        extra["decision_makers"] = [
            {"name": s.name, "weight": float(s.weight), "followed": s.followed, "reread": s.reread, "alone": s.alone[1],
             "price": s.price}
            for s in prices(found, watch, workers=workers)
        ]
    if slopes:
        from discreet.design.questions.sensitivity import sensitivity

        extra["slopes"] = [{"of": s.of, "slope": _number(s.estimate)} for s in sensitivity(found, watch)]
    return extra


def _alternative(found: Design, alternative: Path | None, watch: Any) -> dict[str, Any]:
    from discreet import files
    from discreet.design.questions.regret import regret

    if alternative is None:
        return {}
    return {"alternative": _regret_facts(regret(found.mechanism, files.read_problem(alternative), watch))}


def _regret_facts(regret: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "followed": regret.under.followed,
        "reread": regret.under.reread,
        "bias": _number(regret.under.bias),
        "best": regret.reached,
        "regret": regret.regret,
    }
    if regret.prior is not None:
        facts["prior"] = [float(p) for p in regret.prior]
    return facts


def facts(found: Design) -> dict[str, Any]:
    """The design as one mapping."""
    problem = found.mechanism.problem
    result: dict[str, Any] = {
        "value": float(found.value),
        "bound": float(found.bound),
        "relative_gap": found.relative_gap,
    }
    if all(d.is_loss for d in problem.decisions):
        result |= {"loss": float(found.loss), "lower_bound": float(found.lower_bound)}
    result |= {
        "epsilon": problem.epsilon,
        "neighbours": problem.neighbours.name,
        "unit": problem.unit,
        "reduction": found.reduction,
        "theorem": found.theorem,
        "status": found.status,
        "states": _state_count(found),
        "outputs": _output_count(found),
        "tight_epsilon": [found.certificate.privacy.tight_low, found.certificate.privacy.tight_high],
        "baselines": {
            name: {"value": b.value, "loss": b.loss, "words": b.words} for name, b in found.baselines.items()
        },
        "seconds": dict(found.seconds),
        "steps": [str(step) for step in found.steps],
        "rungs": [
            {"name": r.name, "loss": r.loss, "lower_bound": r.lower_bound, "relative_gap": r.relative_gap, "seconds": r.seconds}
            for r in found.rungs
        ],
        "notes": list(found.notes),
        "evaluation": _evaluation_facts(found),
    }
    if found.within is not None:
        result |= {"within": found.within, "price": found.price}
    return result


def _state_count(found: Design) -> int:
    kernel = found.mechanism.kernel
    return len(kernel.states) if kernel.family == "table" else kernel.high - kernel.low + 1  # type: ignore[union-attr]


def _output_count(found: Design) -> int:
    kernel = found.mechanism.kernel
    return len(kernel.outputs) if kernel.family == "table" else kernel.high - kernel.low + 1  # type: ignore[union-attr]


def _evaluation_facts(found: Design) -> dict[str, Any] | None:
    from discreet.errors import TooLarge

    try:
        seen = found.evaluation
    except TooLarge:
        return None
    return {
        "average_bias": _number(seen.average_bias),
        "slope": _number(seen.slope),
        "worst_risk": _number(seen.worst_risk),
        "total_error_per_1000_cells": _number(seen.total_error(1000)),
        "unbiased_estimator_variance": seen.unbiased_variance,
        "for_adding_up": bool(seen.for_adding_up),
        "omega": seen.omegas,
        "prior": seen.prior,
        "bias": [_number(b) for b in seen.bias.tolist()],
        "risk": [_number(r) for r in seen.risk.tolist()],
    }


def _number(x: float) -> float | None:
    return None if x != x else float(x)


def tell(found: Design, result: dict[str, Any], console: Console) -> None:
    """The design for a person: one table, one sentence of proof, what it is not for."""
    from rich.table import Table

    from discreet.cli import wrong_priors
    from discreet.present.words import theorem_words

    loss = "loss" in result
    table = Table(box=None, pad_edge=False)
    table.add_column("way to publish")
    table.add_column("expected loss" if loss else "expected payoff", justify="right")
    table.add_column("against the design", justify="right")
    own = result["loss"] if loss else result["value"]
    table.add_row("[bold]this design[/bold]", f"[bold]{own:.6g}[/bold]", "")
    ranked = sorted(found.baselines.items(), key=lambda item: (item[1].value is None, -(item[1].value or 0.0)))
    for name, baseline in ranked:
        number = baseline.loss if loss else baseline.value
        shown = f"{name} (not private)" if name == "full information" else name
        table.add_row(shown, "–" if number is None else f"{number:.6g}", _against(number, own, loss))
    console.print(table)
    console.print()
    edge = "no private mechanism loses less than" if loss else "no private mechanism is worth more than"
    limit = result["lower_bound"] if loss else result["bound"]
    console.print(
        f"Proved: {edge} {limit:.9g}, so this design is within {found.relative_gap:.1e} of the best possible."
    )
    console.print(f"Proved: {found.mechanism.guarantee}.")
    step = found.steps[0]
    console.print(f"How: {step.name}; {step.reason} ({theorem_words(step.theorem)}).")
    _tell_rungs(result, console)
    if found.within is not None:
        console.print(f"Restricted to {found.within} mechanisms, which costs {found.price:.6g}.")
    for note in _cautions(found, result):
        console.print(f"[yellow]Mind:[/yellow] {note}")
    _tell_alternative(result, console)
    wrong_priors.tell(result, console)
    _tell_more(result, console)
    if "mechanism" in result:
        console.print(f"Written: {result['mechanism']} and {result['certificate']}", soft_wrap=True)
        console.print(f"Next: discreet certify {result['mechanism']}", soft_wrap=True)


def _tell_rungs(result: dict[str, Any], console: Console) -> None:
    """The rungs of the ladder that were climbed: the best mechanism and the best bound were kept, whichever rung they are from."""
    from rich.table import Table

    if not result["rungs"]:
        return
    table = Table(box=None, pad_edge=False)
    for name in ("rung", "expected loss", "lower bound", "gap", "seconds"):
        table.add_column(name, justify="left" if name == "rung" else "right")
    for rung in result["rungs"]:
        numbers = f"{rung['loss']:.6g}", f"{rung['lower_bound']:.6g}", f"{rung['relative_gap']:.1%}", f"{rung['seconds']:.1f}"
        table.add_row(rung["name"], *numbers)
    console.print()
    console.print(table)
    console.print()


def _against(number: float | None, own: float, loss: bool) -> str:
    if number is None or own == 0 or not loss:
        return ""
    return f"{number / own:.2f}×"


def _cautions(found: Design, result: dict[str, Any]) -> list[str]:
    words = list(found.notes)
    seen = result["evaluation"]
    if seen is not None and seen["slope"] is not None and not seen["for_adding_up"]:
        words.append(
            f"not for adding up: recommended actions move only {seen['slope']:.2f} for each unit of the statistic, so "
            "high cells are "
            "reported too low and low ones too high; totals and rankings over cells inherit that."
        )
    return words


def _tell_more(result: dict[str, Any], console: Console) -> None:
    for share in result.get("decision_makers", ()):
        console.print(
            f"{share['name']} (weight {share['weight']:g}) loses {share['followed']:.6g} by following, {share['alone']:.6g} with a "
            f"mechanism of its own: the common one costs it {share['price']:.3g}.", soft_wrap=True,
        )
    for slope in result.get("slopes", ()):
        change = "–" if slope["slope"] is None else f"{slope['slope']:+.4g}"
        moved = "for each unit of ε" if slope["of"] == "epsilon" else f"for each unit of prior moved to {slope['of']}"
        console.print(f"The least loss changes by {change} {moved}.")
    if "figure" in result:
        console.print(f"Drawn: {result['figure']}", soft_wrap=True)


def _tell_alternative(result: dict[str, Any], console: Console) -> None:
    if "alternative" in result:
        r = result["alternative"]
        console.print(
            f"Under the alternative: loss {r['followed']:.4g} when followed (bias {r['bias']:.3g}), "
            f"{r['reread']:.4g} when re-read, "
            f"{r['best']:.4g} at best."
        )
