"""Examples for programs that run other programs: Dagster, Airflow and dbt."""
