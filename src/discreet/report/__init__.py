"""The report of a release: its evidence as one offline HTML page."""
