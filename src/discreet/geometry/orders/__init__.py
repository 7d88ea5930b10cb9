"""Orders between information structures: which of two mechanisms tells more, and to whom.

Blackwell (every decision), UPRR and the supermodular stochastic order (every supermodular decision), MLRP and
first-order dominance (whether outputs are good news). An order that holds comes with its certificate, one that fails
with its counterexample. `compare_orders` puts them side by side for two mechanisms, `orders_in_words` says them.
"""

from discreet.geometry.orders.comparison import compare_orders
from discreet.geometry.orders.words import orders_in_words

__all__ = ["compare_orders", "orders_in_words"]
