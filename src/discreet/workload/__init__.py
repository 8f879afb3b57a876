"""Workloads: what a release answers to an analyst's queries, and releases made for a workload."""
