"""Mondrian: multidimensional partitioning of row types."""
