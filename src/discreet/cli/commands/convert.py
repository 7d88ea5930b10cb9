"""`discreet convert FROM [TO]`: a guarantee read in another currency, with the formula and its source."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, beside, show

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.currencies.conversions import Converted
    from discreet.currencies.statements import Statement


def command(
    source: Annotated[
        str | None,
        typer.Argument(metavar="FROM", help="What is promised: epsilon=1, or epsilon=1,delta=1e-6, rho=0.1, mi=0.1, …"),
    ] = None,
    target: Annotated[
        str | None,
        typer.Argument(metavar="TO", help="The currency wanted: kl, tv, mi, zcdp, gaussian, tradeoff, "
                       "approximate,delta=1e-6, renyi,order=2; all that follow by default."),
    ] = None,
    types: Annotated[int | None, typer.Option("--types", help="How many values one respondent can have.")] = None,
    outputs: Annotated[int | None, typer.Option("--outputs", help="How many outputs there are.")] = None,
    table: Annotated[bool, typer.Option("--table", help="List every conversion with its source.")] = False,
    as_json: Json = False,
) -> None:
    """Convert a promise between ε, (ε, δ), zCDP, Rényi and others.

    The others are f-DP, relative entropy (kl), total variation (tv) and mutual information (mi).

    Results are rounded up. "Tight" means that no smaller number is true of every mechanism with that promise.

    Example: discreet convert rho=0.1 approximate,delta=1e-6
    """
    if table or source is None:
        result = listed()
        show(result, as_json=as_json, person=lambda console: tell_table(result, console))
        return
    result = converted(source, target, types, outputs)
    show(result, as_json=as_json, person=lambda console: tell(result, console))


def converted(source: str, target: str | None, types: int | None, outputs: int | None) -> dict[str, Any]:
    """The conversions asked for, as one mapping."""
    from discreet.currencies.conversions import convert
    from discreet.currencies.statements import KINDS
    from discreet.errors import InputError

    given = read_statement(source)
    if target is not None:
        kind, wanted = read_target(target)
        found = [convert(given, kind, types=types, outputs=outputs, **wanted)]
    else:
        found = []
        for kind in KINDS:
            if kind in ("approximate", "renyi", given.kind):
                continue
            try:
                found.append(convert(given, kind, types=types, outputs=outputs))
            except InputError:
                continue
    return {"from": _numbers(given), "results": [_facts(item) for item in found]}


def read_statement(text: str) -> Statement:
    """A statement written as name=value pairs; the names say which kind it is."""
    from discreet.currencies.statements import KINDS, Statement
    from discreet.errors import InputError, suggest

    numbers = _pairs(text)
    for kind, names in KINDS.items():
        if set(names) == set(numbers):
            return Statement(kind, numbers)
    known = sorted({name for names in KINDS.values() for name in names} - {"corners"})
    near = next((suggest(name, known) for name in numbers if name not in known), None)
    raise InputError(
        "This is no guarantee that can be converted", found=text,
        allowed="epsilon, or epsilon and delta, kl, tv, mi, rho, order and renyi, or mu, each with its value",
        remedy=f"Did you mean {near}?" if near else "for instance: discreet convert epsilon=1",
    )


def read_target(text: str) -> tuple[str, dict[str, Any]]:
    """A kind and the number wanted of it, such as `approximate,delta=1e-6`."""
    from discreet.currencies.statements import KINDS, unknown_kind

    kind, _, rest = text.partition(",")
    if kind.strip() not in KINDS:
        raise unknown_kind(kind.strip())
    return kind.strip(), dict(_pairs(rest)) if rest else {}


def listed() -> dict[str, Any]:
    """The table of conversions."""
    from discreet.currencies.conversions import edges

    return {
        "conversions": [
            {"from": e.source, "to": e.target, "formula": e.formula, "source": e.reference, "tight": e.tight}
            for e in edges()
        ]
    }


def _pairs(text: str) -> dict[str, Any]:
    from discreet.errors import InputError
    from discreet.numerics.exact import exact

    found = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals:
            raise InputError(
                "A number is written as name=value", found=part, allowed="for instance epsilon=1",
                remedy="write an equals sign",
            )
        found[name.strip()] = exact(value.strip(), name.strip())
    return found


def _numbers(given: Statement) -> dict[str, Any]:
    if given.corners:
        return {"kind": given.kind, "corners": given.corners}
    return {"kind": given.kind, **{name: float(value) for name, value in given.numbers.items()}}


def _facts(found: Converted) -> dict[str, Any]:
    return {
        **_numbers(found.result),
        "tight": found.tight,
        "steps": [
            {"to": _numbers(step.result), "formula": step.edge.formula, "source": step.edge.reference,
             "tight": step.edge.tight}
            for step in found.steps
        ],
    }


def tell(result: dict[str, Any], console: Console) -> None:
    """The conversions for a person."""
    console.print(f"From {_words(result['from'])}:")
    for found in result["results"]:
        console.print(f"  [bold]{_words(found)}[/bold]{'  (tight)' if found['tight'] else ''}")
        for step in found["steps"]:
            beside(console, "      ", f"{step['formula']}   [dim]{step['source']}[/dim]")


def tell_table(result: dict[str, Any], console: Console) -> None:
    """The table of conversions for a person."""
    for edge in result["conversions"]:
        tight = "tight" if edge["tight"] else "     "
        beside(console, f"{edge['from']:>11} → {edge['to']:<11} {tight}  ", f"{edge['formula']}\n[dim]{edge['source']}[/dim]")


def _words(numbers: dict[str, Any]) -> str:
    if numbers["kind"] == "tradeoff":
        return "f-DP through " + ", ".join(f"({a:.6g}, {b:.6g})" for a, b in numbers["corners"])
    left_out = {"kind", "tight", "steps"}
    digits = Context(prec=10, rounding=ROUND_CEILING)
    pairs = ", ".join(
        f"{name} = {digits.create_decimal(repr(value)).normalize():g}"
        for name, value in numbers.items()
        if name not in left_out
    )
    return f"{numbers['kind']}: {pairs}"
