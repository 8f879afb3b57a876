"""The workbench in the browser: a local server, sessions, and the pages."""
