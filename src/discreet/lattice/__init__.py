"""Evaluated lattice: suppression histograms of every node."""
