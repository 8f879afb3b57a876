"""How results print: documents, and their words in a terminal, a notebook and a page."""
