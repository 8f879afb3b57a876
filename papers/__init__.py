"""Reproductions of the papers' tables and plots, compared with the printed figures (``python -m papers``)."""
