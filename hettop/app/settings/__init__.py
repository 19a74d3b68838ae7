"""The user's settings: where they lie, what they may say, and what is in force."""
