"""The evaluated lattice: every node's suppression histograms."""
