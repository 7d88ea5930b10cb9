"""The generated school-planning table: the same on every machine, and counted alike by every engine."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.engines import DuckEngine, ReferenceEngine, SparkEngine, histograms
from discreet.files.plan import located, read_key_set, read_plan
from discreet.gallery.schools import schools, write_schools


def test_the_table_is_the_documented_one() -> None:
    table = schools()
    assert len(table.household) == 2_000_000 and len(table.cells) == 20_000
    assert sorted(table.household[:5].tolist()) != table.household[:5].tolist()
    assert table.sizes.min() >= 60 and table.sizes.max() <= 140 and table.sizes.sum() == 2_000_000
    shares = np.bincount(table.children) / 2_000_000
    # Standard error at most 2.3e-4; six of them.
    assert np.abs(shares - [0.89, 0.09, 0.02]).max() < 1.4e-3
    digest = hashlib.sha256(table.children.astype(np.int8).tobytes() + table.sizes.tobytes()).hexdigest()
    assert digest == "dd08d2d13475a972d83e2d04c7f9a78d83f9eccfd4159c0338aa1912429edf93"


def test_a_part_of_the_table_is_its_first_blocks() -> None:
    part, whole = schools(10), schools(400)
    assert part.cells == whole.cells[:10] and (part.sizes == whole.sizes[:10]).all()
    assert len(part.household) == 1000 == len(set(part.household.tolist()))


def test_two_engines_count_the_small_table_alike(tmp_path: Path) -> None:
    path = write_schools(tmp_path, blocks=60)
    plan = located(read_plan(path), tmp_path)
    key_set = read_key_set(plan.key_set, plan)
    counted = [histograms(plan, key_set, key=b"k", engine=engine) for engine in (DuckEngine(), ReferenceEngine())]
    assert (counted[0] == counted[1]).all()
    table = schools(60)
    names = {cell: i for i, cell in enumerate(table.cells)}
    truth = np.zeros((60, 3), dtype=int)
    for county, block, children in zip(table.county, table.block.tolist(), table.children.tolist(), strict=True):
        truth[names[county, str(block)], children] += 1
    assert (counted[0] == truth).all()


@pytest.mark.slow
@pytest.mark.needs_java
def test_three_engines_count_households_alike(tmp_path: Path, spark_session: Any) -> None:
    plan = located(read_plan(write_schools(tmp_path, blocks=1500)), tmp_path)
    key_set = read_key_set(plan.key_set, plan)
    engines = (DuckEngine(), ReferenceEngine(), SparkEngine(spark_session))
    duck, reference, spark = (histograms(plan, key_set, key=b"k", engine=engine) for engine in engines)
    assert (duck == reference).all() and (duck == spark).all() and duck.sum() == 150_000
