"""Design: the best private mechanism for a decision."""
