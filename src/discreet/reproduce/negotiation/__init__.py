"""Pilalidou and Vassiliadis again: validity study, requests, l-diversity, an IPUMS-shaped table, times."""
