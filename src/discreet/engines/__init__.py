"""Engines that execute SQL: the embedded DuckDB, PostgreSQL, MariaDB and Spark."""
