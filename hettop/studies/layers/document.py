"""What `hettop layers` and `hettop roofline` found, as one line of the stream tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hettop.studies.layers.findings import RIDGE
from hettop.studies.layers.result import LayersResult
from hettop.studies.result import ROWS_LIMIT
from hettop.studies.texts import notes, number, short

MOST_OPS = 24
LONGEST_NAME = 80


def found(document: Mapping[str, Any]) -> LayersResult:
    """Of its layers, those that take longest, in the order in which they run. Raises ValueError and such."""
    layers = document["layers"]
    kept = _largest(layers)
    rest = [layer for i, layer in enumerate(layers) if i not in kept]
    whole = document.get("model", {}) if "gflops" in document.get("model", {}) else None
    raw = {
        "of": "layers",
        "unit": short(document["unit"]),
        "threads": document.get("threads"),
        "estimated": document["estimated"],
        "total_ms": number(document["total_ms"]),
        "end_to_end_ms": number(document["end_to_end_ms"]),
        "by_op": _by_op(document["by_op"] if "by_op" in document else _shares(layers)),
        "layers": [_layer(layer) for i, layer in enumerate(layers) if i in kept],
        "rest_n": len(rest),
        "rest_ms": number(sum(layer["ms"] for layer in rest)),
        "roofs": _roofs(document.get("roofs")),
        "whole": None if whole is None else _layer(whole),
        "notes": notes(document.get("notes", ())),
    }
    return LayersResult.from_line(raw)


def _largest(layers: Sequence[Mapping[str, Any]]) -> set[int]:
    by_time = sorted(range(len(layers)), key=lambda i: -layers[i]["ms"])
    return set(by_time[:ROWS_LIMIT])


def _shares(layers: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    shares: dict[str, float] = {}
    for layer in layers:
        shares[layer["op"]] = shares.get(layer["op"], 0.0) + layer["share"]
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def _by_op(shares: Mapping[str, float]) -> dict[str, float | None]:
    return {str(short(op, LONGEST_NAME)): number(min(1.0, share)) for op, share in list(shares.items())[:MOST_OPS]}


def _layer(layer: Mapping[str, Any]) -> list[Any]:
    return [
        short(layer["name"], LONGEST_NAME),
        short(layer["op"], LONGEST_NAME),
        number(layer["ms"]),
        number(layer["share"]),
        layer["macs"],
        layer["bytes"],
        RIDGE if layer.get("near_ridge") else layer["bound"],
        layer["cache_resident"],
        short(layer.get("device")),
        layer.get("fallback"),
    ]


def _roofs(roofs: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if roofs is None:
        return None
    return {
        "gflops": number(roofs["gflops"]),
        "gbytes_per_s": number(roofs["gbytes_per_s"]),
        "threads": roofs.get("threads"),
        "measured": roofs["measured"],
        "source": short(roofs.get("source")),
    }
