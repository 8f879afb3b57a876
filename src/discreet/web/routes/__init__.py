"""The addresses of the workbench, a module per screen."""
