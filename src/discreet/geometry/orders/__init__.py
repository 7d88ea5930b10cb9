"""Orders between information structures: which of two mechanisms tells more, and to whom.

Blackwell (every decision), UPRR and the supermodular stochastic order (every supermodular decision), MLRP and
first-order dominance (whether outputs are good news). An order that holds comes with its certificate, one that fails
with its counterexample. `compare_orders` puts them side by side for two mechanisms.
"""

from discreet.geometry.orders.comparison import compare_orders

__all__ = ["compare_orders"]
