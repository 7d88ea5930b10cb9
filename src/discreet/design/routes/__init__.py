"""Ways to a mechanism, one per file: each knows when it applies and proposes."""
