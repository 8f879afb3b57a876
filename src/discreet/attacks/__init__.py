"""Attacks on a release: re-identification risks, disclosure, minimal uniques, and linkage with a file."""
