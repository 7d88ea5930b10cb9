"""`discreet convert FROM [TO]`: a guarantee read in another currency, with the formula and its source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, show

if TYPE_CHECKING:
    from discreet.currencies.statements import Statement


def command(
    source: Annotated[
        str | None,
        typer.Argument(metavar="FROM", help="What is promised: epsilon=1, or epsilon=1,delta=1e-6, rho=0.1, mi=0.1, …"),
    ] = None,
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="TO",
            help="The currency wanted: kl, tv, mi, zcdp, gaussian, tradeoff, "
            "approximate,delta=1e-6, renyi,order=2; all that follow by default.",
        ),
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
    from discreet.views.conversion import conversion_view, conversions_view

    if table or source is None:
        show(conversions_view(), as_json=as_json)
        return
    kind, wanted = (None, {}) if target is None else read_target(target)
    show(conversion_view(read_statement(source), kind, wanted, types=types, outputs=outputs), as_json=as_json)


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
        "This is no guarantee that can be converted",
        found=text,
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


def _pairs(text: str) -> dict[str, Any]:
    from discreet.errors import InputError
    from discreet.numerics.exact import exact

    found = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals:
            raise InputError(
                "A number is written as name=value",
                found=part,
                allowed="for instance epsilon=1",
                remedy="write an equals sign",
            )
        found[name.strip()] = exact(value.strip(), name.strip())
    return found
