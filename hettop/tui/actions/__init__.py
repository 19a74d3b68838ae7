"""What each key does: passes it on to the feed's controls, or changes how the session is looked at."""
