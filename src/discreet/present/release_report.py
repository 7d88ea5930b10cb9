"""The report about a release folder: what was published, whether it verifies, and the report of its mechanism."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any

from discreet.design.comparison.plain_noise import plain_noise
from discreet.files.atomic import read_bytes
from discreet.files.canonical import parse_object
from discreet.files.certificate import certificate_from_document
from discreet.files.strata import Served
from discreet.model.family import Family, Member
from discreet.model.mechanism import Mechanism
from discreet.model.promises import LETTERS
from discreet.numerics.digits import about, at_least, at_most, between
from discreet.present.figures.release import release_figure, release_rows
from discreet.present.report import Chapter, mechanism_report, picture, scrolled, table
from discreet.publish.bundle import mechanism_for, named
from discreet.publish.folder import bundle_in
from discreet.publish.verification import verified
from discreet.views.words import plural

SHOWN_CELLS = 60


def _shown_cells(folder: Path) -> str:
    """The release itself: its picture, and the first cells as a table."""
    keys, rows = release_rows(folder)
    drawn = picture(release_figure(folder)) if rows else ""
    heads = [", ".join(keys), "size", "published", "mean", "interval"]
    shown = [
        (r["cell"], f"{r['size']:,}", str(r["published"]), "" if r["mean"] is None else about(r["mean"]), _interval(r))
        for r in rows[:SHOWN_CELLS]
    ]
    listed = f"<p>The first {SHOWN_CELLS} of {len(rows):,} cells; all of them are in release.csv.</p>"
    return drawn + table(heads, shown) + (listed if len(rows) > SHOWN_CELLS else "")


def _interval(row: Mapping[str, Any]) -> str:
    return "" if row["low"] is None or row["high"] is None else f"{at_least(row['low'])} to {at_most(row['high'])}"


def _by_size(members: Mapping[Served, Member | Mechanism], sizes: Sequence[Served], cells: Sequence[Served]) -> str:
    """What is expected of each size of cell: every size speaks for itself."""
    counts = Counter(cells)
    rows = []
    for size in sizes:
        loss = _expected(members[size], size)
        name = f"{size:,}" if isinstance(size, int) else escape(named(size))
        rows.append((name, f"{counts[size]:,}", "" if loss is None else at_most(loss, 4)))
    return table(["size", "cells", "expected loss under the prior, at most"], rows)


def typical_mechanism(folder: str | Path) -> Mechanism:
    """The mechanism of a release's middle cell by size."""
    bundle = bundle_in(Path(folder))
    return bundle.used[_middle(bundle.served)]


def _middle(served: Sequence[Served]) -> Served:
    """What serves the middle cell by size: half of the cells are no larger."""
    return sorted(served, key=lambda kind: (kind if isinstance(kind, int) else int(kind[-1]), named(kind)))[len(served) // 2]


def _lead(members: Mapping[Served, Member | Mechanism], served: Sequence[Served], what: str = "cells") -> str | None:
    """What is expected over all cells of all sizes, beside plain noise; None where some member states nothing."""
    losses = {kind: _expected(members[kind], kind) for kind in set(served)}
    known = [loss for kind in served if (loss := losses[kind]) is not None]
    if len(known) < len(served):
        return None
    average = sum(known, Fraction(0)) / len(known)
    words = (
        f"Over all {len(served):,} {what} the expected loss is at most {at_most(average, 4)} per cell under the prior, on average"
    )
    noise = [plain_noise(mechanism_for(members[kind]).problem) for kind in set(served)]
    beside = [loss for loss in noise if loss is not None]
    if len(beside) == len(noise):
        words += f"; plain geometric noise taken at face value loses {between(min(beside), max(beside), 4)}"
    return words + "."


def _expected(served: Member | Mechanism, kind: Served) -> Fraction | None:
    """The proved expected loss in cells of this size."""
    value = served.value_at(kind if isinstance(kind, int) else int(kind[-1])) if isinstance(served, Member) else served.claims.value
    return None if value is None else -value


def release_report(folder: str | Path, frontier: str | None = None, extra: Sequence[Chapter] = ()) -> str:
    """The page about a release, written from the folder alone.

    `extra` sections stand before the verification; `frontier` is a picture already drawn (SVG text).
    """
    where = Path(folder)

    def document(name: str) -> dict[str, Any]:
        return parse_object(read_bytes(where / name, name), name)

    facts = document("facts.json" if (where / "facts.json").exists() else "metadata.json")
    bundle = bundle_in(where)
    plan, key_set = bundle.plan, bundle.cells
    sizes = sorted(set(key_set.sizes))
    typical = _middle(bundle.served)
    certificates = document("certificates.json")
    certificate = certificate_from_document(certificates[named(typical)])
    loss = facts["privacy_loss"]
    of_sizes = f"{sizes[0]:,} to {sizes[-1]:,}" if len(sizes) > 1 else f"{sizes[0]:,}"
    published = (
        f"<p>{len(key_set):,} cells of {of_sizes} {escape(plural(plan.unit.name))}, "
        f"from {escape(plan.dataset)}. Total cost: {_cost(loss)}. Protected: "
        f"{escape(str(plan.exposure).partition(': ')[2])}.</p>"
    )
    published += _shown_cells(where)
    if len(bundle.used) > 1:
        published += _by_size(bundle.members, sorted(bundle.used), bundle.served)
        published += (
            f"<p>The sections below show the mechanism for cells of {escape(named(typical))}, the middle size of the cells.</p>"
        )
    verdict = verified(where)
    words = {True: "holds", False: "FAILS", None: "not shown here"}
    checks = table(["class", "what", "outcome"], [(c.kind, c.words, words[c.holds]) for c in verdict.checks], numeric=False)
    more = [*extra, Chapter("Verification", checks)]
    if frontier is not None:
        more.insert(0, Chapter("What accuracy costs", f"<figure>{scrolled(frontier)}</figure>"))
    return mechanism_report(
        bundle.used[typical],
        certificate,
        first=[Chapter("What was published", published)],
        extra=more,
        title=str(facts["dataset"]),
        lead=_lead(bundle.members, bundle.served) if len(bundle.used) > 1 else None,
    )


def family_report(family: Family, extra: Sequence[Chapter] = ()) -> str:
    """The page about a family of mechanisms: every size, then the middle one as a mechanism of its own."""
    members: dict[Served, Member | Mechanism] = {m.high: m for m in family.members}
    served: list[Served] = sorted(members, key=lambda kind: int(kind) if isinstance(kind, int) else 0)
    middle = members[_middle(served)]
    assert isinstance(middle, Member)
    about_all = (
        f"<p>{len(served)} mechanisms for cells of sizes {escape(family.words)}.</p>{_by_size(members, served, served)}"
        f"<p>The sections below show the mechanism for cells of {middle.high:,}, the middle size.</p>"
    )
    return mechanism_report(
        middle.mechanism,
        middle.certificate,
        first=[Chapter("Every size", about_all)],
        extra=extra,
        title=f"{middle.mechanism.problem.name or 'A private statistic'}, for cells of many sizes",
        lead=_lead(members, served, "sizes"),
    )


def middle_member(family: Family) -> Mechanism:
    """The mechanism of a family's middle size."""
    return sorted(family.members, key=lambda m: m.high)[len(family.members) // 2].mechanism


def _cost(loss: Mapping[str, Any]) -> str:
    """What a release costs, by letter; ρ beside a proved ε is left to the facts."""
    keys = [key for key in LETTERS if key in loss and loss[key] != "0" and (key != "rho" or "epsilon" not in loss)]
    return ", ".join(f"{LETTERS[key]} = {escape(str(loss[key]))}" for key in keys)
