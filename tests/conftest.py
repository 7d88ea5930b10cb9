"""What all tests share: slow tests go last, Ctrl-C is heard, time and free memory decide nothing, and a missing program is either
skipped in words or a failure.

Time is counted work in whatever a test asks of a search in its own process, and examples of a property are the same ones each time
and have as long as they need: the outcome does not depend on the machine or its load.

A test marked with what it needs, such as `needs_chromium` or `needs_postgres`, is skipped with the command that installs the
program when it is missing; with CI=true it fails instead, so that nothing goes untested unnoticed.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from discreet.design import memory
from discreet.design.schedule import counted
from scripts import tool

settings.register_profile("steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

ROOT = Path(__file__).resolve().parent.parent


TOOLS = tool("system").TOOLS


def in_ci() -> bool:
    """Whether a missing program must fail the run."""
    return os.environ.get("CI", "").lower() in {"true", "1", "yes"}


def pytest_configure() -> None:
    """A shell's background job ignores Ctrl-C, and so would every process that a test starts and interrupts."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    memory._told = _told_of_a_machine_like_any_other


def _told_of_a_machine_like_any_other(path: str, told: Callable[[str], str] = memory._told) -> str:
    """What others leave free decides what a design tries: eight gigabytes, wherever tests run."""
    if path.startswith("/sys/fs/cgroup/"):
        raise FileNotFoundError(path)
    return f"MemAvailable: {8 << 20} kB\n" if path == "/proc/meminfo" else told(path)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests last, otherwise in the order of the files."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look for the programs a test needs before it starts."""
    for name, needed in TOOLS.items():
        if item.get_closest_marker(f"needs_{name}") is None or needed.found() is not None:
            continue
        if in_ci():
            pytest.fail(needed.remedy(), pytrace=False)
        pytest.skip(needed.remedy())


@pytest.fixture(autouse=True)
def digits_that_python_reads() -> Iterator[None]:
    """The standalone verifier reads whole numbers of any length, which must not outlast a test that calls it."""
    limit = sys.get_int_max_str_digits()
    yield
    sys.set_int_max_str_digits(limit)


@pytest.fixture(scope="session", autouse=True)
def _time_is_counted_work_in_all_that_tests_share() -> Iterator[None]:
    with counted():
        yield


@pytest.fixture(scope="module", autouse=True)
def _time_is_counted_work() -> Iterator[None]:
    with counted():
        yield


@pytest.fixture
def root() -> Path:
    """The repository's folder."""
    return ROOT


@pytest.fixture(scope="session")
def postgres_cluster() -> Iterator[str]:
    """The folder of a private PostgreSQL cluster's socket; user `tester`, database `postgres`, no network."""
    pytest.importorskip("psycopg", reason="discreet[postgres] is not installed")
    with tool("cluster").cluster() as folder:
        yield folder


@pytest.fixture(params=[
    "reference", "duckdb", pytest.param("spark", marks=[pytest.mark.slow, pytest.mark.needs_java]),
])  # fmt: skip
def engine(request: pytest.FixtureRequest) -> Any:
    """Each engine in turn."""
    from discreet.engines import DuckEngine, ReferenceEngine, SparkEngine

    if request.param == "spark":
        pytest.importorskip("pyspark", reason="discreet[spark] is not installed")
        return SparkEngine(request.getfixturevalue("spark_session"))
    return {"reference": ReferenceEngine(), "duckdb": DuckEngine(threads=1)}[request.param]


@pytest.fixture(scope="session")
def spark_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The session that discreet starts, on one core; the first `python3` on its path is none that could run a worker."""
    pytest.importorskip("pyspark", reason="discreet[spark] is not installed")
    from discreet.engines.spark import started_session

    decoy = tmp_path_factory.mktemp("decoy") / "python3"
    decoy.symlink_to("/bin/false")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYSPARK_PYTHON", raising=False)
        patch.setenv("PATH", str(decoy.parent), prepend=os.pathsep)
        session = started_session(**{
            "spark.master": "local[1]", "spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g",
            "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        })  # fmt: skip
    yield session
    session.stop()
