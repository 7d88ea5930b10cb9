"""`discreet new [FILE]`: a commented problem file from a few answers, or from flags."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.keeping import next_step
from discreet.cli.output import Json, show
from discreet.views.view import Sentence, told


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The problem file to write.")] = Path("problem.toml"),
    respondents: Annotated[int | None, typer.Option(help="Records in one cell, such as households in a block.")] = None,
    values: Annotated[str | None, typer.Option(help="The value of each type, such as 0,1,2.")] = None,
    probabilities: Annotated[str | None, typer.Option(help="How likely each value is, such as 0.89,0.09,0.02.")] = None,
    counts: Annotated[str | None, typer.Option(help="Public reference counts of each value, instead of probabilities.")] = None,
    source: Annotated[str | None, typer.Option(help="Where the reference counts come from.")] = None,
    spread: Annotated[
        str | None, typer.Option(help="How many times as much as chance alone the cells vary, such as 2.4; 1 is not at all.")
    ] = None,
    statistic: Annotated[str | None, typer.Option(help="sum, mean, or count:1,2 for the types that count.")] = None,
    decision: Annotated[str | None, typer.Option(help="squared-error, absolute-error, or pinball:0.9.")] = None,
    actions: Annotated[str | None, typer.Option(help="real or integer.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="The privacy loss budget of one publication.")] = None,
    unit: Annotated[str | None, typer.Option(help="Who is protected, such as household.")] = None,
    as_json: Json = False,
) -> None:
    """Write a commented problem file by answering a few questions.

    What a flag says is not asked. Without a terminal defaults are taken.

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
    size = str(respondents) if respondents is not None else ask("How many respondents are in one cell?", "40", _number)
    listed = values or ask("Which values can a respondent have? (the usual one first)", "0,1,2", _numbers)
    if counts is None and probabilities is None:
        probabilities = ask("How likely is each value, from public knowledge?", _even(listed), _numbers)
    if spread is None:
        asked = "How many times as much as chance alone do the cells vary? (1: cells are alike)"
        spread = ask(asked, "1", _spread(size)) if counts is None else "1"
    if counts is not None and source is None:
        source = ask("Where do the reference counts come from?", "public reference data", _text)
    text = problem_text(
        size=size,
        values=listed,
        probabilities=probabilities,
        counts=counts,
        source=source or "",
        spread=spread,
        statistic=statistic or ask("What is published: sum, mean, or count:1,2 (of these types)?", "sum", _statistic),
        decision=decision or ask("A wrong action costs: squared-error, absolute-error, pinball:0.9?", "squared-error", _decision),
        actions=actions or ask("Which actions can a reader take: integer or real?", "integer", _actions),
        epsilon=epsilon or ask("Which ε? (smaller is more private)", "1", _number),
        unit=unit or ask("Who is one respondent, such as household or person?", "respondent", _text),
    )
    problem = problem_from_text(text, file.name.removesuffix(".toml"))
    write_atomically(file, text.encode())
    name = str(file).removesuffix(".toml")
    view = told(
        {"problem": file, "epsilon": problem.epsilon, "unit": problem.unit, "notes": list(problem.notes)},
        Sentence(f"Written: {file}", whole=True),
        *(Sentence(f"Note: {note}") for note in problem.notes),
    )
    show(view + next_step(f"design {file} -o {name}.mechanism.json"), as_json=as_json)


class Questions:
    """Asks a person until the answer can be used, or takes the default when nobody is there."""

    def __init__(self, somebody: bool) -> None:
        self.somebody = somebody

    def __call__(self, question: str, default: str, form: Callable[[str], str]) -> str:
        """The answer to one question; `form` writes it as TOML, or refuses it."""
        from discreet.errors import InputError

        while self.somebody:
            answer = str(typer.prompt(question, default=default, err=True)).strip()
            try:
                form(answer)
            except InputError as refused:
                typer.echo(f"  {refused}", err=True)
            else:
                return answer
        return default


def problem_text(
    *,
    size: str,
    values: str,
    probabilities: str | None,
    counts: str | None,
    source: str,
    spread: str,
    statistic: str,
    decision: str,
    actions: str,
    epsilon: str,
    unit: str,
) -> str:
    """The problem file as text; every answer is quoted as data, and the whole is read back before it is written."""
    if _number(spread).strip('"') != "1":
        prior = _differing(size, probabilities, spread)
    elif counts is None:
        prior = _lines('kind = "iid"', f"probabilities = {_numbers(probabilities or '')}", said="how likely each value is")
    else:
        prior = _lines('kind = "reference"', said="the proportions of public reference data")
        prior += _lines(f"counts = {_numbers(counts)}", f"source = {_text(source)}")
    return "\n".join(
        [
            "# A problem for discreet: what is published, what for, and how private.",
            "",
            "[data]",
            _lines(f"respondents = {_number(size)}", said="records in one cell")
            + _lines(f"values = {_numbers(values)}", said="the value of each type")
            + _lines('neighbours = "replace-one"', said="what is hidden: one record's value"),
            "[prior]",
            prior,
            "[statistic]",
            _lines(_statistic(statistic), said="what the decision depends on"),
            "[decision]",
            _lines(_decision(decision), said="how a wrong action is judged") + _lines(_actions(actions)),
            "[privacy]",
            _lines(f"epsilon = {_number(epsilon)}", said="smaller is more private")
            + _lines(f"unit = {_text(unit)}", said="who one respondent is"),
        ]
    )


def _lines(*lines: str, said: str = "") -> str:
    """Lines of TOML, the last one with a comment in the column of all comments."""
    *above, last = "\n".join(lines).split("\n")
    return "\n".join([*above, f"{last:<31} # {said}" if said else last, ""])


def _differing(size: str, probabilities: str | None, spread: str) -> str:
    """A prior under which cells differ: a concentration A makes them vary (A + N)/(A + 1) times as much as chance alone."""
    from discreet.errors import InputError
    from discreet.numerics.exact import exact

    _spread(size)(spread)
    if probabilities is None:
        raise InputError(
            "The spread of cells goes with probabilities",
            found="reference counts and a spread",
            allowed="--probabilities with --spread",
            remedy="give the proportions of the counts as probabilities",
        )
    n, times = exact(size, "respondents"), exact(spread, "the spread")
    total = (n - times) / (times - 1)
    parts = [exact(part.strip(), "a number") * total for part in probabilities.split(",")]
    concentration = ", ".join(f"{float(part):.4g}" for part in parts)
    return _lines('kind = "exchangeable"', said=f"cells differ: they vary {spread} times as much as chance alone") + _lines(
        f"concentration = [{concentration}]", said="the shares of the types; the smaller in all, the more cells differ"
    )


def _spread(size: str) -> Callable[[str], str]:
    """Reads a spread that cells of this size can have."""
    from discreet.errors import InputError
    from discreet.numerics.exact import exact

    def form(text: str) -> str:
        times = exact(text.strip(), "the spread")
        if times != 1 and not 1 < times < exact(size, "respondents"):
            raise InputError(
                "Cells cannot vary so much",
                found=f"{text} times as much as chance alone",
                allowed=f"1, or more but below {size}",
                remedy="divide the variance between cells by that of independent answers",
            )
        return text

    return form


def _statistic(text: str) -> str:
    kind, _, of = text.partition(":")
    _one_of(kind, "statistic", ("sum", "mean", "count"))
    _must_follow(kind == "count" and not of, "count", "count:1,2 for the types 1 and 2, where the first value has type 0")
    return f'kind = "{kind}"' + (f"\nof = {_numbers(of)}" if kind == "count" else "")


def _decision(text: str) -> str:
    from discreet.model.losses import LOSSES

    kind, _, number = text.partition(":")
    _one_of(kind, "decision", tuple(known for known, (key, _) in LOSSES.items() if key != "payoff"))
    key = LOSSES[kind][0]
    _must_follow(key is not None and not number, kind, f"{kind}:0.9 for the {key} 0.9")
    return f'kind = "{kind}"' + (f"\n{key} = {_number(number)}" if key is not None else "")


def _actions(text: str) -> str:
    _one_of(text, "actions", ("integer", "real"))
    return f'actions = "{text}"'


def _must_follow(missing: bool, word: str, example: str) -> None:
    from discreet.errors import InputError

    if missing:
        raise InputError(f"A number must follow {word}", found=word, allowed=example, remedy="write a colon and the number")


def _one_of(word: str, name: str, allowed: tuple[str, ...]) -> None:
    from discreet.errors import InputError, suggest

    if word not in allowed:
        near = suggest(word, list(allowed))
        raise InputError(
            f"This {name} is not offered here" if name != "actions" else "These actions are not offered here",
            found=word,
            allowed=", ".join(allowed),
            remedy=f"did you mean {near}?" if near else "other kinds can be written into the file by hand",
        )


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
