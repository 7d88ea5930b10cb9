"""`discreet limits FILE`: what no attacker, no test and no analyst can exceed, for a problem's ε or for a mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import Json, show
from discreet.cli.pictures import Draw, drawable, drawn
from discreet.errors import InputError


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE|DIR", help="A mechanism, family or problem file, or a release folder.")],
    output: Annotated[str | None, typer.Option("--output", metavar="OUTPUT", help="A published value to look at.")] = None,
    sure: Annotated[float, typer.Option("--sure", help="How sure the attacker is beforehand.")] = 0.5,
    together: Annotated[int, typer.Option("--together", help="Respondents who always answer alike, you included.")] = 4,
    alpha: Annotated[float, typer.Option("--alpha", help="False alarms that a test may have.")] = 0.05,
    size: Annotated[int | None, typer.Option("--size", help="For a family or a release: the size of the cells.")] = None,
    figure: Draw = None,
    as_json: Json = False,
) -> None:
    """Show what no attacker, no test and no analyst can exceed.

    Of a family or a release every size is looked at and the worst is named; --size shows one.

    Example: discreet limits places.mechanism.json --sure 0.1 --together 5
    """
    from discreet import files
    from discreet.model.promises import pure_epsilon
    from discreet.views.limits import limits_view, proved_mechanism
    from discreet.views.sizes import limits_of_sizes, must_be_one_size
    from discreet.views.subject import subject_of, subjects_of

    drawable(figure)
    several = size is None and (file.suffix == ".json" or file.is_dir())
    held = subjects_of(file) if several else []
    if len(held) > 1:
        if figure is not None or output is not None:
            raise must_be_one_size("--figure" if figure is not None else "--output")
        show(limits_of_sizes(held, sure=sure, together=together, alpha=alpha), as_json=as_json)
        return
    mechanism = subject_of(file, size).mechanism if file.suffix == ".json" or file.is_dir() else None
    if figure is not None and mechanism is None:
        raise InputError(
            "The picture shows the limits on a mechanism's outputs",
            found=file.name,
            allowed="a mechanism file",
            remedy="design one first, or leave --figure out",
        )
    if figure is not None and mechanism is not None:
        pure_epsilon(mechanism.guarantee.promise)
    view = limits_view(mechanism or files.read_problem(file), output=output, sure=sure, together=together, alpha=alpha)
    if figure is not None and mechanism is not None:
        from discreet.present import density_figure

        view += drawn(density_figure(proved_mechanism(mechanism)), figure)
    show(view, as_json=as_json)
