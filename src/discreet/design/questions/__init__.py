"""Questions about many designs: frontiers, families, robustness, regret, allocation."""
