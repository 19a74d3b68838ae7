"""What hettop ends with: exit codes, and which kinds of error are the user's to mend."""

from __future__ import annotations

EXIT_FAILED_THRESHOLD = 1
EXIT_WRONG_USE = 2
EXIT_FAILED = 3
EXIT_INTERRUPTED = 130

# Kinds of error that the user can mend by asking differently; the others are failures while running.
WRONG_USE_KINDS = frozenset(
    {"usage", "missing", "format", "input", "unsupported-unit", "unsupported-op", "recording", "io", "load-unavailable"}
)


def exit_code_of(kind: str) -> int:
    """The exit code for an error of this kind."""
    return EXIT_WRONG_USE if kind in WRONG_USE_KINDS else EXIT_FAILED
