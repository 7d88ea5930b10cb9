"""No stream is used twice: forks, tasks, retries, threads, copies; and no seed reaches a release."""

from __future__ import annotations

import ast
import copy
import inspect
import multiprocessing
import os
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from laws import random_kernel

import discreet
from discreet.sampling import (
    ClosedSampler,
    DiscreteGaussianSampler,
    LazyTableSampler,
    OperatingSystem,
    Stream,
    TableSampler,
    draw_cells,
    draw_outputs,
    randomness,
    sampler_of,
)  # fmt: skip

SOURCE = Path(discreet.__file__).parent


def distinct(words: list[bytes]) -> bool:
    """Whether no 8-byte word occurs twice; by chance with probability below 1e-9 for fewer than 10^5 words."""
    every = [block[i : i + 8] for block in words for i in range(0, len(block), 8)]
    return len(every) == len(set(every))


def test_a_stream_never_repeats_and_two_streams_share_nothing() -> None:
    one, two = Stream(), Stream()
    assert distinct([source.words(500).tobytes() for source in (one, two, OperatingSystem()) for _ in range(10)])


def test_after_a_fork_parent_and_children_read_different_words() -> None:
    stream = Stream()
    found = [stream.words(64).tobytes()]
    for _ in range(3):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writer, stream.words(64).tobytes())
            os._exit(0)
        os.waitpid(child, 0)
        found.append(os.read(reader, 512))
        os.close(reader)
        os.close(writer)
        found.append(stream.words(64).tobytes())
    assert all(len(words) == 512 for words in found) and distinct(found)


def test_a_fork_is_noticed_even_when_the_process_number_is_reused(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream()
    before = stream._cipher
    monkeypatch.setattr(randomness, "_forks", randomness._forks + 1)
    stream.words(1)
    assert stream._cipher is not before


def task(number: int) -> bytes:
    """A task that draws; a retry runs the same call again."""
    kernel = random_kernel(64, 256, 1, seed=1)
    return bytes(TableSampler(kernel).draw(np.zeros(64, dtype=int)).astype(np.uint8))


def test_tasks_and_their_retries_draw_afresh() -> None:
    """Two equal results of 64 draws from a spread-out kernel: probability far below 1e-9."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        results = list(pool.map(task, [7] * 12))
    with ThreadPoolExecutor(4) as threads:
        results += list(threads.map(task, [7] * 12))
    results += [task(7) for _ in range(3)]
    assert len(set(results)) == len(results)


def test_threads_that_share_a_stream_share_no_words() -> None:
    stream = Stream()
    with ThreadPoolExecutor(8) as pool:
        assert distinct(list(pool.map(lambda _: stream.words(200).tobytes(), range(64))))


def test_a_stream_takes_a_new_key_when_it_has_served_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(randomness, "RESEED_BYTES", 1024)
    stream = Stream()
    keys = set()
    found = []
    for _ in range(10):
        found.append(stream.words(100).tobytes())
        keys.add(id(stream._cipher))
    found.append(stream.words(1000).tobytes())
    assert len(keys) > 1 and distinct(found)


@pytest.mark.parametrize("send", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_stream_is_neither_copied_nor_sent(send: object) -> None:
    with pytest.raises(TypeError, match="never copied"):
        send(Stream())  # type: ignore[operator]


def test_words_are_balanced() -> None:
    """Each of 64 bit positions over 10^5 words; six standard deviations, false-alarm probability below 64·2e-9."""
    for source in (Stream(), OperatingSystem()):
        bits = np.unpackbits(source.words(100_000).view(np.uint8).reshape(-1, 8), axis=1).mean(axis=0)
        assert (abs(bits - 0.5) < 6 * 0.5 / 100_000**0.5).all()


def test_nothing_in_the_library_imports_the_generators_for_tests() -> None:
    for path in SOURCE.rglob("*.py"):
        if path == SOURCE / "sampling" / "testing.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            assert not any("sampling.testing" in name or name == ".testing" for name in names), path


def test_what_draws_for_a_release_takes_no_seed_and_no_source() -> None:
    callables = [
        TableSampler.draw, LazyTableSampler.draw, ClosedSampler.draw, DiscreteGaussianSampler.draw,
        draw_cells, draw_outputs, sampler_of, TableSampler, ClosedSampler, Stream, OperatingSystem,
    ]  # fmt: skip
    allowed = {"self", "states", "count", "kernel", "lazy", "mechanism", "mechanisms", "histograms"}
    for called in callables:
        assert set(inspect.signature(called).parameters) <= allowed, called


def test_no_other_random_generator_is_used_where_releases_are_drawn() -> None:
    for path in (SOURCE / "sampling").glob("*.py"):
        if path.name != "testing.py":
            text = path.read_text(encoding="utf-8")
            assert "np.random" not in text and "import random" not in text, path
