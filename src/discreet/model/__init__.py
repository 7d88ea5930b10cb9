"""The nouns of the theory.

Universe, neighbours, prior, statistic, decision, problem, summary, kernel, mechanism, guarantee.
Each is a frozen dataclass that cannot be built invalid; all numbers are exact.
"""
