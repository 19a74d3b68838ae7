"""The page that `hettop inspect` prints for a model.

Pure text, no colours; every number is the JSON document's, and what is unknown reads `n/a`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence

from hettop.format import UNKNOWN, count, percent, short_count, significant, size
from hettop.models.inspection.inspection import Inspection, notes_of, placement_note
from hettop.models.ports import Port
from hettop.text import clean

WIDTH = 100
_LABEL = 13
_BAR = 24
_NARROWEST = 40  # narrower, sentences fall apart
_FORMATS = {
    "onnx": "ONNX",
    "mlprogram": "Core ML program",
    "neuralnetwork": "Core ML neural network",
    "pipeline": "Core ML pipeline",
    "coreai": "Core AI asset",
}


def page(inspection: Inspection, width: int = WIDTH) -> str:
    """The whole page, ending with a line feed; notes are wrapped to `width`."""
    parts = [
        _title(inspection),
        _interface(inspection),
        _stages(inspection),
        _totals(inspection),
        _operations(inspection),
        _missing(inspection),
        _closing(inspection, max(width, _NARROWEST)),
    ]
    return "\n\n".join("\n".join(line.rstrip() for line in part) for part in parts if part) + "\n"


def _title(inspection: Inspection) -> list[str]:
    what = [_FORMATS.get(inspection.format, f"Core ML {inspection.format}")]
    what += [f"{clean(name)} {value}".removeprefix("target ") for name, value in inspection.requires.items()]
    return [clean(inspection.name), " · ".join(what)]


def _interface(inspection: Inspection) -> list[str]:
    rows = [
        *(("takes", _port(port, inspection.shapes)) for port in inspection.inputs),
        *(("gives", _port(port)) for port in inspection.outputs),
        *(("keeps", _port(port)) for port in inspection.states),
    ]
    names = _columns([name for _, (name, *_) in rows])
    lines = []
    for index, (label, (name, *rest)) in enumerate(rows):
        first = index == 0 or rows[index - 1][0] != label
        lines.append(f"{label if first else '':<{_LABEL}}{name:<{names}}  {'  '.join(filter(None, rest))}")
    if len(inspection.functions) > 1:
        others = [f"{clean(each)}{' *' if each == inspection.function else ''}" for each in inspection.functions]
        lines.append(f"{'functions':<{_LABEL}}{', '.join(others)}  (* described here)")
    return lines


def _port(port: Port, shapes: Mapping[str, tuple[int, ...]] | None = None) -> tuple[str, str, str]:
    """Name, type with shape, and what else there is to say."""
    axes = ", ".join(str(axis) if isinstance(axis, int) else "?" for axis in port.shape)
    words = [port.color or "image"] if port.kind == "image" else [] if port.kind in ("array", "state") else [port.kind]
    words += ["optional"] if port.optional else []
    counted = (shapes or {}).get(port.name)
    if counted is not None and any(not isinstance(axis, int) for axis in port.shape):
        words.append(f"counted as [{', '.join(map(str, counted))}]")
    shape = f" [{axes}]" if axes else " [?]" if port.kind == "array" else ""
    return clean(port.name, 48), f"{port.dtype}{shape}", ", ".join(words)


def _stages(inspection: Inspection) -> list[str]:
    return [
        f"{'stages' if index == 0 else '':<{_LABEL}}{index + 1}. {clean(name)} ({clean(kind)})"
        for index, (name, kind) in enumerate(inspection.stages)
    ]


def _totals(inspection: Inspection) -> list[str]:
    totals = inspection.totals
    if totals is None:
        return [f"{'precision':<{_LABEL}}{inspection.precision}"] if inspection.precision else []
    rows = [
        ("parameters", count(totals.parameters), f"{size(totals.weight_bytes)} stored"),
        ("MACs", count(totals.macs), "per call" if totals.macs is not None else ""),
        ("activations", size(totals.activation_bytes), "written per call" if totals.activation_bytes else ""),
        ("intensity", significant(totals.intensity), "MACs per byte" if totals.intensity else ""),
        ("precision", totals.precision or UNKNOWN, ""),
    ]
    values = _columns([value for _, value, remark in rows if remark])
    return [f"{label:<{_LABEL}}{value:<{values}}  {remark}" for label, value, remark in rows]


def _operations(inspection: Inspection) -> list[str]:
    """A row per type: how often it occurs, and which part of the multiply-accumulates it does."""
    ops = sorted(inspection.ops.items(), key=lambda item: (-item[1], item[0]))
    if not ops:
        return []
    macs = inspection.totals.macs_by_op if inspection.totals else {}
    whole = inspection.totals.macs if inspection.totals else None  # of an unknown whole nothing is a share
    names, most = _columns([clean(op) for op, _ in ops]), ops[0][1]
    lines = [f"{'operations':<{_LABEL}}{count(sum(inspection.ops.values()))} of {len(ops)} types"]
    for op, number in ops:
        bar = "▇" * max(1, round(_BAR * number / most))
        share = f"{percent(macs[op] / whole)} of MACs" if whole and macs.get(op) else ""
        lines.append(f"  {clean(op):<{names}}  {short_count(number):>5}  {bar:<{_BAR}}  {share}")
    return lines


def _missing(inspection: Inspection) -> list[str]:
    if not inspection.missing_ops:
        return []
    head = "needs Core ML: these operations have no translation"
    return [head, *(f"  {clean(each.op)} at {clean(each.place)}" for each in inspection.missing_ops)]


def _closing(inspection: Inspection, width: int) -> list[str]:
    rows = [("note", note) for note in notes_of(inspection)]
    rows.append(("placement", f"{UNKNOWN}: {placement_note(inspection).removeprefix('placement ')}"))
    lines: list[str] = []
    for label, text in rows:
        lines += textwrap.wrap(
            clean(text, 600),
            width,
            initial_indent=f"{label:<{_LABEL}}",
            subsequent_indent=" " * _LABEL,
            break_on_hyphens=False,
        )
    return lines


def _columns(cells: Sequence[str] | Iterable[str]) -> int:
    return max((len(cell) for cell in cells), default=0)
