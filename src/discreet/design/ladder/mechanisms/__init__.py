"""The rungs from below: weighted sums, their noise and their readings."""
