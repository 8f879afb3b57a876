"""Charts, drawn offline as SVG."""
