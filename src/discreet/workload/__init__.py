"""Workloads: queries with weights, their error on a release, and recoding for them."""
