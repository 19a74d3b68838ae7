"""Analyses of measurements: the verdict, the comparison of recordings, the table of conditions. Pure."""
