"""The papers' tables and plots, computed again and printed beside."""
