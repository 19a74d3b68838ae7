"""Answers token by token, as notes below a result and as JSON: first tokens, later ones, positions, and goodput."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hettop.analysis.budget import ITL, TTFT, Budget, parse_budgets
from hettop.errors import HettopError
from hettop.events import NO_LOAD, row_name
from hettop.format import UNKNOWN, count, milliseconds, percent, significant
from hettop.session.answers import Answers
from hettop.session.session import Session
from hettop.session.statistics import Statistics
from hettop.session.tokens import PREFILL
from hettop.stats.quantiles import quantile
from hettop.text import clean

LEAST_AT_A_POSITION = 10
CACHED_SHARE = 0.1
"""A template's beginning is in a server's cache after its first answer; a larger share is of the prompts themselves."""


def answer_notes(session: Session, rows: Sequence[Statistics]) -> list[str]:
    """Sentences on the answers of each unit and load; none for sessions of single calls."""
    budgets = token_budgets(session)
    return [note for found in session.answers.values() for note in _notes(found, rows, budgets)]


def answer_documents(session: Session) -> list[dict[str, Any]]:
    """The same for programs, by unit and load."""
    budgets = token_budgets(session)
    return [_document(found, budgets) for found in session.answers.values()]


def token_budgets(session: Session) -> Mapping[str, Budget]:
    """The limits that the session was given for first and later tokens, if any, by `TTFT` and `ITL`."""
    text = session.header.settings.get("budget") if session.header else None
    try:
        found = parse_budgets(text, None) if isinstance(text, str) else ()
    except HettopError:  # a recording by another program may be invalid
        found = ()
    return {budget.of: budget for budget in found if budget.of}


def _notes(found: Answers, rows: Sequence[Statistics], budgets: Mapping[str, Budget]) -> Iterator[str]:
    under = "" if found.load == NO_LOAD else f" under {clean(found.load, 30)}"
    who = f"{clean(found.unit, 30)}{under}"
    if found.n:
        yield f"{who}: {_answered(found)}; {_times(found, rows)}"
    octaves = [each for each in found.by_position() if each.n >= LEAST_AT_A_POSITION]
    if len(octaves) > 1:
        steps = ", ".join(f"{_span(each.low, each.high)} {milliseconds(each.p50_ms)}" for each in octaves)
        yield f"{who}: inter-token latency by position (P50, ms): {steps}"
    if found.several:
        counted = f"{count(found.several)} of {count(found.chunks)} chunks held several tokens"
        yield f"{who}: {counted}: no gap of theirs counts"
    if found.cached_tokens >= CACHED_SHARE * found.prompt_tokens > 0:
        share = f"{count(found.cached_tokens)} of {count(found.prompt_tokens)} prompt tokens"
        yield f"{who}: {share} came from the server's prompt cache: first tokens are faster than after new prompts"
    if found.uncounted:
        yield (
            f"{who}: number of tokens {UNKNOWN} of {count(found.uncounted)} answers: the server's count is missing or "
            "contradicts what it sent"
        )
    if found.without_gaps:
        yield (
            f"{who}: inter-token latency {UNKNOWN} of {count(found.without_gaps)} answers: the server counts more "
            "tokens than it sends chunks"
        )
    if found.failed:
        yield f"{who}: {count(found.failed)} answers failed: {clean(found.last_error, 160)}"
    goodput = _goodput(found, budgets)
    if goodput is not None:
        kept, of = goodput
        yield f"{who}: goodput {percent(kept / of)}: {count(kept)} of {count(of)} answers within {_limits(budgets)}"


def _answered(found: Answers) -> str:
    known = [each.tokens for each in found.recent if each.tokens is not None]
    tokens = f", {significant(quantile(known, 0.5))} tokens each (P50)" if known else f", number of tokens {UNKNOWN}"
    return f"{count(found.n)} answers{tokens}"


def _times(found: Answers, rows: Sequence[Statistics]) -> str:
    parts = []
    for what, name in (("first token after", row_name(found.unit, PREFILL)), ("then one every", found.unit)):
        row = next((each for each in rows if (each.unit, each.load) == (name, found.load) and each.n), None)
        if row is None:
            parts.append(f"{what} {UNKNOWN}")
            continue
        parts.append(f"{what} {milliseconds(row.p50_ms)} ms")
    rates = [rate for each in found.recent if (rate := each.tokens_per_s) is not None]
    whole = f"{significant(quantile(rates, 0.5))} tokens/s over the answer" if rates else f"tokens/s {UNKNOWN}"
    return f"{', '.join(parts)} (P50); {whole}"


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def _limits(budgets: Mapping[str, Budget]) -> str:
    words = {TTFT: "ms to the first token", ITL: "ms per later token (mean)"}
    return " and ".join(f"{budgets[of].limit_ms:g} {each}" for of, each in words.items() if of in budgets)


def _goodput(found: Answers, budgets: Mapping[str, Budget]) -> tuple[int, int] | None:
    if not budgets:
        return None
    kept, of = found.within(*(budgets[of].limit_ms if of in budgets else None for of in (TTFT, ITL)))
    return (kept, of) if of else None


def _document(found: Answers, budgets: Mapping[str, Budget]) -> dict[str, Any]:
    goodput = _goodput(found, budgets)
    rates = [rate for each in found.recent if (rate := each.tokens_per_s) is not None]
    per_token = [time / 1e6 for each in found.recent if (time := each.per_token_ns) is not None]
    return {
        "unit": found.unit,
        "load": found.load,
        "answers": found.n,
        "failed": found.failed,
        "cut": found.cut,
        "prompt_tokens": found.prompt_tokens or None,
        "cached_tokens": found.cached_tokens,
        "tokens": None if found.uncounted else found.tokens,
        "chunks": found.chunks,
        "chunks_of_several": found.several,
        "answers_without_gaps": found.without_gaps,
        "tokens_per_s_p50": quantile(rates, 0.5) if rates else None,
        "per_token_p50_ms": quantile(per_token, 0.5) if per_token else None,
        "by_position": [
            {"from": each.low, "to": each.high, "n": each.n, "p50_ms": each.p50_ms, "p90_ms": each.p90_ms}
            for each in found.by_position()
        ],
        "goodput": None if goodput is None else goodput[0] / goodput[1],
        "last_error": found.last_error or None,
    }
