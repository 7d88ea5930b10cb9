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
    from discreet.views.view import View


def command(
    mechanisms: Annotated[
        list[Path], typer.Argument(metavar="MECH", help="Two or more mechanism or family files, releases, or names of noise.")
    ],
    size: Annotated[int | None, typer.Option("--size", help="For families and releases: the size of the cells.")] = None,
    both: Annotated[
        bool, typer.Option("--both", help="Beside them the best under pure ε and under ρ, at equal ρ and at equal ε for δ = 1e-6.")
    ] = False,
    seconds: Annotated[float, typer.Option(help="With --both: the longest search for each design.")] = 60.0,
    workers: Annotated[int | None, typer.Option(help="Processes side by side; all cores by default.")] = None,
    figure: Draw = None,
    as_json: Json = False,
) -> None:
    """Compare mechanisms side by side: losses, privacy, information.

    Shows what each is worth for the first one's problem, what it promises, and which of each pair is more informative.
    With --both the picture is that of both promises: what the best mechanisms lose at the same terms, and where these stand.

    Families and releases are compared size by size; --size looks at one.

    After the first, "geometric" and "staircase" name noise on its statistic that is unbiased at every state.

    Example: discreet compare places.mechanism.json usual.mechanism.json
    """
    from discreet.views.comparison import comparison_view
    from discreet.views.sizes import must_be_one_size
    from discreet.views.subject import subject_of, subjects_of

    drawable(figure)
    if figure is not None and not both and len(mechanisms) != 2:
        raise InputError(
            "The picture shows the relative risks of two mechanisms",
            found=f"{len(mechanisms)} mechanisms",
            allowed="two files",
            remedy="name two, or leave --figure out",
        )
    if size is None and any(len(subjects_of(path)) > 1 for path in mechanisms if not _is_noise(path)):
        if figure is not None or both:
            raise must_be_one_size("--figure" if figure is not None else "--both")
        show(_of_sizes(mechanisms), as_json=as_json)
        return
    first = subject_of(mechanisms[0], size).mechanism
    read = [first, *(_named(path, first) or subject_of(path, size).mechanism for path in mechanisms[1:])]
    names = [path.name.removesuffix(".json").removesuffix(".mechanism") for path in mechanisms]
    if both:
        _must_fit(read)
    view = comparison_view([(str(path), mechanism) for path, mechanism in zip(mechanisms, read, strict=True)], implied=both)
    if both:
        view += _beside(read, names, view, figure, seconds, workers)
    elif figure is not None:
        from discreet.present import compared_risks_figure

        view += drawn(compared_risks_figure(read[0], read[1], (names[0], names[1])), figure)
    show(view, as_json=as_json)


def _must_fit(mechanisms: list[Mechanism]) -> None:
    """Refuse, before any work, promises that have no place between ε and ρ, or a problem that only one of them can serve."""
    from discreet.design.questions.two_promises import beside, levels_for

    problem = mechanisms[0].problem
    beside(problem, levels_for(problem, [m.guarantee.promise for m in mechanisms]))


def _beside(
    mechanisms: list[Mechanism], names: list[str], view: View, figure: Path | None, seconds: float, workers: int | None
) -> View:
    """Both frontiers at the terms of these mechanisms, which are marked in the picture."""
    from discreet.cli.progress import progress
    from discreet.design.questions.two_promises import levels_for, two_promises
    from discreet.present import two_promises_figure
    from discreet.present.axes import shown
    from discreet.views.two_promises import two_promises_view

    problem = mechanisms[0].problem
    with progress(problem) as watch:
        levels = levels_for(problem, [m.guarantee.promise for m in mechanisms])
        found = two_promises(problem, levels, watch, seconds=seconds, workers=workers)
    told = two_promises_view(found)
    if figure is None:
        return told
    rows = view.facts["mechanisms"]
    marked = [
        (name, float(row["implied_rho"]), float(row["implied_epsilon"]), shown(problem, -row["followed"]))
        for name, row in zip(names, rows, strict=True)
    ]
    return told + drawn(two_promises_figure(found, marked), figure)


def _of_sizes(paths: list[Path]) -> View:
    """Every size that all of them have; noise by its name is for the first one's."""
    from discreet.views.sizes import comparison_of_sizes
    from discreet.views.subject import by_size

    first = by_size(paths[0])
    each = [first]
    for path in paths[1:]:
        each.append({n: _noise(path, one) for n, one in first.items()} if _is_noise(path) else by_size(path))
    return comparison_of_sizes([(str(path), held) for path, held in zip(paths, each, strict=True)])


def _is_noise(path: Path) -> bool:
    """Whether this is the name of a noise; a file of that name comes first."""
    from discreet.design.program.unbiased_noise import NOISES

    return str(path) in NOISES and not path.exists()


def _named(path: Path, first: Mechanism) -> Mechanism | None:
    """Unbiased noise by its name, for the first mechanism's problem."""
    return _noise(path, first) if _is_noise(path) else None


def _noise(path: Path, first: Mechanism) -> Mechanism:
    from discreet.design.program.unbiased_noise import unbiased_noise
    from discreet.model.mechanism import Mechanism

    found = unbiased_noise(first.problem, str(path))
    return Mechanism(first.problem, found.summary, found.kernel, first.problem.guarantee)
