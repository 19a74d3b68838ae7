"""Exit codes, and the kinds of error that mean wrong use."""

from __future__ import annotations

EXIT_NOT_MET = 1
"""A threshold or budget proven not met, a regression, a damaged recording, or outputs that differ."""
EXIT_WRONG_USE = 2
EXIT_FAILED = 3
EXIT_UNDECIDED = 4
"""The samples prove neither yes nor no, or the statistic of a threshold is unknown."""
EXIT_INTERRUPTED = 130

EXIT_CODES = {
    0: "done; also for a valid, empty recording",
    EXIT_NOT_MET: "threshold or budget proven not met, regression, damaged recording, or outputs that differ",
    EXIT_WRONG_USE: "invalid use, unreadable input, or a unit that this machine does not have",
    EXIT_FAILED: "everything requested failed while running",
    EXIT_UNDECIDED: "undecided: more samples are needed",
    EXIT_INTERRUPTED: "interrupted; what was measured is printed",
}

# Kinds of error that the user can fix by asking differently; the others are failures while running.
WRONG_USE_KINDS = frozenset(
    {"usage", "missing", "format", "input", "unsupported-unit", "unsupported-op", "recording", "io", "load-unavailable"}
)


def exit_code_of(kind: str) -> int:
    """The exit code for an error of this kind."""
    return EXIT_WRONG_USE if kind in WRONG_USE_KINDS else EXIT_FAILED
