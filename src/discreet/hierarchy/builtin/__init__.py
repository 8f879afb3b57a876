"""Built-in hierarchies: ages, dates, public classifications, countries, postal codes."""
