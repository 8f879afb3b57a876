"""MariaDB as an engine."""
