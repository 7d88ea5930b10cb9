"""The rungs from above: chain and quotient bounds."""
