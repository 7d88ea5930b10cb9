"""Hands out a statistics office in each of its states."""

import shutil
from pathlib import Path

import pytest
from office import plan_an_office, publish_levels, succeed


@pytest.fixture(scope="session")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An office with problems, mechanisms, a plan, data, a ledger and a key. Copy before writing into it."""
    folder = tmp_path_factory.mktemp("office") / "planned"
    plan_an_office(folder)
    return folder


@pytest.fixture(scope="session")
def committed(planned: Path) -> Path:
    """The office after `discreet commit`. Copy before writing into it."""
    folder = planned.with_name("committed")
    shutil.copytree(planned, folder)
    succeed(folder, "commit", "plan.toml", "--key", "publisher.pem")
    return folder


@pytest.fixture(scope="session")
def released(committed: Path) -> Path:
    """The office after `discreet publish`, with the folder release-2026. Copy before writing into it."""
    folder = committed.with_name("released")
    shutil.copytree(committed, folder)
    succeed(folder, "publish", "plan.toml", "-o", "release-2026", "--key", "publisher.pem")
    publish_levels(folder)
    return folder
