"""Writing, auditing and placing a release with its manifest."""
