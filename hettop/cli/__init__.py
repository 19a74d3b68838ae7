"""The command line: one module for each command, their options, progress and exit codes."""
