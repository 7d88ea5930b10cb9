"""Priors: what is believed about the database before anything is published.

Every probability is an exact rational. A prior answers for one database (`of_database`) and for the law of its
histogram (`on_histograms`); `exchangeable` says whether order matters to it, `zeros` names what has no probability
(SY assumes full support throughout).
"""

from discreet.model.priors.exchangeable import DirichletMultinomialPrior, ExchangeablePrior
from discreet.model.priors.iid import IidPrior, ReferencePrior
from discreet.model.priors.independent import IndependentPrior
from discreet.model.priors.mixture import MixturePrior
from discreet.model.priors.table import TablePrior
from discreet.model.priors.weights import ExactWeights, names_unknown, over_one_denominator
from discreet.model.universe import ListedUniverse

Prior = IidPrior | ReferencePrior | IndependentPrior | ExchangeablePrior | DirichletMultinomialPrior | MixturePrior | TablePrior


def on_names(prior: Prior, universe: ListedUniverse) -> ExactWeights:
    """The probability of each database that is listed by name; only a table knows them."""
    if not isinstance(prior, TablePrior):
        raise names_unknown(prior.kind)
    return over_one_denominator([prior.of_label(name) for name in universe.names])


__all__ = [
    "DirichletMultinomialPrior",
    "ExactWeights",
    "ExchangeablePrior",
    "IidPrior",
    "IndependentPrior",
    "MixturePrior",
    "Prior",
    "ReferencePrior",
    "TablePrior",
    "on_names",
]
