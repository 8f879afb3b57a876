"""Addresses of databases, files that may be read or written, and locks on them."""
