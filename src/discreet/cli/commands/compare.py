"""`discreet compare MECH MECH …`: losses, privacy and orders of several mechanisms side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.output import Json, show
from discreet.cli.pictures import Draw, drawable, drawn
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.model.mechanism import Mechanism


def command(
    mechanisms: Annotated[
        list[Path], typer.Argument(metavar="MECH", help="Two or more mechanism or family files, releases, or names of noise.")
    ],
    size: Annotated[int | None, typer.Option("--size", help="For families and releases: the size of the cells.")] = None,
    figure: Draw = None,
    as_json: Json = False,
) -> None:
    """Compare mechanisms side by side: losses, privacy, information.

    Shows what each is worth for the first one's problem, what it promises, and which of each pair is more informative.
    After the first, "geometric" and "staircase" name noise on its statistic that is unbiased at every state.

    Example: discreet compare places.mechanism.json usual.mechanism.json
    """
    from discreet.views.comparison import comparison_view
    from discreet.views.subject import subject_of

    drawable(figure)
    if figure is not None and len(mechanisms) != 2:
        raise InputError(
            "The picture shows the relative risks of two mechanisms",
            found=f"{len(mechanisms)} mechanisms",
            allowed="two files",
            remedy="name two, or leave --figure out",
        )
    first = subject_of(mechanisms[0], size).mechanism
    read = [first, *(_named(path, first) or subject_of(path, size).mechanism for path in mechanisms[1:])]
    view = comparison_view([(str(path), mechanism) for path, mechanism in zip(mechanisms, read, strict=True)])
    if figure is not None:
        from discreet.present import compared_risks_figure

        names = tuple(path.name.removesuffix(".json").removesuffix(".mechanism") for path in mechanisms)
        view += drawn(compared_risks_figure(read[0], read[1], (names[0], names[1])), figure)
    show(view, as_json=as_json)


def _named(path: Path, first: Mechanism) -> Mechanism | None:
    """Unbiased noise by its name, for the first mechanism's problem; a file of that name comes first."""
    from discreet.design.program.unbiased_noise import NOISES, unbiased_noise
    from discreet.model.mechanism import Mechanism

    if str(path) not in NOISES or path.exists():
        return None
    found = unbiased_noise(first.problem, str(path))
    return Mechanism(first.problem, found.summary, found.kernel, first.problem.guarantee)
