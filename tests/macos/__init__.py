"""What macOS's Python lacks, taken away here: `pytest --macos 3.11` runs any tests as if on it.

`lacking.py` looks up the names, `site/` hides them in every Python process that the tests start.
"""
