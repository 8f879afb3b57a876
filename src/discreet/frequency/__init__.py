"""Counted facts about a source: one scan, arrays after."""
