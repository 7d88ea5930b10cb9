"""What tests of designs share: time is counted work, so that what a search finds does not depend on the machine or its load."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from discreet.design.schedule import counted


@pytest.fixture(scope="module", autouse=True)
def _time_is_counted_work() -> Iterator[None]:
    with counted():
        yield
