"""A paper's tables and plots computed again, beside the printed figures."""
