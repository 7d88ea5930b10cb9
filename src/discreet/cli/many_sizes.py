"""`discreet design --sizes`: a family of mechanisms for cells of many sizes, for programs and for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.design.questions.family import FamilyDesign
    from discreet.model.problem import Problem
    from discreet.watch import Watch

MOST_ROWS = 40


def run(
    problem: Problem, sizes: str, output: Path | None, figure: Path | None, watch: Watch, **settings: Any
) -> dict[str, Any]:
    """Design the family, write and draw what is asked for, and return the facts."""
    from discreet import files
    from discreet.design.questions.family import design_family
    from discreet.files.sizes import read_sizes

    found = design_family(problem, read_sizes(sizes), watch, **settings)
    result = facts(found)
    if output is not None:
        result["family"] = output
        result["hash"] = files.write_family(output, found.family)
    if figure is not None:
        from discreet.present import family_figure

        drawn = family_figure(found)
        result |= {"figure": drawn.write(figure), "alt": drawn.alt}
    return result


def facts(found: FamilyDesign) -> dict[str, Any]:
    """The family as one mapping."""
    members = []
    for member, how in zip(found.family.members, found.made, strict=True):
        members.append({
            "from": member.low, "to": member.high, "losses": {n: -float(v) for n, v in member.values},
            "relative_gap": how.relative_gap, "seconds": how.seconds, "status": how.status, "cached": how.cached,
            "padded": member.padded,
        })
    return {
        "sizes": found.family.words,
        "members": members,
        "missing": [list(r) for r in found.missing],
        "loss_per_cell": found.loss_per_cell,
        "within_1e-6": found.share_within(1e-6),
        "seconds": found.seconds,
    }


def tell(result: dict[str, Any], console: Console) -> None:
    """One row for each member, then the whole."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("size", "expected loss", "gap", "time", "from"):
        table.add_column(title, justify="right", overflow="fold")
    members = result["members"]
    for m in members[:MOST_ROWS]:
        losses = list(m["losses"].values())
        size = str(m["from"]) if not m["padded"] else f"{m['from']}-{m['to']} (padded)"
        loss = f"{losses[0]:.6g}" if len(losses) == 1 else f"{min(losses):.4g} to {max(losses):.4g}"
        table.add_row(
            size, loss, f"{m['relative_gap']:.1e}", f"{m['seconds']:.1f} s", "kept" if m["cached"] else m["status"]
        )
    console.print(table)
    if len(members) > MOST_ROWS:
        console.print(f"… and {len(members) - MOST_ROWS} more.")
    console.print(
        f"{len(members)} mechanisms for sizes {result['sizes']}: {result['within_1e-6']:.0%} proved within 1e-6 of the best "
        f"possible; {result['loss_per_cell']:.6g} expected loss per cell; {result['seconds']:.1f} s."
    )
    if result["missing"]:
        console.print(
            f"[yellow]Mind:[/yellow] it was stopped before sizes {_ranges(result['missing'])}; run again to go on from here."
        )
    if "family" in result:
        console.print(f"Written: {result['family']} (hash {result['hash']})", soft_wrap=True)
    if "figure" in result:
        console.print(f"Drawn: {result['figure']}", soft_wrap=True)


def _ranges(missing: list[list[int]]) -> str:
    """Ranges as they are asked for: 1..58 for each size, 21-30 for a bucket."""
    runs: list[list[int]] = []
    words = []
    for low, high in missing:
        if low != high:
            words.append((low, f"{low}-{high}"))
        elif runs and runs[-1][1] == low - 1:
            runs[-1][1] = low
        else:
            runs.append([low, low])
    words += [(a, str(a) if a == b else f"{a}..{b}") for a, b in runs]
    return ", ".join(text for _, text in sorted(words))


def check(path: Path) -> dict[str, Any]:
    """Every member of a family file proved again: privacy, value and bound; Ctrl-C leaves nothing half proved."""
    from discreet.cli.progress import progress

    with progress() as watch:
        return _checked(path, watch)


def _checked(path: Path, watch: Watch) -> dict[str, Any]:
    from discreet import certify, files
    from discreet.certify.optimality import optimality
    from discreet.files.atomic import read_bytes
    from discreet.files.canonical import document_hash, parse_json
    from discreet.model.certificate import Certificate, Counterexample

    family = files.read_family(path)
    # of the file as it is: another library may pack the same multipliers into other bytes
    stated = document_hash(parse_json(read_bytes(path, "the family file"), "the family file"))
    members: list[dict[str, Any]] = []
    for number, member in enumerate(family.members):
        watch.report(stage=f"proving member {number + 1} of {len(family.members)}")
        if watch.cancelled():
            raise KeyboardInterrupt
        proof = certify.privacy(member.mechanism)
        claim = member.certificate.optimality
        found = proof if not isinstance(proof, Certificate) or claim is None else optimality(member.mechanism, claim)
        facts: dict[str, Any] = {"from": member.low, "to": member.high, "proved": not isinstance(found, Counterexample)}
        if isinstance(found, Counterexample):
            facts["counterexample"] = found
        else:
            facts |= {"hash": member.certificate.mechanism, "relative_gap": member.relative_gap}
        members.append(facts)
    return {
        "family": path, "hash": stated, "sizes": family.words, "members": members,
        "guarantee": str(family.members[0].mechanism.guarantee), "proved": all(m["proved"] for m in members),
    }


def tell_check(result: dict[str, Any], console: Console) -> None:
    """The outcome for a person."""
    wrong = [m for m in result["members"] if not m["proved"]]
    for m in wrong:
        console.print(f"[bold red]Refuted:[/bold red] sizes {m['from']} to {m['to']}: {m['counterexample'].words}.")
    if not wrong:
        gaps = [m["relative_gap"] for m in result["members"] if m["relative_gap"] is not None]
        console.print(
            f"[bold green]Proved:[/bold green] {len(result['members'])} mechanisms for sizes {result['sizes']}, each "
            f"{result['guarantee']}."
        )
        if gaps:
            console.print(f"  gap      at most {max(gaps):.1e} for every member with a witness")
    console.print(f"  hash     {result['hash']}", soft_wrap=True)
