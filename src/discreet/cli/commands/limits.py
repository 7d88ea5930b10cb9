"""`discreet limits FILE`: what no attacker, no test and no analyst can exceed, for a problem's ε or for a mechanism."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, show
from discreet.cli.pictures import Draw, drawable, drawn, tell_drawn
from discreet.errors import InputError, Refuted, TooLarge

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.interpret.attacker import WorstShift
    from discreet.model.mechanism import Mechanism
    from discreet.model.problem import Problem
    from discreet.present.figure import Figure

MOST_STATES = 2000
MOST_ROWS = 12


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A mechanism file, or a problem file.")],
    output: Annotated[
        str | None, typer.Option("--output", metavar="OUTPUT", help="A published value to look at.")
    ] = None,
    sure: Annotated[float, typer.Option("--sure", help="How sure the attacker is beforehand.")] = 0.5,
    together: Annotated[
        int, typer.Option("--together", help="Respondents who always answer alike, you included.")
    ] = 4,
    alpha: Annotated[float, typer.Option("--alpha", help="False alarms that a test may have.")] = 0.05,
    figure: Draw = None,
    as_json: Json = False,
) -> None:
    """Show what no attacker, no test and no analyst can exceed.

    Example: discreet limits places.mechanism.json --sure 0.1 --together 5
    """
    picture = None
    if figure is not None:
        drawable(figure)
        picture = density_picture(file)
    result = limits(file, output=output, sure=sure, together=together, alpha=alpha)
    if figure is not None and picture is not None:
        result |= drawn(picture, figure)
    show(result, as_json=as_json, person=lambda console: tell(result, console))


def limits(
    file: Path, *, output: str | None = None, sure: float = 0.5, together: int = 4, alpha: float = 0.05
) -> dict[str, Any]:
    """The limits as a mapping; a problem file gives those of ε alone, a mechanism also its own."""
    from discreet import files
    from discreet.interpret.bounds import PosteriorBounds, moved_bracket
    from discreet.interpret.power import power_bound
    from discreet.interpret.sentences import attacker_sentence, limit_sentence, power_sentence

    mechanism = proved(files.read_mechanism(file)) if file.suffix == ".json" else None
    problem = mechanism.problem if mechanism is not None else files.read_problem(file)
    epsilon = mechanism.guarantee.epsilon if mechanism is not None else problem.epsilon
    reach = largest_distance(problem)
    together = max(1, min(together, int(min(reach, 10**9))))
    steps = sorted({1.0, float(together), reach})
    bounds = PosteriorBounds(epsilon, reach)
    relation = problem.neighbours.name
    low, high = bounds.probability(sure)
    result: dict[str, Any] = {
        "epsilon": epsilon,
        "neighbours": problem.neighbours.name,
        "unit": problem.unit,
        "attacker": {
            "sure": sure,
            "alone": moved_bracket(sure, epsilon).upper,
            "together": moved_bracket(sure, epsilon * together).upper,
            "how_many_together": together,
            "sentences": [
                attacker_sentence(sure, epsilon * many, together=many, neighbours=relation)
                for many in sorted({1, together})
            ],
        },
        "tests": [
            {
                "distance": d,
                "alpha": alpha,
                "power_at_most": bound.value,
                "cap": bound.cap,
                "vacuous": bound.vacuous,
                "sentence": power_sentence(bound),
            }
            for d in steps
            for bound in [power_bound(alpha, epsilon, d)]
        ],
        "any_model": {
            "d_star_star": reach,
            "factor": bounds.log_factor,
            "prior": sure,
            "posterior_between": [low, high],
            "vacuous_by": bounds.vacuous(sure),
            "sentence": limit_sentence(bounds, sure),
        },
    }
    if mechanism is not None:
        result["mechanism"] = mechanism_limits(mechanism, output, sure)
    return result


def proved(mechanism: Mechanism) -> Mechanism:
    """The mechanism, once its ε is proved: limits that follow from a promise hold only if it is kept."""
    from discreet import certify
    from discreet.model.certificate import Certificate

    proof = certify.privacy(mechanism)
    if not isinstance(proof, Certificate):
        raise Refuted(f"the mechanism does not keep {mechanism.guarantee}, so no limit follows from it", proof.words)
    return mechanism


def density_picture(file: Path) -> Figure:
    """The limits on every output's probability, for a mechanism file."""
    if file.suffix != ".json":
        raise InputError(
            "The picture shows the limits on a mechanism's outputs", found=file.name, allowed="a mechanism file",
            remedy="design one first, or leave --figure out",
        )
    from discreet import files
    from discreet.present import density_figure

    return density_figure(proved(files.read_mechanism(file)))


def largest_distance(problem: Problem) -> float:
    """The largest distance between databases: infinite when some are unconnected."""
    return float(problem.neighbours.diameter(problem.universe))


def mechanism_limits(mechanism: Mechanism, output: str | None, sure: float) -> dict[str, Any]:
    """What this very mechanism rules out, where its states are few enough to look at all of them."""
    import numpy as np

    from discreet.interpret.attacker import worst_correlated, worst_product
    from discreet.interpret.bounds import PosteriorBounds, density_bounds, outward
    from discreet.interpret.channel import output_at, position_of, state_logs
    from discreet.interpret.closed_bounds import total_bounds
    from discreet.interpret.distances import state_distances
    from discreet.model.kernel import TableKernel
    from discreet.model.universe import Universe

    place = None if output is None else position_of(mechanism, output)
    asked: Fraction | str | None = None if place is None else output_at(mechanism, place).label
    found: dict[str, Any] = {}
    try:
        states = len(mechanism.space)
        alone = worst_product(mechanism, asked)
        found |= {"states": states, "alone": _shift(alone, sure, mechanism.guarantee.epsilon)}
        if isinstance(mechanism.problem.universe, Universe):
            everybody = worst_correlated(mechanism, asked)
            widest = PosteriorBounds(mechanism.guarantee.epsilon, largest_distance(mechanism.problem)).shift
            found["everybody"] = _shift(everybody, sure, widest)
        if states > MOST_STATES:
            raise TooLarge(
                "bounds for each output", size=f"{states:,} states", fits=f"{MOST_STATES:,} states"
            )
        found["components"] = int(mechanism.space.component.max()) + 1
    except TooLarge as large:
        found["note"] = str(large)
        if asked is not None and not isinstance(mechanism.kernel, TableKernel):
            found["outputs"] = [_row(str(asked), *outward(*total_bounds(mechanism, asked)))]
        return found
    bounds = density_bounds(
        np.exp(state_logs(mechanism)), state_distances(mechanism.space), float(mechanism.guarantee.epsilon)
    )
    places = range(len(bounds.lower)) if place is None else [place]
    found["outputs"] = [
        _row(output_at(mechanism, i).label, *bounds.stated(i)) for i in places
    ]
    if bounds.remedy is not None:
        found["remedy"] = bounds.remedy
    return found


def _shift(worst: WorstShift, sure: float, proved: Fraction | float) -> dict[str, Any]:
    from discreet.numerics.digits import number_at_most

    return {"log_odds": number_at_most(worst.at_most(proved)), "surest": worst.surest(sure, proved)}


def _row(output: str, lower: float, upper: float) -> dict[str, Any]:
    return {
        "output": output,
        "at_least": lower,
        "at_most": upper,
        "vacuous_by": upper if upper >= 1 else None,
    }


def tell(result: dict[str, Any], console: Console) -> None:
    """The limits for a person."""
    from discreet.numerics.digits import given

    console.print(
        f"[bold]ε = {given(result['epsilon'])}[/bold], {result['neighbours']} neighbours, unit: {result['unit']}"
    )
    for sentence in result["attacker"]["sentences"]:
        console.print(f"  {sentence}")
    for test in result["tests"]:
        console.print(f"  {test['sentence']}")
    console.print(f"  {result['any_model']['sentence']}")
    if "mechanism" in result:
        tell_mechanism(result["mechanism"], console)
    tell_drawn(result, console)


def tell_mechanism(own: dict[str, Any], console: Console) -> None:
    """What this very mechanism rules out."""
    from discreet.numerics.digits import at_least, at_most

    console.print("\n[bold]This mechanism[/bold]")
    if "alone" in own:
        console.print(f"  alone      log odds move by at most {at_most(own['alone']['log_odds'])}")
    if "everybody" in own:
        console.print(f"  everybody  log odds move by at most {at_most(own['everybody']['log_odds'])}")
    if (own.get("components") or 1) > 1:
        console.print(f"  {own['components']} components that neighbours do not connect")
    if "remedy" in own:
        console.print(f"  {own['remedy']}")
    rows = own.get("outputs", [])
    useful = [row for row in rows if row["vacuous_by"] is None]
    for row in useful[:MOST_ROWS]:
        console.print(
            f"  {row['output']:>10}  probability between {at_least(row['at_least'], 3)} and {at_most(row['at_most'], 3)}"
            " under any model"
        )
    if len(useful) < len(rows):
        worst = max(row["vacuous_by"] for row in rows if row["vacuous_by"] is not None)
        console.print(
            f"  {len(rows) - len(useful)} of {len(rows)} outputs: the upper bound exceeds one (up to {at_most(worst, 3)}"
            " times) and says nothing"
        )
    if "note" in own:
        console.print(f"  {own['note']}")
