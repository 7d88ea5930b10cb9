"""Programs on windows: bounds and kernels hold for the whole program, however narrow a window is."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from discreet.design.schedule import TimeIsUpError, Until, counted
from discreet.design.solver import repair as repairing
from discreet.design.solver import windowed
from discreet.design.solver.banded import Strips
from discreet.design.solver.batches import NOWHERE, BatchFactor
from discreet.design.solver.conjugate import Conjugates
from discreet.design.solver.fewer_first import carry, led_up_to, levels
from discreet.design.solver.interior import beyond, longest
from discreet.design.solver.program import Integers, Program, dual_bound, value_of, violation
from discreet.design.solver.repair import repair, repair_nearby
from discreet.design.solver.solve import solve
from discreet.design.solver.stride import Timing
from discreet.design.solver.windowed import WindowedIterate, solve_windowed
from discreet.design.solver.windows import Sweeps, TwoCounts, Windows, seen_as


def triangle(size: int, epsilon: float = 1.0) -> tuple[Program, TwoCounts, np.ndarray]:
    """Histograms of three types, values 0, 1, 2, a spread prior, and whole numbers to guess the sum."""
    counts = np.array([(b, c) for b in range(size + 1) for c in range(size + 1 - b)])
    at = {tuple(count): h for h, count in enumerate(counts.tolist())}
    steps = ((1, 0), (0, 1), (1, -1))
    edges = np.array([(h, at[b + x, c + y]) for (b, c), h in at.items() for x, y in steps if (b + x, c + y) in at])
    omega = counts @ np.array([1.0, 2.0])
    prior = np.exp(-0.25 * counts[:, 0] - 0.4 * counts[:, 1])
    actions = np.arange(2.0 * size + 1)
    cost = prior / prior.sum() * (actions[:, None] - omega) ** 2
    lattice = TwoCounts.from_counts(counts, omega, edges)
    assert lattice is not None
    return Program(cost, edges, epsilon), lattice, actions


def unhurried(share: float) -> None:
    """No step of these ends before it is done."""


@pytest.fixture(scope="module")
def optimum() -> tuple[float, float]:
    """Value and bound of the whole program for ten respondents."""
    found = solve(triangle(10)[0], 1e-6)
    return found.value, found.bound


def test_wide_windows_find_the_optimum(optimum: tuple[float, float]) -> None:
    program, lattice, actions = triangle(10)
    found = solve_windowed(program, lattice, actions, 12.0, 1e-5)
    assert found.status == "optimal"
    assert found.bound <= optimum[0] * (1 + 1e-12) and found.value >= optimum[1] * (1 - 1e-12)
    assert found.relative_gap < 3e-5


@pytest.mark.parametrize(("radius", "gap"), [(4.0, 0.2), (6.0, 0.02)])
def test_what_narrow_windows_say_holds_for_the_whole_program(radius: float, gap: float, optimum: tuple[float, float]) -> None:
    """Tied at full decay, states beside each other may overstep ε: the kernel is repaired, and the bound never believes it."""
    program, lattice, actions = triangle(10)
    found = solve_windowed(program, lattice, actions, radius, 1e-5)
    assert violation(found.kernel, program.edges, program.factor) <= 0
    assert np.abs(found.kernel.sum(axis=0) - 1).max() < 1e-12
    assert found.value == pytest.approx(value_of(program, found.kernel)) and found.value >= optimum[1]
    assert found.multipliers.min() >= 0
    assert found.bound == dual_bound(program, found.multipliers) <= optimum[0]
    assert found.relative_gap < gap


def test_hanging_is_the_transpose_of_gathering() -> None:
    program, lattice, actions = triangle(9)
    windows = Windows(
        lattice, seen_as(lattice, np.ptp(program.cost, axis=0)[lattice.order], 1.0), actions[:15], 4.0, program.factor
    )
    generator = np.random.default_rng(1)
    x, prices = generator.random(len(windows.state)), generator.random(windows.states)
    assert windows.hang(x) @ prices == pytest.approx(x @ windows.gather(prices), rel=1e-13)
    assert windows.whole(x).sum(axis=0) == pytest.approx(windows.hang(x), rel=1e-13)
    costs = generator.random((15, windows.states))
    assert float(np.sum(windows.whole(x) * costs)) == pytest.approx(float(x @ windows.gather_each(costs)), rel=1e-13)


def test_what_hangs_on_a_variable_is_paid_along_its_tree() -> None:
    """The flows of the trees leave nothing beyond a window, and at its states what gathering says."""
    program, lattice, actions = triangle(9)
    windows = Windows(lattice, lattice.omega, actions[:9], 4.0, program.factor)
    surplus = np.random.default_rng(2).random((9, windows.states))
    left = surplus.copy()
    for parent, flow in windows.tree_flows(surplus, 0.0):
        child = np.flatnonzero(parent >= 0)
        left[:, child] -= program.factor * flow[:, child]
        np.add.at(left, (slice(None), parent[child]), flow[:, child])
    assert left[windows.action, windows.state] == pytest.approx(windows.gather_each(surplus), rel=1e-12)
    left[windows.action, windows.state] = 0.0
    assert np.abs(left).max() < 1e-12


def test_a_batch_of_windows_is_each_window_by_itself() -> None:
    program, lattice, actions = triangle(7)
    windows = Windows(lattice, lattice.omega, actions, 4.0, program.factor)
    generator = np.random.default_rng(3)
    off, sums = generator.random(len(windows.edges)), generator.random(len(windows.state))
    dense = np.diag(sums)
    for (i, j), p in zip(windows.edges.tolist(), off.tolist(), strict=True):
        dense[[i, j], [j, i]] -= p
        dense[[i, j], [i, j]] += p
    right = generator.random(len(windows.state))
    batch = BatchFactor(windows, off, sums, unhurried, np.float64)
    assert batch.solve(right) == pytest.approx(np.linalg.solve(dense, right), rel=1e-9)
    spread = np.zeros((windows.states, len(windows.state)))
    spread[windows.state, np.arange(len(windows.state))] = 1.0
    total = spread @ np.linalg.inv(dense) @ spread.T
    solved = batch.summed_inverse(np.ones(len(windows.state)), np.full(windows.states, windows.states), unhurried, np.float64)
    solved = solved.solve(right[: windows.states])
    assert total @ solved == pytest.approx(right[: windows.states], rel=1e-7)


def test_strips_solve_what_a_full_matrix_does() -> None:
    generator = np.random.default_rng(4)
    size = 250
    ends = np.minimum(np.arange(size) + 60, size)
    strips, full = Strips(ends), np.zeros((size, size))
    for low in range(0, size - 49, 25):
        rows = generator.standard_normal((50, 50))
        strips.add(low, rows @ rows.T, np.arange(50))
        full[low : low + 50, low : low + 50] += rows @ rows.T
    right = generator.standard_normal(size)
    assert full @ strips.factored().solve(right) == pytest.approx(right, abs=1e-8)
    with pytest.raises(np.linalg.LinAlgError):
        Strips(ends).factored()


@pytest.mark.parametrize("apart", [1.0, 0.1])
def test_an_inverse_is_that_of_the_factor(apart: float) -> None:
    """Also where an action has less of a block than its neighbours on the template, and summed over neighbours that share one."""
    program, lattice, actions = triangle(6)
    windows = Windows(lattice, lattice.omega, np.arange(actions[0], actions[-1] + apart / 2, apart), 4.0, program.factor)
    generator = np.random.default_rng(5)
    off, sums = generator.random(len(windows.edges)), 0.1 + generator.random(len(windows.state))
    batch = BatchFactor(windows, off, sums, unhurried, np.float64)
    chunk, factor = windows.chunks[0], batch.factors[0]
    assert [group.last for group in chunk.groups] == [*(group.first for group in chunk.groups[1:]), chunk.actions]
    assert (max(group.last - group.first for group in chunk.groups) > 2) == (apart < 1)
    scale = np.full(factor.sums.shape, NOWHERE)
    scale.ravel()[chunk.slots] = 1.0
    for group in (chunk.groups[0], chunk.groups[5], chunk.groups[-1]):
        a, b = windows.starts[group.first], windows.starts[group.last]
        inside = slice(group.first, group.last)
        inverse = factor.inverse(inside, group.spans, scale[inside])
        high = int(windows.high[inside].max())
        assert inverse.shape == (high - group.low, high - group.low), "their own states and no others"
        for h in range(group.low, high):
            right = np.zeros(len(windows.state))
            right[a:b] = windows.state[a:b] == h
            expected = np.bincount(windows.state[a:b] - group.low, batch.solve(right)[a:b], high - group.low)
            assert inverse[group.ranks, group.ranks[h - group.low]] == pytest.approx(expected, rel=1e-9, abs=1e-13)


def test_what_is_cut_off_in_one_place_is_given_back_there() -> None:
    """A kernel that oversteps at one end alone loses nothing at the other: plain repair takes from every state."""
    program, _, actions = triangle(8)
    omega = np.array([np.argmin(column) for column in program.cost.T], dtype=float)
    kernel = np.exp(-np.abs(actions[:, None] - omega) / 2)
    kernel /= kernel.sum(axis=0)
    kernel = np.exp(-np.abs(actions[:, None] - omega) / 4) * (omega < 12) + kernel * (omega >= 12)
    kernel /= kernel.sum(axis=0)
    repaired = repair_nearby(kernel, program)
    assert violation(repaired, program.edges, program.factor) <= 0
    assert np.abs(repaired.sum(axis=0) - 1).max() < 1e-12


def test_what_is_private_already_is_not_repaired() -> None:
    program, _, actions = triangle(8)
    omega = np.array([np.argmin(column) for column in program.cost.T], dtype=float)
    kernel = np.exp(-0.2 * np.abs(actions[:, None] - omega))
    kernel /= kernel.sum(axis=0)
    assert violation(kernel, program.edges, program.factor) < 0
    assert np.array_equal(repair(kernel, program), kernel)
    short = kernel * (1 - 1e-9)
    assert np.abs(repair(short, program).sum(axis=0) - 1).max() < 1e-14 < np.abs(short.sum(axis=0) - 1).max()


def test_actions_give_way_no_more_than_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    program, _, actions = triangle(8)
    omega = np.array([np.argmin(column) for column in program.cost.T], dtype=float)
    private, steep = (np.exp(-slope * np.abs(actions[:, None] - omega)) for slope in (0.45, 3.0))
    kernel = private / private.sum(axis=0) + 0.05 * (omega == 13) * (steep / steep.sum(axis=0))
    kernel /= kernel.sum(axis=0)
    assert violation(kernel, program.edges, program.factor) > 0
    repaired = repair_nearby(kernel, program)
    assert violation(repaired, program.edges, program.factor) <= 0
    monkeypatch.setattr(repairing, "TIMES", (4.0, 64.0))
    assert value_of(program, kernel) < value_of(program, repaired) < value_of(program, repair_nearby(kernel, program))


def test_a_statistic_that_is_not_linear_has_no_lattice() -> None:
    lattice = triangle(5)[1]
    counts = lattice.counts
    assert TwoCounts.from_counts(counts, counts[:, 0].astype(float) ** 2, lattice.edges) is None
    assert TwoCounts.from_counts(np.column_stack([counts, counts[:, 0]]), lattice.omega, lattice.edges) is None


def test_directions_found_for_one_right_hand_side_serve_the_next() -> None:
    """A matrix with a few tiny eigenvalues that its preconditioner does not know: they are paid for once."""
    generator = np.random.default_rng(7)
    turned = np.linalg.qr(generator.standard_normal((60, 60)))[0]
    matrix = turned @ np.diag(np.concatenate([np.full(8, 1e-5) * np.arange(1, 9), 1 + generator.random(52)])) @ turned.T
    prices = Conjugates(lambda way: matrix @ way, np.array, 60, 100)
    rounds: list[list[int]] = [[], [], []]
    for taken in rounds:
        right = matrix @ generator.standard_normal(60)
        found = prices.solve(right, 1e-12, 60, lambda taken=taken: taken.append(1))
        assert found @ prices.ways[: len(found)] @ matrix == pytest.approx(right, abs=1e-11)
    assert len(rounds[0]) > 12 > len(rounds[1]) >= len(rounds[2])


def test_few_digits_solve_what_all_digits_do() -> None:
    program, lattice, actions = triangle(7)
    windows = Windows(lattice, lattice.omega, actions, 4.0, program.factor)
    generator = np.random.default_rng(8)
    off, sums, right = (generator.random(len(each)) for each in (windows.edges, windows.state, windows.state))
    few, all_of_them = (BatchFactor(windows, off, sums, unhurried, digits) for digits in (np.float32, np.float64))
    assert few.factors[0].half[0].dtype == few.factors[0].coupling[0].dtype == np.float32
    found = few.solve(right)
    assert found.dtype == np.float64 and found == pytest.approx(all_of_them.solve(right), rel=1e-4)


def test_one_vector_is_summed_along_trees_as_many_are() -> None:
    program, lattice, _ = triangle(9)
    sweeps, values = Sweeps(lattice, program.factor), np.random.default_rng(9).standard_normal(len(lattice.omega))
    for side in (0, 1):
        assert sweeps.gathered(side, values) == pytest.approx(sweeps.gathered(side, values[None])[0], rel=1e-12, abs=1e-12)
        assert sweeps.spread(side, values) == pytest.approx(sweeps.spread(side, values[None])[0], rel=1e-12, abs=1e-12)


def test_a_few_multipliers_stop_nobody() -> None:
    point, direction = np.array([1.0, 1.0, 1e-3]), np.array([1.0, -0.5, -1.0])
    assert longest(point, direction) == pytest.approx(1e-3)
    assert beyond(point, direction, 0.1, 0.9) == pytest.approx(0.101, rel=1e-3)
    assert beyond(point, direction, 2.0, 0.9) == 1 / 0.9
    assert beyond(point, direction, 0.0, 0.9) == pytest.approx(1e-3, rel=1e-3)


def test_a_step_that_few_digits_cannot_make_is_made_with_all(monkeypatch: pytest.MonkeyPatch) -> None:
    program, lattice, actions = triangle(10)
    seen = seen_as(lattice, np.ptp(program.cost, axis=0)[lattice.order], 1.0)
    state = WindowedIterate(program, lattice, Windows(lattice, seen, actions, 6.0, program.factor))
    asked, stepped = [], WindowedIterate._stepped

    def spoilt(self: WindowedIterate, digits: type) -> bool:
        asked.append(digits)
        return digits is np.float64 and stepped(self, digits)

    monkeypatch.setattr(WindowedIterate, "_stepped", spoilt)
    before = state.bound()
    assert state.advance(unhurried) and state.advance(unhurried)
    assert asked == [np.float32, np.float64, np.float64] and state.bound() > before


def test_a_sum_of_answers_is_the_direction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Early in a search directions are summed from what was solved for their prices; without room for that, solved again."""
    program, lattice, actions = triangle(10)
    seen = seen_as(lattice, np.ptp(program.cost, axis=0)[lattice.order], 1.0)
    found = []
    for most in (windowed.MOST_ANSWERED, 0):
        monkeypatch.setattr(windowed, "MOST_ANSWERED", most)
        state = WindowedIterate(program, lattice, Windows(lattice, seen, actions, 6.0, program.factor))
        state.few = False
        assert all(state.advance(unhurried) for _ in range(4))
        found.append((state.value(), state.bound()))
    assert found[0] == pytest.approx(found[1], rel=1e-8)


def test_the_path_begins_with_noise_that_is_private() -> None:
    program, lattice, actions = triangle(10)
    seen = seen_as(lattice, np.ptp(program.cost, axis=0)[lattice.order], 1.0)
    windows = Windows(lattice, seen, actions, 6.0, program.factor)
    begun = WindowedIterate(program, lattice, windows)
    assert begun.s.min() > 0 and np.abs(windows.hang(begun.x) - 1).max() < 0.3


def finely(size: int, apart: float) -> tuple[Program, TwoCounts, np.ndarray]:
    """Guesses of the sum that are so far apart."""
    program, lattice, whole = triangle(size)
    prior = program.cost[1] - program.cost[0]
    omega = np.array([np.argmin(column) for column in program.cost.T], dtype=float)
    weight = np.abs(prior / (1 - 2 * omega))
    actions = np.arange(0.0, whole[-1] + apart / 2, apart)
    return Program(weight * (actions[:, None] - omega) ** 2, program.edges, program.epsilon), lattice, actions


def begun(program: Program, lattice: TwoCounts, actions: np.ndarray, some: Integers) -> WindowedIterate:
    seen = seen_as(lattice, np.ptp(program.cost, axis=0)[lattice.order], program.epsilon)
    windows = Windows(lattice, seen, actions[some], 6.0, program.factor)
    return WindowedIterate(program.restricted(some), lattice, windows)


def apart(state: WindowedIterate) -> float:
    return state.value() - state.bound() + state.unfair()


def test_levels_halve_what_lies_between_actions() -> None:
    assert [every for every, _ in levels(0.1, 2.0)] == [8, 4, 2]
    assert [gap for _, gap in levels(0.1, 2.0)] == pytest.approx([0.3, 0.15, 0.075])
    assert levels(1.0, 1.0) == []


def test_what_few_actions_found_is_carried_to_many() -> None:
    program, lattice, actions = finely(8, 0.25)
    every = np.arange(len(actions))
    few, many = begun(program, lattice, actions, every[::4]), begun(program, lattice, actions, every)
    noise = apart(many)
    for _ in range(6):
        assert few.advance(unhurried)
    carry(few, many)
    assert np.abs(many.windows.hang(many.x) - 1).max() < 0.05 and many.s.min() > 0 and many.z.min() > 0
    assert np.allclose(many.s, many.q * many.x[many.head] - many.x[many.tail])
    assert apart(many) < 0.3 * noise
    before = apart(many)
    assert many.advance(unhurried) and apart(many) < before


def test_rows_without_room_are_not_carried() -> None:
    program, lattice, actions = finely(6, 0.5)
    every = np.arange(len(actions))
    few, many = begun(program, lattice, actions, every[::2]), begun(program, lattice, actions, every)
    few.x = np.full_like(few.x, np.nan)
    x, z = many.x, many.z
    carry(few, many)
    assert many.x is x and many.z is z


def test_few_actions_save_steps_with_all_of_them() -> None:
    program, lattice, actions = finely(6, 0.125)
    plain = solve_windowed(program, lattice, actions, 6.0, 3e-3)
    led = solve_windowed(program, lattice, actions, 6.0, 3e-3, fewer=levels(0.125, 2.0))
    assert led.status == plain.status == "optimal"
    assert led.iterations < 0.8 * plain.iterations
    assert max(led.bound, plain.bound) <= min(led.value, plain.value) * (1 + 1e-12)


def test_a_path_that_is_not_led_up_to_in_time_begins_with_noise() -> None:
    program, lattice, actions = finely(6, 0.25)
    many = begun(program, lattice, actions, np.arange(len(actions)))
    x = many.x
    with counted(), pytest.raises(TimeIsUpError):
        led_up_to(many, partial(begun, program, lattice, actions), levels(0.25, 2.0), Until.after(1e-6), Timing())
    assert many.x is x
