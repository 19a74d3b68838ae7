"""Measurements across batch sizes, image sizes or competing loads."""
