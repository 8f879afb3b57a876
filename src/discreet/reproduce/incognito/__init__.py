"""Incognito (LeFevre et al. 2005) again: nodes searched, times of all searches, an order table, the cube."""
