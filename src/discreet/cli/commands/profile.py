"""`discreet profile MECHANISM`: the guarantee of a mechanism in every currency."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.output import Json, show
from discreet.cli.pictures import Draw, drawable, drawn
from discreet.cli.progress import telling

if TYPE_CHECKING:
    from discreet.model.mechanism import Mechanism
    from discreet.present.figure import Figure


def command(
    mechanism: Annotated[Path, typer.Argument(metavar="FILE|DIR", help="A mechanism or family file, or a release folder.")],
    epsilon: Annotated[list[str] | None, typer.Option("--epsilon", help="Also show δ at this ε; may be repeated.")] = None,
    delta: Annotated[list[str] | None, typer.Option("--delta", help="Also show ε at this δ; may be repeated.")] = None,
    group: Annotated[int, typer.Option("--group", help="Protect groups of this many respondents.")] = 1,
    times: Annotated[int, typer.Option("--times", help="Compose this many releases (with --epsilon).")] = 1,
    alpha: Annotated[str, typer.Option("--alpha", help="The FPR at which attacks are shown.")] = "0.05",
    size: Annotated[int | None, typer.Option("--size", help="For a family or a release: the size of the cells.")] = None,
    figure: Draw = None,
    as_json: Json = False,
) -> None:
    """Show what a mechanism promises, in every currency of privacy.

    The currencies: ε, (ε, δ), Rényi, zCDP, trade-off, attack risk and mutual information.
    Every number is rounded outward and holds for the worst edge; the tight ε is exact. Of a family or a release every size is
    looked at and the worst is named; --size shows one.

    Example: discreet profile places.mechanism.json --delta 1e-6 --figure profile.svg
    """
    from discreet.views.profile import profile_view
    from discreet.views.sizes import must_be_one_size, profile_of_sizes
    from discreet.views.subject import subject_of, subjects_of

    drawable(figure)
    held = subjects_of(mechanism) if size is None else []
    if len(held) > 1:
        if figure is not None:
            raise must_be_one_size("--figure")
        asked = {"epsilons": epsilon or [], "deltas": delta or []}
        with telling() as watch:
            view = profile_of_sizes(held, **asked, group=group, times=times, alpha=alpha, watch=watch)
        show(view, as_json=as_json)
        return
    read = subject_of(mechanism, size).mechanism
    with telling() as watch:
        view = profile_view(read, epsilons=epsilon or [], deltas=delta or [], size=group, times=times, alpha=alpha, watch=watch)
    if figure is not None:
        view += drawn(picture(read, group), figure)
    show(view, as_json=as_json)


def picture(mechanism: Mechanism, size: int) -> Figure:
    """δ(ε) and the trade-off curve side by side, for groups of `size` respondents."""
    from discreet.currencies.groups import group
    from discreet.currencies.near import near_table
    from discreet.currencies.profiles import profile
    from discreet.model.promises import PurePromise
    from discreet.present import beside, delta_figure, tradeoff_figure

    promise = mechanism.guarantee.promise
    promised = size * float(promise.level) if isinstance(promise, PurePromise) else None
    seen = profile(group(near_table(mechanism), size))
    title = f"What is promised: {mechanism.guarantee}" + ("" if size == 1 else f", groups of {size}")
    return beside(title, [delta_figure(seen, promised), tradeoff_figure(seen, promised)])
