"""Methods that replace direct identifiers."""
