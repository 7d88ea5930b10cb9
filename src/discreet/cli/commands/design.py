"""`discreet design PROBLEM`: the best private mechanism for a decision, proved, beside what people do today."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.output import Json, show
from discreet.cli.pictures import Draw
from discreet.cli.progress import progress
from discreet.errors import InputError


def command(
    problem: Annotated[Path, typer.Argument(metavar="PROBLEM", help="A problem file (TOML).")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the mechanism here and its certificate beside it."),
    ] = None,
    gap: Annotated[
        float | None,
        typer.Option(
            help="The relative gap to stop at: 1e-6 by default, 1e-3 with --sizes, 1e-4 with --priors (real actions 1e-3)."
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(help="The longest time to search, and as long again for what is asked beside.")] = 60.0,
    within: Annotated[
        str | None, typer.Option(help="Restrict to a class (oblivious, permutation-invariant) and see its price.")
    ] = None,
    alternative: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Another problem file (other prior or payoff) to report regret for."),
    ] = None,
    radius: Annotated[
        str | None,
        typer.Option(help="Report the worst regret when the prior moves by this share, such as 0.05; --figure draws it."),
    ] = None,
    draws: Annotated[
        int | None, typer.Option(help="Report the regret at so many priors drawn around reference counts; --figure draws it.")
    ] = None,
    counts: Annotated[
        str | None, typer.Option(help="With --draws: counts of each type, such as 890,90,20; a reference prior has its own.")
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Design a family: a file of cell sizes, or text such as 10..60 or 21-30 (padded)."),
    ] = None,
    limit: Annotated[float | None, typer.Option(help="With --sizes: the longest time for the whole family.")] = None,
    kept: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --sizes: where finished members are kept for the next run.")
    ] = None,
    priors: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Prepare for other priors too: a TOML file with [[prior]] tables.")
    ] = None,
    hedge: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Guard against a wrong prior: the mean may be off by this share, such as 50%, and cells may differ.",
        ),
    ] = None,
    never: Annotated[
        str | None,
        typer.Option(
            metavar="TIMES",
            help="With --hedge: whatever the data, lose at most so many times what plain noise loses (1.1 by default); or none.",
        ),
    ] = None,
    epsilon: Annotated[str | None, typer.Option(help="Design at this ε instead of the one in the problem file.")] = None,
    slopes: Annotated[bool, typer.Option("--slopes", help="Show how the optimum moves with ε and with the prior.")] = False,
    workers: Annotated[int | None, typer.Option(help="Processes side by side; all cores by default.")] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="The most memory to take, such as 2GB; half of what is free by default.")
    ] = None,
    figure: Draw = None,
    as_json: Json = False,
) -> None:
    """Find the best private mechanism for a problem, and prove it.

    Prints the expected loss of the design and of what people do today, the bound that no private mechanism beats, which
    theorem made it possible, and what the design is not good for. With --sizes a family of mechanisms for many cell sizes;
    with --priors one mechanism with the least worst regret over several priors.

    Example: discreet design places.toml -o places.mechanism.json
    """
    from discreet import files
    from discreet.cli.questions.best_mechanism import Around, BestMechanism
    from discreet.cli.questions.many_sizes import ManySizes
    from discreet.cli.questions.several_priors import SeveralPriors
    from discreet.design.memory import allowing, bytes_of
    from discreet.design.questions.hedge import never_more
    from discreet.files.sizes import read_sizes
    from discreet.numerics.exact import exact, share

    most = bytes_of(memory)
    read = files.read_problem(problem)
    if epsilon is not None:
        read = read.with_epsilon(exact(epsilon, "--epsilon"))
    share_of_mean = None if hedge is None else share(hedge, "--hedge")
    asked: dict[str, Any] = {"gap": gap, "seconds": seconds, "workers": workers, "output": output, "figure": figure}
    question: BestMechanism | ManySizes | SeveralPriors
    must_fit(
        {
            "--sizes": sizes,
            "--priors": priors,
            "--within": within,
            "--alternative": alternative,
            "--radius": radius,
            "--draws": draws,
            "--counts": counts,
            "--slopes": slopes or None,
            "--limit": limit,
            "--kept": kept,
            "--hedge": hedge,
            "--never": never,
        }
    )
    if sizes is not None:
        question = ManySizes(
            read, read_sizes(sizes), limit=limit, folder=kept, hedge=share_of_mean, never=never_more(never), **asked
        )
    elif priors is not None:
        question = SeveralPriors.of(read, priors, **asked)
    else:
        around = None
        if radius is not None:
            around = Around.at_radius(read, radius, pictured=figure is not None)
        elif draws is not None:
            around = Around.of_counts(read, draws, counts)
        other = None if alternative is None else files.read_problem(alternative)
        asked |= {"within": within, "alternative": other, "around": around, "slopes": slopes}
        question = BestMechanism(read, hedge=share_of_mean, never=never_more(never), **asked)
    with allowing(most), progress(read) as watch:
        view = question.answer(watch)
    show(view, as_json=as_json)


BELONG = {
    "--sizes": {"--limit", "--kept", "--hedge", "--never"},
    "--priors": set(),
    "": {"--within", "--alternative", "--radius", "--draws", "--counts", "--slopes", "--hedge", "--never"},
}
"""The options of each question; the empty one asks for one mechanism."""
APART = (("--radius", "--draws"), ("--within", "--slopes"))


def must_fit(options: dict[str, Any]) -> None:
    """Refuse options that answer different questions, before any work."""
    given = [name for name, value in options.items() if value is not None]
    if "--counts" in given and "--draws" not in given:
        raise InputError(
            "Reference counts are for priors drawn around them",
            found="--counts without --draws",
            allowed="both, or neither",
            remedy="add --draws 20",
        )
    if "--never" in given and "--hedge" not in given:
        raise InputError(
            "A limit beside plain noise belongs to a hedge",
            found="--never without --hedge",
            allowed="both, or neither",
            remedy="add --hedge 50%",
        )
    question = next((name for name in BELONG if name in given), "")
    strangers = [name for name in given if name != question and name not in BELONG[question]]
    strangers += [one for one, other in APART if one in given and other in given]
    if strangers:
        raise InputError(
            "These options answer different questions",
            found=", ".join(given),
            allowed="one question at a time",
            remedy=f"leave out {strangers[0]}",
        )
