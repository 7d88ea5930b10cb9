"""Geometry: the theory of private information design as objects.

Beliefs and hypers, the polytopes K, K_Ω and PK with their extreme points, concavification, whether adding noise is
optimal, and the orders between information structures. A name is loaded from its room when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.geometry.channel import Channel, channel_of
    from discreet.geometry.concavification import concavify, concavify_oblivious
    from discreet.geometry.hyper import Hyper, hyper_of, statistic_hyper
    from discreet.geometry.labellings import extreme_points
    from discreet.geometry.noise import is_noise_optimal
    from discreet.geometry.of_problem import K, K_Omega, oblivious_problem, stated
    from discreet.geometry.orders import compare_orders
    from discreet.geometry.price import price_of_noise
    from discreet.geometry.private_beliefs import PrivateBeliefs
    from discreet.geometry.projection import in_PK
    from discreet.geometry.screening import screen
    from discreet.geometry.symmetrisation import symmetrise

__all__ = [
    "Channel",
    "Hyper",
    "K",
    "K_Omega",
    "PrivateBeliefs",
    "channel_of",
    "compare_orders",
    "concavify",
    "concavify_oblivious",
    "extreme_points",
    "hyper_of",
    "in_PK",
    "is_noise_optimal",
    "oblivious_problem",
    "price_of_noise",
    "screen",
    "stated",
    "statistic_hyper",
    "symmetrise",
]

_PLACES = {
    "Channel": "channel",
    "Hyper": "hyper",
    "K": "of_problem",
    "K_Omega": "of_problem",
    "PrivateBeliefs": "private_beliefs",
    "channel_of": "channel",
    "compare_orders": "orders",
    "concavify": "concavification",
    "concavify_oblivious": "concavification",
    "extreme_points": "labellings",
    "hyper_of": "hyper",
    "in_PK": "projection",
    "is_noise_optimal": "noise",
    "oblivious_problem": "of_problem",
    "price_of_noise": "price",
    "screen": "screening",
    "stated": "of_problem",
    "statistic_hyper": "hyper",
    "symmetrise": "symmetrisation",
}

__getattr__ = on_demand(__name__, _PLACES)
