"""Currencies: one mechanism's guarantee in every language people speak.

δ(ε), privacy loss, Rényi, zCDP, trade-offs, attack risk, group privacy and mutual information of any finite mechanism
over any neighbour graph; conversions between them; composition; what they mean to a Bayesian and to a respondent.
Numbers come as brackets that hold the truth; the tight ε is exact. Each room is imported by name.
"""
