"""Where things lie: addresses told from paths, files told from what is none, and locks on them."""
