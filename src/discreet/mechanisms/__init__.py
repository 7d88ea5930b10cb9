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
