"""The one family of errors a user can meet; each says what happened and what to do about it.

Imports nothing of hettop, so every part may raise it.
"""

from __future__ import annotations


class HettopError(Exception):
    """What went wrong, in words for the person at the keyboard.

    kind: a stable word for programs (`missing`, `format`, `input`, `unsupported-unit`, `unsupported-op`, `usage`,
        `load`, `plan`, `predict`, `crashed`, `killed`, `timeout`, `recording`, `io`, `load-unavailable`, `power`).
    message: one sentence that names the thing and the fault.
    hint: what to do next, or an empty string.
    """

    def __init__(self, kind: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint
