"""The Pareto front of models, variants and units."""
