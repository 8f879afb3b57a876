"""Answers to a publisher's wish, by look-ups in the evaluated lattice."""
