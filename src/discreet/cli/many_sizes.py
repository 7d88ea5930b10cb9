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
