"""Any loss through the joint law: against moments, against tables, against the chain bound."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.design.ladder.bounds.chain import chain_bound
from discreet.design.ladder.mechanisms.any_loss import other_loss, read_joint
from discreet.design.ladder.mechanisms.noise import geometric_noise
from discreet.design.ladder.mechanisms.proxy import squared_loss_proxy
from discreet.design.ladder.mechanisms.sums import joint_law
from discreet.errors import InputError, TooLarge
from discreet.model.iid_sum import IidSum
from discreet.model.losses import AbsoluteLoss, PinballLoss, SquaredLoss

P, V, W, N = [0.6, 0.3, 0.1], [0, 1, 2], [0, 1, 1], 8
OMEGA = np.arange(17.0)
GAP = OMEGA[None, :] - OMEGA[:, None]


@pytest.fixture
def joint():
    return joint_law(P, V, W, N)


def test_squared_error_by_table_equals_moments(joint):
    noise = geometric_noise(1.0, 1)
    by_table = read_joint(joint, W, noise, GAP**2, actions=OMEGA)
    by_moments = squared_loss_proxy(P, V, N, W, noise, allowed=OMEGA)
    assert by_table.loss == pytest.approx(by_moments.loss, rel=1e-10)
    np.testing.assert_array_equal(by_table.actions, by_moments.actions)


@pytest.mark.parametrize(
    ("loss", "table"),
    [(AbsoluteLoss(), np.abs(GAP)), (PinballLoss(Fraction(4, 5)), np.where(GAP >= 0, 0.8 * GAP, -0.2 * GAP))],
)
def test_named_losses_equal_their_tables_and_respect_the_chain_bound(joint, loss, table):
    named = other_loss(P, V, N, 1.0, W, loss)
    assert named.loss == pytest.approx(other_loss(P, V, N, 1.0, W, table).loss, rel=1e-10)
    bound = chain_bound(IidSum.of(P, V, N), 1.0, loss).lower_bound
    assert 0.6 * named.loss < bound <= named.loss
    # Near miss: another quantile's action is worse for this loss.
    other = read_joint(joint, W, named.noise, PinballLoss(Fraction(1, 50)))
    rows = np.array([named.row(s) for s in range(N + 1)])
    paid = sum(
        joint.masses[k, s] * rows[s] @ table[other.actions.astype(int), k]
        for k in range(17)
        for s in range(N + 1)
    )
    assert paid > named.loss * 1.05


def test_two_types_are_optimal():
    found = other_loss([0.7, 0.3], [0, 1], 12, 1.0, [0, 1], AbsoluteLoss())
    assert found.loss == pytest.approx(
        chain_bound(IidSum.of([0.7, 0.3], [0, 1], 12), 1.0, AbsoluteLoss()).lower_bound, rel=1e-9
    )


def test_refusals():
    with pytest.raises(TooLarge, match="coarser"):
        joint_law(P, [0, 1, 1000], W, 1000)
    with pytest.raises(InputError, match="columns"):
        other_loss(P, V, N, 1.0, W, np.ones((3, 4)))
    with pytest.raises(InputError, match="finite"):
        other_loss(P, V, N, 1.0, W, np.full((1, 17), np.inf))
    with pytest.raises(InputError, match="not best at a quantile"):
        other_loss(P, V, N, 1.0, W, SquaredLoss())
