"""Tokens per second: what a call of a token-by-token model is worth, by what the header describes its two rows.

Pure; the row of the unit itself is decode, its variant is prefill. Nothing is known of a session whose header reports
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hettop.events import split_row

if TYPE_CHECKING:
    from hettop.session.session import Session

PREFILL = "prefill"
"""The variant of a unit that takes in a prompt, many tokens per call; the unit itself goes on, token by token."""

SETTING = "tokens"
ANSWERS = "answers"
"""The setting of sessions whose units give answers: in them decode goes on from prefill, in one process."""

MS_PER_S = 1e3
MOST = 10**9
"""More tokens per call than this are a damaged header."""


@dataclass(frozen=True, slots=True)
class TokensPerCall:
    """Tokens of one sequence that a call takes in, None where unknown, and how that is known."""

    prefill: int | None
    decode: int
    by: str

    def of(self, row: str) -> int | None:
        return self.prefill if split_row(row)[1] == PREFILL else self.decode


def tokens_per_call(session: Session) -> TokensPerCall | None:
    """As the header reports; None where the calls of this session are not counted in tokens."""
    if session.header is None or not isinstance(setting := session.header.settings.get(SETTING), dict):
        return None
    prefill, decode, by = _number(setting.get("prefill")), _number(setting.get("decode")), setting.get("by")
    if decode is None or (prefill is None and not isinstance(session.header.settings.get(ANSWERS), dict)):
        return None
    return TokensPerCall(prefill, decode, by if isinstance(by, str) else "")


def tokens_per_s(tokens: int | None, p50_ms: float | None) -> float | None:
    """tokens / median latency of a call; None where either is unknown."""
    return tokens * MS_PER_S / p50_ms if tokens is not None and p50_ms else None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST else None
