"""What a model file holds and what one call of it costs, reported from the file alone: nothing is run."""
