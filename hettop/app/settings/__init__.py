"""The user's settings: their schema, their effective values, and how they are saved."""
