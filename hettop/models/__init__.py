"""Models: what a name on the command line means, and the default model, which is built and not downloaded."""
