"""The JSON document of a measured or replayed session: `bench --json` and `replay --headless --json` print the same.

Pure; numbers come from `session.statistics`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from hettop import events
from hettop.report.answers import answer_documents
from hettop.report.notes import beside_document, interruptions_document, protocol_document, tokens_document
from hettop.session.answers import gives_answers
from hettop.session.power_summary import power_summary
from hettop.session.session import Session
from hettop.session.statistics import statistics
from hettop.version import __version__

SCHEMA_VERSION = 1
"""Version of each JSON document: raised when a field is removed, renamed or changes its meaning, not for additions."""


def head(name: str) -> dict[str, Any]:
    """The first fields of a command's JSON document: its schema (`hettop.bench/1`) and the version of hettop."""
    return {"schema": f"hettop.{name}/{SCHEMA_VERSION}", "hettop": __version__}


def session_document(session: Session, skipped: dict[str, int] | None = None, *, name: str = "bench") -> dict[str, Any]:
    """The result document as plain dicts.

    Args:
        skipped: number of skipped lines by kind of defect, for replays.
        name: the document that it is, or is a part of.
    """
    opening, rows = session.header, statistics(session)
    document: dict[str, Any] = {
        **head(name),
        "simulated": session.simulated,
        "host": whole(opening.host) if opening else {},
        "model": _model(session),
        "power": msgspec.to_builtins(power_summary(session)),
        "conditions": [msgspec.to_builtins(row) for row in rows],
    }
    protocol = protocol_document(session, rows)
    if protocol is not None:
        document["protocol"] = protocol
    tokens = tokens_document(session)
    if tokens is not None:
        document["tokens"] = tokens
    if gives_answers(session):
        document["answers"] = answer_documents(session)
    variants = beside_document(session)
    if variants:
        document["beside"] = variants
    interruptions = interruptions_document(session)
    if interruptions:
        document["interruptions"] = interruptions
    if skipped is not None:
        document["skipped"] = skipped
    return document


def _model(session: Session) -> dict[str, Any]:
    """The header's model; its inputs are known only once an engine has loaded it."""
    if session.header is None:
        return {}
    model = whole(session.header.model)
    return {**model, "inputs": session.inputs or model["inputs"]}


def to_json(document: dict[str, Any]) -> str:
    """One line-broken JSON document, ready to print.

    In ASCII: the escapes keep the data exact, and nothing in a file's text can reach a terminal as a control character.
    """
    return json.dumps(json.loads(msgspec.json.encode(document)), indent=2)


def to_json_line(document: Mapping[str, Any]) -> str:
    """The same in one line."""
    return json.dumps(json.loads(msgspec.json.encode(document)), separators=(",", ":"))


def whole(struct: events.Host | events.ModelInfo) -> dict[str, Any]:
    """All fields of a struct, null where unknown: programs should not have to guess which keys exist."""
    return {name: getattr(struct, name) for name in struct.__struct_fields__}
