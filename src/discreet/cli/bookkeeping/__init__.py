"""The commands of `discreet ledger`: budgets, records, keys, and heads that are kept elsewhere."""
