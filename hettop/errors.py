"""The error that a user can meet: what is wrong, and the command or option that fixes it."""

from __future__ import annotations


class HettopError(Exception):
    """An error with a message and a hint, printed as `error: MESSAGE` and `hint: HINT`.

    kind: a stable word for programs (`missing`, `format`, `input`, `unsupported-unit`, `unsupported-op`, `usage`,
        `load`, `plan`, `predict`, `crashed`, `killed`, `timeout`, `recording`, `io`, `load-unavailable`, `power`,
        `placement`, `leak`).
    message: what is wrong, then a colon and the value.
    hint: the command or option that fixes it, or an empty string.
    """

    def __init__(self, kind: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint
