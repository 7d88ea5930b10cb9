"""Named families of mechanisms, one per file: guarantee, closed form, citation, exact finite kernel where there is one.

| family | file | exact finite kernel |
|---|---|---|
| geometric, truncated geometric (discrete Laplace) | `geometric` | closed form and table |
| staircase, continuous and discrete | `staircase` | closed form and table |
| randomised response, binary and k-ary | `randomised_response` | table |
| exponential | `exponential` | table |
| inverse sensitivity | `inverse_sensitivity` | table |
| Laplace, Gaussian, discrete Gaussian | `laplace`, `gaussian`, `discrete_gaussian` | none: for analysis |

`post_processing` composes kernels; `tables` writes probabilities as integers that stay private.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
    from discreet.mechanisms.exponential import Exponential
    from discreet.mechanisms.gaussian import Gaussian
    from discreet.mechanisms.geometric import Geometric, TruncatedGeometric, geometric_mechanism
    from discreet.mechanisms.inverse_sensitivity import InverseSensitivity
    from discreet.mechanisms.laplace import Laplace
    from discreet.mechanisms.post_processing import composed, merged
    from discreet.mechanisms.randomised_response import RandomisedResponse
    from discreet.mechanisms.staircase import DiscreteStaircase, Staircase, staircase_mechanism
    from discreet.mechanisms.tables import rounded_table

__all__ = [
    "DiscreteGaussian",
    "DiscreteStaircase",
    "Exponential",
    "Gaussian",
    "Geometric",
    "InverseSensitivity",
    "Laplace",
    "RandomisedResponse",
    "Staircase",
    "TruncatedGeometric",
    "composed",
    "geometric_mechanism",
    "merged",
    "rounded_table",
    "staircase_mechanism",
]

_PLACES = {
    "DiscreteGaussian": "discrete_gaussian",
    "DiscreteStaircase": "staircase",
    "Exponential": "exponential",
    "Gaussian": "gaussian",
    "Geometric": "geometric",
    "InverseSensitivity": "inverse_sensitivity",
    "Laplace": "laplace",
    "RandomisedResponse": "randomised_response",
    "Staircase": "staircase",
    "TruncatedGeometric": "geometric",
    "composed": "post_processing",
    "geometric_mechanism": "geometric",
    "merged": "post_processing",
    "rounded_table": "tables",
    "staircase_mechanism": "staircase",
}

__getattr__ = on_demand(__name__, _PLACES)
