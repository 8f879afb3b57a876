"""Workloads: a release's answers to an analyst's queries, and releases built for a workload."""
