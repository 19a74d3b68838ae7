"""Precision variants of a model, built and compared."""
