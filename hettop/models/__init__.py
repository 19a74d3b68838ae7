"""Models: what a name on the command line means, and the networks that are built and not downloaded."""
