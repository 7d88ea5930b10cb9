"""Priors: what is believed about the database before anything is published.

Every probability is an exact rational. A prior answers for one database (`of_database`) and for the law of its
histogram (`on_histograms`); `exchangeable` says whether order matters to it, `zeros` names what has no probability
(SY assumes full support throughout).
"""

from discreet.model.priors.exchangeable import DirichletMultinomialPrior, ExchangeablePrior
from discreet.model.priors.iid import IidPrior, ReferencePrior
from discreet.model.priors.independent import IndependentPrior
from discreet.model.priors.table import TablePrior
from discreet.model.priors.weights import ExactWeights

Prior = IidPrior | ReferencePrior | IndependentPrior | ExchangeablePrior | DirichletMultinomialPrior | TablePrior

__all__ = [
    "DirichletMultinomialPrior",
    "ExactWeights",
    "ExchangeablePrior",
    "IidPrior",
    "IndependentPrior",
    "Prior",
    "ReferencePrior",
    "TablePrior",
]
