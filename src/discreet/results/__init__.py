"""Arguments and results of the verbs."""
