"""The permutation paper (003) again: errors of queries over permuted and generalized releases."""
