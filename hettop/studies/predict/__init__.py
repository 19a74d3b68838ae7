"""Latency predictors fitted without load, tested on other networks and under load."""
