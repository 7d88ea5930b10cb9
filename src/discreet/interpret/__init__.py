"""What a published value means, and what it can never reveal: posteriors, likelihoods, limits, the attacker's view.

For data users: `posterior`, `readings`, `fit`. For publishers: `worst_product`, `power_bound`, `choose`. Heavy imports
wait until a name is first used.
"""

from __future__ import annotations

from discreet.on_demand import on_demand

__all__ = [
    "BinomialModel",
    "DensityBounds",
    "Fit",
    "GivenModel",
    "IntervalOfMeasures",
    "MultinomialModel",
    "Naive",
    "PoissonLaplace",
    "PoissonModel",
    "Posterior",
    "PosteriorBounds",
    "Readings",
    "SimplexFit",
    "attacker_sentence",
    "augmentation_sample",
    "best_action",
    "best_actions",
    "binary_sum_laplace",
    "check_table",
    "choose",
    "d_mult",
    "d_star",
    "d_star_star",
    "database_distances",
    "density_bounds",
    "density_ratio_metric",
    "diagnose",
    "dirichlet_posterior",
    "epsilon_needed",
    "expected_naive",
    "fit",
    "fit_simplex",
    "grid_posterior",
    "in_words",
    "least_epsilon",
    "most_powerful_test",
    "neyman_pearson",
    "odds_shift",
    "output_law",
    "posterior",
    "posterior_after",
    "posterior_predictive",
    "power_bound",
    "power_sentence",
    "prior_predictive",
    "randomised_response_bounds",
    "readings",
    "rejection_sample",
    "respondents_needed",
    "state_distances",
    "tail_probability",
    "tight_epsilon",
    "total_bounds",
    "worst_correlated",
    "worst_product",
]

_ROOMS = {
    "posteriors": (
        "Posterior",
        "posterior",
        "posterior_after",
    ),
    "reading": (
        "Readings",
        "readings",
    ),
    "acting": ("best_action", "best_actions"),
    "predictive": (
        "check_table",
        "posterior_predictive",
        "prior_predictive",
        "tail_probability",
    ),
    "models": (
        "BinomialModel",
        "GivenModel",
        "MultinomialModel",
        "PoissonModel",
    ),
    "likelihood": (
        "Fit",
        "expected_naive",
        "fit",
        "output_law",
    ),
    "simplex_fit": (
        "SimplexFit",
        "fit_simplex",
    ),
    "naive": ("Naive",),
    "parameter": (
        "dirichlet_posterior",
        "grid_posterior",
    ),
    "poisson_laplace": ("PoissonLaplace",),
    "rejection": ("rejection_sample",),
    "augmentation": ("augmentation_sample",),
    "diagnostics": ("diagnose",),
    "intervals": (
        "IntervalOfMeasures",
        "d_mult",
        "density_ratio_metric",
        "tight_epsilon",
    ),
    "distances": (
        "d_star",
        "d_star_star",
        "database_distances",
        "state_distances",
    ),
    "bounds": (
        "DensityBounds",
        "PosteriorBounds",
        "binary_sum_laplace",
        "density_bounds",
        "randomised_response_bounds",
    ),
    "power": (
        "epsilon_needed",
        "least_epsilon",
        "most_powerful_test",
        "neyman_pearson",
        "power_bound",
        "respondents_needed",
    ),
    "attacker": (
        "odds_shift",
        "worst_correlated",
        "worst_product",
    ),
    "closed_bounds": ("total_bounds",),
    "choosing": (
        "choose",
        "in_words",
    ),
    "sentences": (
        "attacker_sentence",
        "power_sentence",
    ),
}
_PLACES = {name: room for room, names in _ROOMS.items() for name in names}

__getattr__ = on_demand(__name__, _PLACES)
