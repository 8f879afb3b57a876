"""The patterns reproduction: the paper's tables and Figure 1, and the instance of its Theorem 4."""
