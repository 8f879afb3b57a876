"""A census-like table that discreet generates, for demonstrations where no real data is at hand."""
