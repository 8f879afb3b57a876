"""(k,e)-anonymity by permutation: groups of rows whose sensitive values are permuted, and help tables."""
