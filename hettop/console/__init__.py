"""Progress, messages, signals, and the loop of a measurement without a screen."""
