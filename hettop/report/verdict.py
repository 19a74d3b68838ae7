"""The verdict as blocks of a page and as a JSON document."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from hettop.analysis.budget import Budget, Judgement
from hettop.analysis.ranking import spread, tail
from hettop.analysis.unit_samples import RESPONSE, Measured
from hettop.analysis.verdict import Verdict
from hettop.report import verdict_words as words
from hettop.report.anonymize import anonymous_data
from hettop.report.document import head, session_document
from hettop.report.markdown_page import markdown_blocks
from hettop.report.page import Block, Code, Facts, Items, Paragraph, Section, Table, Tone, Toned
from hettop.report.terminal.blocks import block_text
from hettop.session.session import Session

NOTHING = "nothing was measured: no verdict"
TITLE = "Verdict"
TONES: dict[str, Tone] = {"avoid": "error"}
PURPOSE = 11
"""Characters of the longest purpose of advice."""


def verdict_blocks(
    verdict: Verdict, session: Session, notes: Sequence[str] = (), *, ranks_first: bool = False
) -> Iterator[Block]:
    """Advice and warnings, then conditions and evidence, and at the end `notes` and the footnote on the method.

    ranks_first: below a picture of the evidence.
    """
    ranks = [*words.order_lines(verdict), *words.flip_lines(verdict)]
    if ranks_first and ranks:
        yield Items(ranks)
    advice = [
        (Toned(f"{purpose:<{PURPOSE}}  {unit}", TONES.get(purpose, "strong")), why)
        for purpose, unit, why in words.advice(verdict)
    ]
    yield Facts(advice) if advice else Paragraph(NOTHING, "warning")
    for text in words.warnings(verdict):
        yield Paragraph(text, "warning")
    yield Paragraph(words.conditions_line(verdict), "muted")
    if verdict.units or verdict.failed:
        yield Table(words.HEADING, words.table_rows(verdict), words.LEFT, words.DISPENSABLE)
    for budget, answers in words.budgets(verdict):
        yield Paragraph(budget)
        yield Items(answers)
    if ranks and not ranks_first:
        yield Items(ranks)
    for text in words.failure_lines(verdict):
        yield Paragraph(text, "error")
    yield from _code(words.code(verdict, session))
    yield Items([*words.fact_lines(verdict, session), *notes, words.method_line()])


def verdict_text(verdict: Verdict, session: Session, width: int, hidden: Sequence[str] | None = None) -> str:
    """With its provenance, for a terminal so wide; ends with a line feed. hidden: names to leave out, None: nothing."""
    return block_text(_answer(verdict, session, hidden), width, "--json")


def verdict_markdown(verdict: Verdict, session: Session, hidden: Sequence[str] | None = None) -> str:
    """The same for a pull request."""
    blocks = markdown_blocks(_answer(verdict, session, hidden))
    return "\n".join(["### hettop verdict", "", *blocks]).rstrip("\n") + "\n"


def _answer(verdict: Verdict, session: Session, hidden: Sequence[str] | None) -> list[Block]:
    blocks = [_provenance(session), *verdict_blocks(verdict, session)]
    return blocks if hidden is None else anonymous_data(blocks, hidden)


def verdict_section(verdict: Verdict, session: Session) -> Section:
    """The same for a report, which has the provenance in another section."""
    return Section(TITLE, list(verdict_blocks(verdict, session)))


def _provenance(session: Session) -> Paragraph:
    *parts, version = words.provenance(session) or [""]
    return Paragraph(" · ".join([*parts, f"judged by {version}" if session.header else version]), "muted")


def _code(code: words.Code | None) -> Iterator[Block]:
    if code is not None:
        yield Paragraph(f"{code.unit} in Swift, and with coremltools:")
        yield Code(code.swift, "swift")
        yield Code(code.python, "python")


DOCUMENT_WIDTH = 100


def verdict_document(verdict: Verdict, session: Session, *, skipped: dict[str, int] | None = None) -> dict[str, Any]:
    """`decide --json`: ranks, advice, proofs and all statistics; `text` is what is printed without `--json`.

    `swift` and `python` load the model with the unit that is advised, null where there is no such code.
    """
    code = words.code(verdict, session)
    whole = session_document(session, skipped)
    question = verdict.question
    return {
        **head("decide"),
        **{name: whole[name] for name in ("simulated", "host", "model", "power")},
        "load": verdict.load,
        "by": question.by,
        "ranks": {
            "latency": list(verdict.ranks.latency),
            "stability": list(verdict.ranks.stability),
            "efficiency": list(verdict.ranks.efficiency),
            "consistency": list(verdict.ranks.consistency),
            "robust_stability": [each.unit for each in verdict.ranks.tails],
        },
        "efficiency_by": verdict.ranks.efficiency_by,
        "advice": {
            "real_time": verdict.advice.real_time,
            "predictable": verdict.advice.predictable,
            "predictable_ties": list(verdict.advice.predictable_ties),
            "batch": verdict.advice.batch,
            "avoid": list(verdict.advice.avoid),
        },
        "decided_by_few_samples": [_plain(pair) for pair in verdict.few],
        "order": [{**_plain(pair), "proven": pair.proven} for pair in verdict.order],
        "flips": [_plain(flip) for flip in verdict.flips],
        "budget": _budget(verdict, verdict.question.budget, verdict.judgements),
        **(
            {"first_token_budget": _budget(verdict, verdict.question.also, verdict.also)}
            if verdict.question.also
            else {}
        ),
        **({"goodput": {unit: kept / of for unit, (kept, of) in verdict.goodput.items()}} if verdict.goodput else {}),
        "energy_budget": _energy_budget(verdict),
        **_start_up(verdict),
        "meeting": list(verdict.meeting),
        "needs_samples": dict(verdict.needs),
        "failed": {unit: msgspec.to_builtins(reason) for unit, reason in verdict.failed.items()},
        "unmeasured": list(verdict.unmeasured),
        "units": {unit.unit: _unit(verdict, unit) for unit in verdict.units},
        "conditions": whole["conditions"],
        **({"protocol": whole["protocol"]} if "protocol" in whole else {}),
        **({"skipped": skipped} if skipped is not None else {}),
        "swift": code.swift if code else None,
        "python": code.python if code else None,
        "text": verdict_text(verdict, session, DOCUMENT_WIDTH),
    }


def _budget(verdict: Verdict, budget: Budget | None, judgements: Mapping[str, Judgement]) -> dict[str, Any] | None:
    if budget is None:
        return None
    return {
        "limit_ms": budget.limit_ms,
        "quantile": budget.quantile,
        "rate_hz": budget.rate_hz,
        "confidence": verdict.question.confidence,
        "met": {unit: judged.met for unit, judged in judgements.items()},
        "evidence": {unit: _evidence(judged) for unit, judged in judgements.items()},
        **({"of": budget.of} if budget.of else {}),
    }


def _energy_budget(verdict: Verdict) -> dict[str, Any] | None:
    if verdict.energy is None:
        return None
    return {
        "limit_mj": verdict.question.energy_mj,
        "met": {unit: judged.met for unit, judged in verdict.energy.items()},
        "confidence": verdict.question.confidence,
        "evidence": {
            unit: {
                "mj": judged.energy.mj,
                "ci_mj": [judged.energy.low_mj, judged.energy.high_mj],
                "windows": judged.energy.windows,
                "coverage": judged.energy.coverage,
                "why": judged.why or None,
            }
            for unit, judged in verdict.energy.items()
        },
    }


def _start_up(verdict: Verdict) -> dict[str, Any]:
    """Only what was asked for."""
    question, found = verdict.question, {}
    if verdict.ready is not None:
        met = {unit: judged.met for unit, judged in verdict.ready.items()}
        evidence = {unit: _plain(judged) for unit, judged in verdict.ready.items()}
        found["start_up"] = {"limit_ms": question.cold_ms, "met": met, "evidence": evidence}
    if verdict.totals is not None:
        found["totals"] = {**_plain(verdict.totals), "proven": verdict.totals.proven}
    return found


def _evidence(judged: Judgement) -> dict[str, Any]:
    return {
        "of": judged.series,
        "n": judged.n,
        "independent": judged.effective,
        "quantile_ms": judged.quantile_ms,
        "ci_ms": [judged.low_ms, judged.high_ms],
        "needs_s": judged.needs_s,
        "why": judged.why or None,
        "unserved": judged.unserved if judged.series == RESPONSE else None,
        "longest_ms": judged.longest_ms,
        "seen_one_in": judged.seen_one_in,
    }


def _unit(verdict: Verdict, unit: Measured) -> dict[str, Any]:
    facts = verdict.facts[unit.unit]
    return {
        "n": unit.n,
        "mean_ms": unit.mean_ms,
        "p50_ms": unit.p50_ms,
        "p90_ms": unit.p90_ms,
        "min_ms": unit.min_ms,
        "max_ms": unit.max_ms,
        "max_over_min": _finite(spread(unit)),
        "p90_over_min": _finite(tail(unit)),
        "thermal": list(unit.thermal),
        **_plain(facts),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _plain(value: object) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(value)
    return found
