"""One workbench for all tests of pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from serving import Visitor, running


@pytest.fixture(scope="session")
def visitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    """A running workbench."""
    with running(tmp_path_factory.mktemp("bench")) as found:
        yield found


@pytest.fixture(scope="session")
def design(visitor: Visitor) -> str:
    """The name of a small design that has ended."""
    return visitor.designed()
