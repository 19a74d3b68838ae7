"""The options of every command, in plain argparse; light to import, for `--help` must answer at once."""
