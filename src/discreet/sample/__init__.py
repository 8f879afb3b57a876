"""The generated census of the demo and of the workbench's sample table."""
