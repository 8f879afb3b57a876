"""Permutation (Zhang et al. 2007) again: errors of queries over permuted and generalized releases."""
