"""NumPy's BLAS is held to one thread while solving, and given back what it had."""

from __future__ import annotations

import numpy  # noqa: F401  loads the library that is asked about
from threadpoolctl import threadpool_info, threadpool_limits

from discreet.design.solver.threads import one_thread


def threads() -> list[int]:
    blas = [library for library in threadpool_info() if library["user_api"] == "blas" and "numpy" in library["filepath"]]
    return [library["num_threads"] for library in blas]


def test_one_thread_within_and_as_many_as_before_after() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        assert before
        with one_thread():
            assert set(threads()) == {1}
            with one_thread():
                assert set(threads()) == {1}
            assert set(threads()) == {1}
        assert threads() == before


def test_an_error_gives_the_threads_back_too() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        try:
            with one_thread():
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
        assert threads() == before
