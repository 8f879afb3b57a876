"""The Incognito paper (004) again: nodes searched, times of all searches, an order table, the cube."""
