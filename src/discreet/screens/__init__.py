"""View models of the browser's pages, without HTTP."""
