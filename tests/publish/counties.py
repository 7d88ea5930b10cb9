"""A town whose streets lie in two counties: a release by street and one by county, committed as one batch."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from towns import PLAN, make_ledger, town_mechanism

from discreet import files
from discreet.ledger import Signer
from discreet.publish import commit_batch, gather, publish
from discreet.publish.levels import level_plans

STREETS = (("west", "s0"), ("west", "s1"), ("east", "s2"))
ANSWERS = ((0, 1, 1, 0), (1, 1, 1, 1), (0, 0, 0, 0))


def plan_counties(folder: Path) -> list[Path]:
    """Everything but the commitment: the plan by street and the plan by county that follows from it."""
    folder.mkdir(parents=True)
    lines = [f"{county},{street},{a}" for (county, street), people in zip(STREETS, ANSWERS, strict=True) for a in people]
    (folder / "people.csv").write_text("\n".join(["county,street,answer", *lines, ""]), encoding="utf-8")
    cells = [f"{county},{street},4" for county, street in STREETS]
    (folder / "streets.csv").write_text("\n".join(["county,street,size", *cells, ""]), encoding="utf-8")
    files.write_mechanism(folder / "yes.mechanism.json", town_mechanism(4))
    for size in (4, 8):
        files.write_mechanism(folder / f"yes{size}.mechanism.json", town_mechanism(size))
    west = folder / "all.mechanism.json"
    files.write_mechanism(west, town_mechanism(12))
    text = PLAN.format(protects="values").replace('keys = ["street"]', 'keys = ["county", "street"]')
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return [folder / "plan.toml"]


def county_family(folder: Path) -> Path:
    """A family for counties of 4 and of 8 people."""
    from discreet.design.questions.family import design_family
    from discreet.files import write_family

    found = design_family(town_mechanism(4).problem, [4, 8], workers=1)
    write_family(folder / "county.family.json", found.family)
    return folder / "county.family.json"


def released_levels(folder: Path) -> list[Path]:
    """The releases by street and by county."""
    plans = plan_counties(folder)
    plans += level_plans(plans[0], [(["county"], str(county_family(folder)))], folder / "above")
    bundles = [gather(plan) for plan in plans]
    Signer.create(folder / "key.pem")
    with make_ledger(folder, "pure", Fraction(5), Fraction(0), signed=False) as book:
        commit_batch(bundles, book, None, name="levels")
        return [publish(bundle, folder / name, book) for bundle, name in zip(bundles, ("by-street", "by-county"), strict=True)]
