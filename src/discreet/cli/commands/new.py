"""`discreet new [FILE]`: a commented problem file from a few answers, or from flags."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, show

if TYPE_CHECKING:
    from rich.console import Console


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The problem file to write.")] = Path("problem.toml"),
    respondents: Annotated[int | None, typer.Option(help="Records in one cell, such as households in a block.")] = None,
    values: Annotated[str | None, typer.Option(help="The value of each type, such as 0,1,2.")] = None,
    probabilities: Annotated[str | None, typer.Option(help="How likely each value is, such as 0.89,0.09,0.02.")] = None,
    counts: Annotated[
        str | None, typer.Option(help="Public reference counts of each value, instead of probabilities.")
    ] = None,
    source: Annotated[str | None, typer.Option(help="Where the reference counts come from.")] = None,
    statistic: Annotated[str | None, typer.Option(help="sum, mean, or count:1,2 for the types that count.")] = None,
    decision: Annotated[str | None, typer.Option(help="squared-error, absolute-error, or pinball:0.9.")] = None,
    actions: Annotated[str | None, typer.Option(help="real or integer.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="The privacy loss budget of one publication.")] = None,
    unit: Annotated[str | None, typer.Option(help="Who is protected, such as household.")] = None,
    as_json: Json = False,
) -> None:
    """Write a commented problem file. What no flag says is asked for; without a terminal defaults are taken.

    Example: discreet new places.toml --respondents 40 --values 0,1,2 --probabilities 0.89,0.09,0.02 --unit household
    """
    from discreet.errors import InputError
    from discreet.files.atomic import write_atomically
    from discreet.files.problem import problem_from_text

    if file.exists():
        raise InputError(
            "The problem file exists already",
            found=str(file),
            allowed="a new file",
            remedy="choose another name; nothing is overwritten",
        )
    ask = Questions(sys.stdin.isatty() and not as_json)
    size = str(respondents) if respondents is not None else ask("How many respondents are in one cell?", "40")
    listed = values or ask("Which values can a respondent have? (the first should be the usual one)", "0,1,2")
    if counts is None and probabilities is None:
        probabilities = ask("How likely is each value, from public knowledge?", _even(listed))
    text = problem_text(
        size=size,
        values=listed,
        probabilities=probabilities,
        counts=counts,
        source=source or ("" if counts is None else ask("Where do the reference counts come from?", "public reference data")),
        statistic=statistic or ask("What is published: sum, mean, or count:1,2 (of types)?", "sum"),
        decision=decision or ask("How is a wrong action judged: squared-error, absolute-error, pinball:0.9?", "squared-error"),
        actions=actions or ask("Which actions: real or integer?", "integer"),
        epsilon=epsilon or ask("Which ε?", "1"),
        unit=unit or ask("Who is one respondent (the privacy unit)?", "respondent"),
    )
    problem = problem_from_text(text, file.name.removesuffix(".toml"))
    write_atomically(file, text.encode())
    result: dict[str, Any] = {"problem": file, "epsilon": problem.epsilon, "unit": problem.unit, "notes": list(problem.notes)}
    show(result, as_json=as_json, person=lambda console: tell(result, console))


class Questions:
    """Asks a person, or takes the default when nobody is there."""

    def __init__(self, somebody: bool) -> None:
        self.somebody = somebody

    def __call__(self, question: str, default: str) -> str:
        """The answer to one question."""
        return str(typer.prompt(question, default=default, err=True)) if self.somebody else default


def problem_text(
    *,
    size: str,
    values: str,
    probabilities: str | None,
    counts: str | None,
    source: str,
    statistic: str,
    decision: str,
    actions: str,
    epsilon: str,
    unit: str,
) -> str:
    """The problem file as text; every answer is quoted as data, and the whole is read back before it is written."""
    prior = (
        f'kind = "iid"\nprobabilities = {_numbers(probabilities or "")}   # how likely each value is, from public knowledge'
        if counts is None
        else f'kind = "reference"              # the proportions of public reference data\n'
        f"counts = {_numbers(counts)}\nsource = {_text(source)}"
    )
    kind, _, of = statistic.partition(":")
    counted = f"\nof = {_numbers(of)}                      # the types that are counted" if kind == "count" else ""
    judged, _, quantile = decision.partition(":")
    extra = f"\nquantile = {_number(quantile)}" if judged == "pinball" else ""
    return f"""# A problem for discreet: what is published, what for, and how private.

[data]
respondents = {_number(size)}                # records in one cell
values = {_numbers(values)}           # the value of each type
neighbours = "replace-one"      # what is hidden: one record's value

[prior]
{prior}

[statistic]
kind = {_text(kind)}{counted}

[decision]
kind = {_text(judged)}          # how a wrong action is judged{extra}
actions = {_text(actions)}

[privacy]
epsilon = {_number(epsilon)}
unit = {_text(unit)}             # who one respondent is
"""


def _numbers(text: str) -> str:
    return "[" + ", ".join(_number(part) for part in text.split(",")) + "]"


def _number(text: str) -> str:
    """A number as TOML: plain when it is a decimal, quoted when it is a fraction; refuses anything else."""
    from discreet.numerics.exact import exact

    plain = text.strip()
    exact(plain, "a number")
    return f'"{plain}"' if "/" in plain else plain


def _text(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)


def _even(values: str) -> str:
    count = len(values.split(","))
    return ",".join([f"1/{count}"] * count)


def tell(result: dict[str, Any], console: Console) -> None:
    """What was written and what to type next."""
    console.print(f"Written: {result['problem']}", soft_wrap=True)
    for note in result["notes"]:
        console.print(f"Note: {note}")
    name = str(result["problem"]).removesuffix(".toml")
    console.print(f"Next: discreet design {result['problem']} -o {name}.mechanism.json", soft_wrap=True)
