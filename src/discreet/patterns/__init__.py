"""Pattern-guided k-anonymity: pattern masks, greedy and exact."""
