"""`discreet read MECHANISM OUTPUT…`: what published values mean, under the design's prior or any other."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, show
from discreet.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.interpret.posteriors import Posterior
    from discreet.model.mechanism import Mechanism
    from discreet.model.priors import Prior

BAR = 30
MOST_ROWS = 20
LEAST = 5e-5


def command(
    mechanism: Annotated[Path, typer.Argument(metavar="MECHANISM", help="A mechanism file.")],
    outputs: Annotated[
        list[str],
        typer.Argument(metavar="OUTPUT", help="The published value; several are about the same database."),
    ],
    prior: Annotated[
        Path | None,
        typer.Option(
            "--prior", metavar="FILE", help="A TOML file with another [prior] (or a whole problem)."
        ),
    ] = None,
    about: Annotated[
        str, typer.Option("--about", help="What to read about: statistic, database or respondent.")
    ] = "statistic",
    level: Annotated[float, typer.Option("--level", help="Probability that the interval should hold.")] = 0.9,
    exact: Annotated[bool, typer.Option("--exact", help="Compute with rationals and show them.")] = False,
    as_json: Json = False,
) -> None:
    """Say what a published value means, and what to do about it.

    Prints the posterior of the statistic, its mean, an interval and the best action, under any prior.

    Example: discreet read places.mechanism.json 3 --prior mine.toml
    """
    result = read(mechanism, outputs, prior=prior, about=about, level=level, exact=exact)
    show(result, as_json=as_json, person=lambda console: tell(result, console))


def read(
    mechanism: Path,
    outputs: list[str],
    *,
    prior: Path | None = None,
    about: str = "statistic",
    level: float = 0.9,
    exact: bool = False,
) -> dict[str, Any]:
    """The posterior after published values, as a mapping."""
    from discreet import files
    from discreet.interpret.acting import best_action
    from discreet.interpret.channel import output_at, position_of
    from discreet.interpret.posteriors import posterior_after
    from discreet.interpret.predictive import tail_probability
    from discreet.interpret.regions import check_level
    from discreet.interpret.sentences import reading_sentence

    level = check_level(level)
    held = files.read_mechanism(mechanism)
    believed = held.problem.prior if prior is None else read_prior(prior, held)
    found = posterior_after([(held, output) for output in outputs], believed, about=about, exact=exact)
    published = [output_at(held, position_of(held, output)) for output in outputs]
    shown = found.exact if exact and found.exact is not None else [float(p) for p in found.probabilities]
    result: dict[str, Any] = {
        "output": [o.label for o in published] if len(published) > 1 else published[0].label,
        "about": about,
        "prior": "the design's" if prior is None else str(prior),
        "probability": found.exact_probability if exact else found.probability,
    }
    if len(published) == 1:
        result["recommended"] = _plain(published[0].action)
        result["surprise"] = tail_probability(held, outputs[0], believed)
    if found.values is None:
        result["posterior"] = {"values": list(found.labels), "probabilities": shown}
        result["mode"] = found.mode()
        return result
    actions = [_plain(best_action(decision, found)) for decision in held.problem.decisions]
    credible = found.credible_set(level)
    dense = found.credible_set(level, "highest-density")
    low, high = found.values[credible.first], found.values[credible.last]
    result |= {
        "mean": found.exact_mean() if exact else found.mean(),
        "standard_deviation": found.variance() ** 0.5,
        "median": _plain(found.quantile(Fraction(1, 2))),
        "mode": _plain(found.values[found.labels.index(found.mode())]),
        "action": actions[0] if len(actions) == 1 else actions,
        "level": level,
        "interval": [_plain(low), _plain(high)],
        "interval_probability": float(credible.probability),
        "highest_density": [_plain(found.values[i]) for i in dense.positions],
        "highest_density_probability": float(dense.probability),
        "posterior": {"values": [_plain(v) for v in found.values], "probabilities": shown},
    }
    if len(published) == 1:
        result["naive"] = face_value(held, published[0].label, found)
    label = " and ".join(o.label for o in published)
    whose = "the design's prior" if prior is None else f"the prior of {prior.name}"
    result["sentence"] = reading_sentence(label, found.mean(), low, high, level, float(credible.probability), whose)
    return result


def face_value(mechanism: Mechanism, label: str, found: Posterior) -> dict[str, Any] | None:
    """What it costs to take the published number for the truth, beside the best action; None when it is no number."""
    from discreet.interpret.acting import best_action, expected_loss
    from discreet.numerics.exact import exact

    decision = mechanism.problem.decisions[0]
    if not decision.is_loss:
        return None
    try:
        number = exact(label)
    except InputError:
        return None
    return {
        "value": float(number),
        "expected_loss": expected_loss(decision, found, number),
        "expected_loss_of_best_action": expected_loss(decision, found, best_action(decision, found)),
        "bias": float(number) - found.mean(),
    }


def read_prior(path: Path, mechanism: Mechanism) -> Prior:
    """The [prior] of a TOML file, tied to the mechanism's universe."""
    import tomllib
    from decimal import Decimal

    from discreet import files
    from discreet.files.problem import problem_from_document
    from discreet.files.problem_document import problem_document

    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(
            "The prior file is not valid TOML",
            found=str(error)[:200],
            allowed="a TOML file with [prior]",
            remedy="compare it with the [prior] of a problem file",
        ) from None
    if "data" in document:
        problem = files.read_problem(path)
        if problem.universe != mechanism.problem.universe:
            raise InputError(
                "The prior is about another universe",
                found="another [data] section",
                allowed="the same respondents and values as the mechanism's",
                remedy="give a file that holds only [prior]",
            )
        return problem.prior
    if set(document) != {"prior"}:
        raise InputError(
            "A prior file holds one section",
            found=", ".join(document) or "nothing",
            allowed="[prior]",
            remedy="copy the [prior] of a problem file and change its numbers",
        )
    own = problem_document(mechanism.problem)
    return problem_from_document({**own, "prior": document["prior"]}, "The prior file").prior


def _plain(value: Any) -> Any:
    """Whole numbers as integers, other numbers as floats, names as they are."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    return value


def tell(result: dict[str, Any], console: Console) -> None:
    """The posterior for a person: a sentence, the numbers, and a picture of bars."""
    if "sentence" in result:
        console.print(result["sentence"])
        console.print(f"  best action      {_shown(result['action'])}")
        console.print(f"  standard error   {result['standard_deviation']:.4g}")
    naive = result.get("naive")
    if naive is not None:
        console.print(
            f"  at face value    expected loss {naive['expected_loss']:.4g} instead of "
            f"{naive['expected_loss_of_best_action']:.4g} (off by {naive['bias']:+.3g} on average)"
        )
    console.print(f"  prior            {result['prior']}")
    if "surprise" in result:
        console.print(f"  values as rare   {result['surprise']:.3g} of the time under this prior")
    console.print()
    values, chances = result["posterior"]["values"], [float(p) for p in result["posterior"]["probabilities"]]
    likely = [i for i in range(len(chances)) if chances[i] >= LEAST]
    wanted = sorted(sorted(likely, key=lambda i: -chances[i])[:MOST_ROWS])
    top = max(chances)
    width = max(len(_shown(values[i])) for i in wanted)
    for i in wanted:
        bar = "█" * round(BAR * chances[i] / top)
        console.print(f"  {_shown(values[i]):>{width}}  {chances[i]:7.2%}  {bar}")
    left = 1 - sum(chances[i] for i in wanted)
    if left > LEAST:
        console.print(f"  {'':>{width}}  {left:7.2%}  (others)")


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
