"""Differentially private releases: noisy counts, samples, and the budget that they spend."""
