"""Designs under ρ (zCDP): discrete Gaussian noise on a weighted sum, the convex program on states, and bounds by cuts."""
