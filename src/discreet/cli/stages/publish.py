"""From households to a release: a family of mechanisms over the block sizes, committed, published with DuckDB and verified."""

from __future__ import annotations

import csv
import shutil
from fractions import Fraction
from pathlib import Path

from discreet.views.view import Sentence, View, told

TITLE = "Commit, publish and verify"
BUDGET = 4


def run(folder: Path) -> View:
    """Write places.family.json, ledger.db, publisher.pem and release/; an earlier run's ledger and release are replaced."""
    from discreet import files
    from discreet.cli.progress import progress
    from discreet.design.questions.family import design_family
    from discreet.files.family import write_family
    from discreet.ledger import Signer, open_ledger
    from discreet.numerics.digits import given
    from discreet.publish import commit, gather, publish, verify

    _start_afresh(folder)
    with (folder / "blocks.csv").open(encoding="utf-8", newline="") as file:
        sizes = [int(row["size"]) for row in csv.DictReader(file)]
    problem = files.read_problem(folder / "places.toml")
    with progress(problem) as watch:
        made = design_family(problem, sizes, watch, gap=1e-4, folder=folder / "cache")
        write_family(folder / "places.family.json", made.family)
        bundle = gather(folder / "plan.toml")
        signer = Signer.create(folder / "publisher.pem")
        with open_ledger(str(folder / "ledger.db"), create=True) as ledger:
            ledger.init("pure", signer)
            ledger.declare(bundle.plan.population, bundle.plan.unit.name, Fraction(BUDGET))
            commit(bundle, ledger, signer)
            publish(bundle, folder / "release", ledger, signer=signer, watch=watch)
            left = ledger.remaining(bundle.plan.population, bundle.plan.unit.name)
    verdict = verify(folder / "release", signer.fingerprint)
    realised = _realised(folder)
    facts = {
        "members": len(made.family.members),
        "cells": len(bundle.key_set),
        "promise": str(bundle.plan.exposure),
        "epsilon": bundle.cost.pure,
        "remaining": left,
        "holds": verdict.holds,
        "checks": len(verdict.checks),
        "fingerprint": signer.fingerprint,
        "realised": realised,
    }
    words = "nothing that can be checked is wrong" if verdict.holds else "this release fails"
    return told(
        facts,
        Sentence(
            f"{facts['cells']} blocks published with {facts['members']} certified mechanisms, one for each block size. Protected: "
            f"{str(bundle.plan.exposure).partition(': ')[2]}. Cost ε = {given(bundle.cost.pure)}; {given(left)} of {BUDGET} left."
        ),
        Sentence(f"Verified from the folder alone ({facts['checks']} checks, key {signer.fingerprint[:16]}…): {words}."),
        Sentence(f"Average squared error of the published numbers in this draw: {realised:.2f} (only a demo may look)."),
    )


def _start_afresh(folder: Path) -> None:
    """The demo owns these names in its folder, so that running it twice is safe."""
    for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm", "publisher.pem"):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / "release", ignore_errors=True)


def _realised(folder: Path) -> float:
    """The average squared error of the published numbers against the truth, which only a demo may look at."""
    from discreet.cli.stages.households import AVERAGE, BLOCKS, SPREAD
    from discreet.gallery.schools import schools

    table = schools(BLOCKS, AVERAGE, SPREAD)
    truth: dict[tuple[str, str], int] = {}
    for county, block, children in zip(table.county, table.block.tolist(), table.children.tolist(), strict=True):
        truth[county, str(block)] = truth.get((county, str(block)), 0) + children
    with (folder / "release" / "release.csv").open(encoding="utf-8", newline="") as file:
        errors = [(float(row["published"]) - truth.get((row["county"], row["block"]), 0)) ** 2 for row in csv.DictReader(file)]
    return sum(errors) / len(errors)
