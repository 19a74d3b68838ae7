"""Studies of a model, one folder each: what is measured, its result and its page."""
