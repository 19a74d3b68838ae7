"""Results for people and programs: the statistics document and the table."""
