"""Who executes SQL: an embedded engine by default."""
