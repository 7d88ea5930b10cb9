"""Is a kernel private? Integers only."""
