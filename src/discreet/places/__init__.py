"""Where things lie: addresses told from paths, and files told from what is none."""
