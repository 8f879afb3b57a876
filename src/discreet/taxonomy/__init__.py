"""The recoding models: what each allows, and a search for each."""
