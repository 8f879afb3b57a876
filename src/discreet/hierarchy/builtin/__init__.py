"""Everyday hierarchies that need no data: ages, dates, public classifications, countries, postal codes."""
