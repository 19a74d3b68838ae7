"""What is said of a token-by-token model: prefill and decode in tokens a second, and what the first token waits for.

Pure text and plain data; medians of what was measured, and a reason where there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hettop.events import NO_LOAD, row_name, split_row
from hettop.format import UNKNOWN, count, milliseconds, significant
from hettop.session.session import Session
from hettop.session.statistics import Statistics
from hettop.session.tokens import PREFILL, TokensPerCall, tokens_per_call
from hettop.text import clean

OF_WHAT = "tokens/s are those of the median call, of one sequence"
APART = "prefill and decode are processes of their own: decode does not go on in the state that prefill left"

Situation = tuple[str, str | None]


def token_notes(session: Session, rows: Sequence[Statistics]) -> list[str]:
    """A sentence on each unit and condition, and how the tokens were counted; nothing for other models."""
    per_call = tokens_per_call(session)
    if per_call is None:
        return []
    counted = f"tokens a call: {count(per_call.prefill)} in prefill, {count(per_call.decode)} in decode"
    by = f", by {clean(per_call.by, 100)}" if per_call.by else ""
    return [*_sentences(per_call, rows), f"{counted}{by}; {OF_WHAT}", APART]


def tokens_document(session: Session) -> dict[str, Any] | None:
    """The same for programs: tokens of one sequence in a call, and how that is known."""
    per_call = tokens_per_call(session)
    if per_call is None:
        return None
    return {"prefill": per_call.prefill, "decode": per_call.decode, "by": per_call.by, "prefill_variant": PREFILL}


def _sentences(per_call: TokensPerCall, rows: Sequence[Statistics]) -> Iterator[str]:
    for unit in dict.fromkeys(split_row(row.unit)[0] for row in rows):
        sides = [row for row in rows if row.unit in (unit, row_name(unit, PREFILL))]
        measured = dict.fromkeys((row.load, row.thermal) for row in sides if row.n)
        for situation in measured or {(sides[0].load, sides[0].thermal): None}:
            prefill = _row(sides, row_name(unit, PREFILL), situation)
            decode = _row(sides, unit, situation)
            yield f"{_name(unit, situation)}: {_sentence(per_call, prefill, decode)}"


def _row(rows: Sequence[Statistics], name: str, situation: Situation) -> Statistics | None:
    """The row's statistics there; those of a row that was measured nowhere tell why."""
    own = [row for row in rows if row.unit == name]
    found = (row for row in own if (row.load, row.thermal) == situation or not row.n)
    return next(found, None)


def _sentence(per_call: TokensPerCall, prefill: Statistics | None, decode: Statistics | None) -> str:
    first = UNKNOWN
    if prefill is not None and decode is not None and prefill.n and decode.n:
        first = f"{milliseconds(prefill.p50_ms)} ms + {milliseconds(decode.p50_ms)} ms"
    return (
        f"prefill {_side(per_call.prefill, prefill)}, decode {_side(per_call.decode, decode)}; "
        f"first token after a {count(per_call.prefill)}-token prompt: {first}"
    )


def _side(tokens: int, row: Statistics | None) -> str:
    if row is None or not row.n:
        why = row.error.message if row is not None and row.error is not None else "not measured under this condition"
        return f"{UNKNOWN} ({clean(why)})"
    rate = f"{significant(row.tokens_per_s)} tokens/s"
    return rate if tokens == 1 else f"{count(tokens)} tokens in {milliseconds(row.p50_ms)} ms ({rate})"


def _name(unit: str, situation: Situation) -> str:
    load, thermal = situation
    under = "" if load == NO_LOAD else f" under {clean(load, 30)}"
    return f"{clean(unit, 30)}{under}{f' ({clean(thermal, 20)})' if thermal else ''}"
