"""What a published value means, and what it can never reveal: posteriors, likelihoods, limits, the attacker's view.

For data users: `posterior`, `readings`, `fit`. For publishers: `worst_product`, `power_bound`, `choose`. Heavy imports
wait until a name is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.interpret.acting import best_action, best_actions
    from discreet.interpret.attacker import odds_shift, worst_correlated, worst_product
    from discreet.interpret.augmentation import augmentation_sample
    from discreet.interpret.bounds import (
        DensityBounds,
        PosteriorBounds,
        binary_sum_laplace,
        density_bounds,
        randomised_response_bounds,
    )
    from discreet.interpret.choosing import choose, in_words
    from discreet.interpret.closed_bounds import total_bounds
    from discreet.interpret.comparing_totals import Rank, RegionShare, ranks, share
    from discreet.interpret.diagnostics import diagnose
    from discreet.interpret.distances import d_star, d_star_star, database_distances, state_distances
    from discreet.interpret.intervals import IntervalOfMeasures, d_mult, density_ratio_metric, tight_epsilon
    from discreet.interpret.likelihood import Fit, expected_naive, fit, output_law
    from discreet.interpret.models import BinomialModel, GivenModel, MultinomialModel, PoissonModel
    from discreet.interpret.naive import Naive
    from discreet.interpret.parameter import dirichlet_posterior, grid_posterior
    from discreet.interpret.poisson_laplace import PoissonLaplace
    from discreet.interpret.posteriors import Posterior, posterior, posterior_after
    from discreet.interpret.power import (
        epsilon_needed,
        least_epsilon,
        most_powerful_test,
        neyman_pearson,
        power_bound,
        respondents_needed,
    )
    from discreet.interpret.predictive import (
        check_table,
        posterior_predictive,
        prior_predictive,
        tail_probability,
    )
    from discreet.interpret.reading import Readings, readings
    from discreet.interpret.rejection import rejection_sample
    from discreet.interpret.sentences import attacker_sentence, power_sentence
    from discreet.interpret.simplex_fit import SimplexFit, fit_simplex
    from discreet.interpret.totals import (
        CellBeliefs,
        PublishedGroup,
        Total,
        cell_beliefs,
        region_totals,
        total,
    )

__all__ = [
    "BinomialModel",
    "CellBeliefs",
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
    "PublishedGroup",
    "Rank",
    "Readings",
    "RegionShare",
    "SimplexFit",
    "Total",
    "attacker_sentence",
    "augmentation_sample",
    "best_action",
    "best_actions",
    "binary_sum_laplace",
    "cell_beliefs",
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
    "ranks",
    "readings",
    "region_totals",
    "rejection_sample",
    "respondents_needed",
    "share",
    "state_distances",
    "tail_probability",
    "tight_epsilon",
    "total",
    "total_bounds",
    "worst_correlated",
    "worst_product",
]

_PLACES = {
    "BinomialModel": "models",
    "CellBeliefs": "totals",
    "DensityBounds": "bounds",
    "Fit": "likelihood",
    "GivenModel": "models",
    "IntervalOfMeasures": "intervals",
    "MultinomialModel": "models",
    "Naive": "naive",
    "PoissonLaplace": "poisson_laplace",
    "PoissonModel": "models",
    "Posterior": "posteriors",
    "PosteriorBounds": "bounds",
    "PublishedGroup": "totals",
    "Rank": "comparing_totals",
    "Readings": "reading",
    "RegionShare": "comparing_totals",
    "SimplexFit": "simplex_fit",
    "Total": "totals",
    "attacker_sentence": "sentences",
    "augmentation_sample": "augmentation",
    "best_action": "acting",
    "best_actions": "acting",
    "binary_sum_laplace": "bounds",
    "cell_beliefs": "totals",
    "check_table": "predictive",
    "choose": "choosing",
    "d_mult": "intervals",
    "d_star": "distances",
    "d_star_star": "distances",
    "database_distances": "distances",
    "density_bounds": "bounds",
    "density_ratio_metric": "intervals",
    "diagnose": "diagnostics",
    "dirichlet_posterior": "parameter",
    "epsilon_needed": "power",
    "expected_naive": "likelihood",
    "fit": "likelihood",
    "fit_simplex": "simplex_fit",
    "grid_posterior": "parameter",
    "in_words": "choosing",
    "least_epsilon": "power",
    "most_powerful_test": "power",
    "neyman_pearson": "power",
    "odds_shift": "attacker",
    "output_law": "likelihood",
    "posterior": "posteriors",
    "posterior_after": "posteriors",
    "posterior_predictive": "predictive",
    "power_bound": "power",
    "power_sentence": "sentences",
    "prior_predictive": "predictive",
    "randomised_response_bounds": "bounds",
    "ranks": "comparing_totals",
    "readings": "reading",
    "region_totals": "totals",
    "rejection_sample": "rejection",
    "respondents_needed": "power",
    "share": "comparing_totals",
    "state_distances": "distances",
    "tail_probability": "predictive",
    "tight_epsilon": "intervals",
    "total": "totals",
    "total_bounds": "closed_bounds",
    "worst_correlated": "attacker",
    "worst_product": "attacker",
}

__getattr__ = on_demand(__name__, _PLACES)
