"""School planning published end to end, on DuckDB and on Spark, with a family over the sizes of the blocks.

The realised loss is an average over blocks of independent errors: it lies within six standard errors of the design's expected
loss, except with probability below 1e-8. On the same data it is below the loss of the geometric mechanism with its best replies.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet import files
from discreet.design.questions.family import FamilyDesign, design_family
from discreet.engines import engine_named
from discreet.files.family import write_family
from discreet.gallery.schools import Schools, schools, write_schools
from discreet.interpret.reading import readings
from discreet.ledger import Signer, open_ledger
from discreet.mechanisms.geometric import geometric_mechanism
from discreet.model.sizes import resized
from discreet.model.summary import LinearSummary
from discreet.publish import commit, gather, publish, verify

BLOCKS, AVERAGE, SPREAD = 2000, 40, 2


@dataclass(frozen=True)
class County:
    folder: Path
    table: Schools
    made: FamilyDesign

    @property
    def truth(self) -> np.ndarray:
        """Children in each block, in the order of the key set: what nobody but a test may look at."""
        counties = np.array([int(name.split()[1]) - 1 for name in self.table.county])
        return np.bincount(counties * 200 + self.table.block, weights=self.table.children, minlength=BLOCKS)


@pytest.fixture(scope="module")
def county(tmp_path_factory: pytest.TempPathFactory) -> County:
    folder = tmp_path_factory.mktemp("schools")
    write_schools(folder, BLOCKS, AVERAGE, SPREAD)
    table = schools(BLOCKS, AVERAGE, SPREAD)
    problem = files.read_problem(folder / "places.toml")
    made = design_family(problem, table.sizes.tolist(), gap=0.1, folder=folder / "cache", workers=1)
    write_family(folder / "places.family.json", made.family)
    with open_ledger(str(folder / "ledger.db"), create=True) as ledger:
        ledger.init("pure", Signer.create(folder / "key.pem"))
        ledger.declare("households", "household", Fraction(4))
        commit(gather(folder / "plan.toml"), ledger, Signer.read(folder / "key.pem"))
    return County(folder, table, made)


def released(county: County, engine: str) -> Path:
    signer = Signer.read(county.folder / "key.pem")
    with open_ledger(str(county.folder / "ledger.db")) as ledger:
        return publish(
            gather(county.folder / "plan.toml"), county.folder / engine, ledger, signer=signer, engine=engine_named(engine)
        )


def check(county: County, folder: Path) -> None:
    assert verify(folder, Signer.read(county.folder / "key.pem").fingerprint).holds
    alone = subprocess.run(
        [sys.executable, "-I", "-S", "verify_standalone.py", "mechanism.json"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert alone.returncode == 0 and alone.stdout.count("PROVED") == 2 * SPREAD + 1, alone.stdout
    with (folder / "release.csv").open(encoding="utf-8", newline="") as file:
        actions = np.array([float(row["published"]) for row in csv.DictReader(file)])
    errors = (actions - county.truth) ** 2
    realised, spread = errors.mean(), errors.std() / np.sqrt(BLOCKS)
    assert abs(realised - county.made.loss_per_cell) < 6 * spread
    assert realised < geometric_loss(county)


def geometric_loss(county: County) -> float:
    """The expected squared error, given these households, of geometric noise on the number of children with Bayes replies."""
    problem = files.read_problem(county.folder / "places.toml")
    risks = np.empty(BLOCKS)
    for size in sorted(set(county.table.sizes.tolist())):
        mechanism = geometric_mechanism(resized(problem, size), LinearSummary((0, 1, 2)))
        replies = readings(mechanism).mean
        at = np.flatnonzero(county.table.sizes == size)
        omega = county.truth[at].astype(int)
        law = mechanism.probabilities[:, omega]
        risks[at] = (law * (replies[:, None] - omega) ** 2).sum(axis=0)
    return float(risks.mean())


@pytest.mark.slow
def test_on_duckdb(county: County) -> None:
    folder = released(county, "duckdb")
    check(county, folder)
    stated = json.loads((folder / "facts.json").read_text())
    assert stated["privacy_loss"]["protects"].startswith("presence") and stated["cells"] == BLOCKS


@pytest.mark.slow
@pytest.mark.needs_java
def test_on_spark(county: County) -> None:
    pytest.importorskip("pyspark", reason="discreet[spark] is not installed")
    check(county, released(county, "spark"))
