"""Partition of a model across units (MOSAIC): cost table, plan, execution."""
