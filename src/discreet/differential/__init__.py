"""Differentially private releases: noisy counts, and the budget that they spend."""
