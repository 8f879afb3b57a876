"""HTTP routes of the workbench, one module per screen."""
