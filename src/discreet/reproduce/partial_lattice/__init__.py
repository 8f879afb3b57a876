"""The partial lattices of the negotiation paper (000) again."""
