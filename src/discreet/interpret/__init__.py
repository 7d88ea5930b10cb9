"""What a published value means, and what it can never reveal: posteriors, likelihoods, limits, the attacker's view."""
