"""Printing of results: documents, rendered for a terminal, a notebook and a page."""
