"""Independent verification of a published file."""
