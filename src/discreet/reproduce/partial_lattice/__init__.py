"""The partial lattices of Pilalidou and Vassiliadis again."""
