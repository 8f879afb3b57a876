"""The evidence of a release as one offline page."""
