"""Draws from table kernels: exhausted over all bit strings, then tested statistically on wide denominators."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import FALSE_ALARM, p_value, random_kernel

from discreet.errors import InputError
from discreet.model.kernel import Output, TableKernel
from discreet.sampling import LazyTableSampler, TableSampler
from discreet.sampling.testing import Scripted, Seeded


@pytest.mark.parametrize(("bits", "outputs", "seed"), [(0, 3, 0), (1, 2, 1), (5, 4, 2), (8, 9, 3), (10, 5, 4)])
def test_over_all_bit_strings_each_output_occurs_exactly_its_weight(bits: int, outputs: int, seed: int) -> None:
    kernel = random_kernel(bits, outputs, 6, seed)
    sampler = TableSampler(kernel)
    assert sampler.bits == bits
    for state in range(6):
        # The spare low bits of the word are all ones: they must decide nothing.
        script = [(u << 64 - bits) | ((1 << 64 - bits) - 1) for u in range(2**bits)] if bits else []
        drawn = sampler.decode(np.full(2**bits, state), Scripted(script))
        assert np.bincount(drawn, minlength=outputs).tolist() == [row[state] for row in kernel.weights]


@pytest.mark.parametrize("guide", [0, 1, 3, 5])
def test_lazy_draws_over_all_bit_strings_occur_exactly_their_weight(guide: int) -> None:
    bits, outputs = 7, 6
    kernel = random_kernel(bits, outputs, 4, seed=9)
    sampler = LazyTableSampler(kernel)
    sampler.guide_bits = guide
    sampler._guide = sampler._make_guide(list(itertools.accumulate(
        map(list, kernel.weights), lambda a, b: [x + y for x, y in zip(a, b, strict=True)]
    )))  # fmt: skip
    for state in range(4):
        counts = [0] * outputs
        for u in range(2**bits):
            prefix, rest = u >> bits - guide, u & (1 << bits - guide) - 1
            first = np.array([prefix << 16 - guide, 0, 0, 0], dtype=np.uint16).view(np.uint64)[0]
            source = Scripted([int(first), rest << 64 - (bits - guide)])
            counts[int(sampler.decode(np.array([state]), source)[0])] += 1
        assert counts == [row[state] for row in kernel.weights]


@pytest.mark.parametrize("bits", [63, 64, 65, 128, 150, 257])
def test_limbs_compare_as_the_integers_they_spell(bits: int) -> None:
    """At, just below and just above every cumulative weight, for widths around the limb boundaries."""
    kernel = random_kernel(bits, 7, 3, seed=bits)
    sampler, limbs = TableSampler(kernel), -(-bits // 64)
    for state in range(3):
        ends = list(itertools.accumulate(row[state] for row in kernel.weights))
        for end, nudge in itertools.product([0, *ends], (-1, 0, 1)):
            u = end + nudge
            if not 0 <= u < kernel.denominator:
                continue
            wide = u << 64 * limbs - bits
            words = [wide >> 64 * i & 2**64 - 1 for i in reversed(range(limbs))]
            expected = sum(c <= u for c in ends)
            assert sampler.decode(np.array([state]), Scripted(words)).tolist() == [expected]


@settings(max_examples=40)
@given(st.integers(0, 200), st.integers(1, 12), st.integers(1, 9), st.integers(0, 10**6))
def test_fixed_work_reads_as_many_words_for_every_state(bits: int, outputs: int, states: int, seed: int) -> None:
    sampler = TableSampler(random_kernel(bits, outputs, states, seed))
    reads = set()
    for state in range(states):
        source = Seeded(seed)
        drawn = sampler.decode(np.full(5, state), source)
        assert drawn.min() >= 0 and drawn.max() < outputs
        reads.add(source.read)
    assert reads == {5 * -(-bits // 64)}


@pytest.mark.parametrize("kind", [TableSampler, LazyTableSampler])
def test_draws_follow_the_weights_and_not_weights_moved_by_a_little(kind: type) -> None:
    """False-alarm probability 3e-7 (three states at 1e-7 each); the near-miss moves 1% of one output's mass."""
    kernel = random_kernel(150, 8, 3, seed=5)
    for state in range(3):
        drawn = kind(kernel).draw(np.full(400_000, state))
        law = [kernel.probability(k, state) for k in range(8)]
        assert p_value(drawn, law) > FALSE_ALARM
        moved = [float(p) for p in law]
        largest, other = int(np.argsort(moved)[-1]), int(np.argsort(moved)[-2])
        moved[largest] -= 0.01
        moved[other] += 0.01
        assert p_value(drawn, moved) < FALSE_ALARM


def test_mixed_states_are_drawn_each_from_its_own_column() -> None:
    """Deterministic columns: output = state, whatever the bits."""
    size = 300
    weights = tuple(tuple(2**70 if k == s else 0 for s in range(size)) for k in range(size))
    kernel = TableKernel(tuple(map(str, range(size))), tuple(Output(str(k)) for k in range(size)), weights, 2**70)
    states = np.random.default_rng(0).integers(0, size, 5000)
    for kind in (TableSampler, LazyTableSampler):
        assert (kind(kernel).draw(states) == states).all()


@pytest.mark.parametrize("states", [np.array([3]), np.array([-1]), np.array([0.5]), np.array([[0]])])
def test_states_outside_the_kernel_are_refused_without_repeating_them(states: np.ndarray) -> None:
    for kind in (TableSampler, LazyTableSampler):
        with pytest.raises(InputError) as refused:
            kind(random_kernel(8, 2, 3, 0)).draw(states)
        assert "-1" not in str(refused.value) and "0.5" not in str(refused.value)


def test_no_states_give_no_outputs() -> None:
    for kind in (TableSampler, LazyTableSampler):
        assert len(kind(random_kernel(8, 2, 3, 0)).draw(np.zeros(0, dtype=int))) == 0
