"""A comparison of two recordings as blocks of a page, as a JSON document, and as JUnit XML for CI.

Pure; whatever came from a file is cleaned here.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any
from xml.etree import ElementTree

from hettop.analysis.comparison import Compared, Comparison
from hettop.analysis.environment_diff import MODEL, MODEL_FACTS, Circumstance, Difference
from hettop.analysis.quantile_differences import QuantileDifference
from hettop.events import NO_LOAD
from hettop.format import UNKNOWN, count, milliseconds, percent
from hettop.report.document import head
from hettop.report.page import Block, Items, Paragraph, Table
from hettop.stats.runs import LEAST_RUNS
from hettop.text import clean

HEADING = ("unit", "load", "n of A", "n of B", "", "A", "B", "change", "95% of the difference", "result")
_LEFT = ("unit", "load", "", "result")
_DISPENSABLE = ("n of A", "n of B", "A")
SHA_SHOWN = 12
UNDECIDED = "undecided: neither a regression nor its absence is proven; hint: add runs"

ONE_RUN = (
    "one run a side: two runs of one model differ, too; "
    f"for proof, add runs with --before and --after, at least {LEAST_RUNS} a side"
)


def comparison_blocks(comparison: Comparison, names: tuple[str, str]) -> Iterator[Block]:
    """The result, what it rests on, a row for each quantile, and what differs besides.

    names: of A's first recording, and of B's.
    """
    yield Paragraph(", ".join(_named(comparison, names)), "muted")
    for text in _models(comparison):
        yield Paragraph(text, "muted")
    for text in _unfair(comparison):
        yield Paragraph(text, "warning")
    yield Paragraph(_result(comparison), "error" if comparison.regressions else "strong")
    if not comparison.several:
        yield Paragraph(ONE_RUN, "muted")
    for text in _caution(comparison):
        yield Paragraph(text, "warning")
    worse = {id(condition): comparison.worse_for(condition) for condition in comparison.conditions}
    rows = [row for condition in comparison.conditions for row in _rows(condition, worse[id(condition)])]
    if rows:
        yield Table(HEADING, rows, _LEFT, _DISPENSABLE)
    notes = [*_reasons(comparison), *_apart(comparison), *_circumstances(comparison)]
    if notes:
        yield Items(notes)


def _named(comparison: Comparison, names: tuple[str, str]) -> Iterator[str]:
    for side, name, runs, simulated in zip("AB", names, comparison.runs, comparison.simulated, strict=True):
        more = f" and {runs - 1} more runs" if runs > 1 else ""
        yield f"{side} is {clean(name, 80)}{more}{' (SIMULATED)' if simulated else ''}"


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """`compare --json`; times in ms, ratios as shares."""
    return {
        **head("compare"),
        "simulated": dict(zip("ab", comparison.simulated, strict=True)),
        "tolerance": comparison.tolerance,
        "fair": comparison.fair,
        "differences": [_plain(difference) for difference in comparison.differences],
        "conditions": [_condition(condition) for condition in comparison.conditions],
        "only_a": [{"unit": unit, "load": load} for unit, load in comparison.only_a],
        "only_b": [{"unit": unit, "load": load} for unit, load in comparison.only_b],
        "regressions": comparison.regressions,
        "runs": dict(zip("ab", comparison.runs, strict=True)),
        "equivalent": comparison.equivalent,
        "proven": comparison.proven,
        "circumstances": [_circumstance(each) for each in comparison.circumstances],
        "circumstances_untold": list(comparison.untold),
    }


def comparison_junit(comparison: Comparison, *, require_proof: bool = False) -> bytes:
    """A test case for each condition: failed if it regressed, skipped if it could not be compared or is undecided.

    require_proof: whether one that is undecided failed.
    """
    skipped = sum(map(_uncomparable, comparison.conditions))
    undecided = sum(_undecided(comparison, condition, require_proof) for condition in comparison.conditions)
    suite = ElementTree.Element(
        "testsuite",
        name="hettop compare",
        tests=str(len(comparison.conditions) + len(comparison.only_a)),
        failures=str(comparison.regressions + (undecided if require_proof else 0)),
        errors="0",
        skipped=str(skipped + len(comparison.only_a) + (0 if require_proof else undecided)),
    )
    properties = ElementTree.SubElement(suite, "properties")
    for side, runs in zip("AB", comparison.runs, strict=True):
        ElementTree.SubElement(properties, "property", name=f"runs of {side}", value=str(runs))
    ElementTree.SubElement(properties, "property", name="proven", value="true" if comparison.proven else "false")
    for side, simulated in zip("AB", comparison.simulated, strict=True):
        if simulated:
            ElementTree.SubElement(properties, "property", name="SIMULATED", value=side)
    for text in _models(comparison):
        ElementTree.SubElement(properties, "property", name="models", value=text)
    for text in _unfair(comparison):
        ElementTree.SubElement(properties, "property", name="unfair", value=text)
    for text in _circumstances(comparison):
        ElementTree.SubElement(properties, "property", name="circumstances", value=text)
    for condition in comparison.conditions:
        case = _case(suite, condition.unit, condition.load)
        if condition.regression:
            failure = ElementTree.SubElement(case, "failure", type="regression", message=_said(condition))
            failure.text = "\n".join(" ".join(row).strip() for row in _rows(condition))
        elif _uncomparable(condition):
            ElementTree.SubElement(case, "skipped", message=clean(condition.why))
        elif _undecided(comparison, condition, require_proof):
            kind = {"type": "undecided"} if require_proof else {}
            ElementTree.SubElement(case, "failure" if require_proof else "skipped", kind, message=UNDECIDED)
    for unit, load in comparison.only_a:
        ElementTree.SubElement(_case(suite, unit, load), "skipped", message="not measured in B")
    ElementTree.indent(suite)
    return bytes(ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)) + b"\n"


def _case(suite: ElementTree.Element, unit: str, load: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=f"load {clean(load, 60)}", name=clean(unit, 30))


def _uncomparable(condition: Compared) -> bool:
    return not condition.quantiles and not condition.failed


def _undecided(comparison: Comparison, condition: Compared, require_proof: bool) -> bool:
    """Whether it was to be proven and is not: one run a side proves nothing, and says so."""
    return (comparison.several or require_proof) and not (
        condition.regression or _uncomparable(condition) or condition.proven
    )


def _said(condition: Compared) -> str:
    if condition.failed:
        return clean(condition.why)
    told = [
        f"{name.upper()} {percent(_change(quantile), signed=True)}, "
        f"{'proven' if quantile.between_runs else 'in this run at least'}: {percent(quantile.beyond, signed=True)}"
        for name, quantile in condition.quantiles.items()
        if quantile.regressed
    ]
    return "; ".join(told)


def _rows(condition: Compared, worse: AbstractSet[str] = frozenset()) -> Iterator[tuple[str, ...]]:
    """`worse` are the sides that were measured under worse circumstances."""
    start = clean(condition.unit, 30), clean(condition.load, 30), *map(count, condition.n)
    if not condition.quantiles:
        yield *start, "", "", "", "", "", _without_quantiles(condition)
    for index, (name, quantile) in enumerate(condition.quantiles.items()):
        low, high = (milliseconds(end) for end in quantile.ci_ms)
        yield (
            *(start if index == 0 else ("", "", "", "")),
            name.upper(),
            milliseconds(quantile.a_ms),
            milliseconds(quantile.b_ms),
            percent(_change(quantile), signed=True),
            f"{low} to {high} ms",
            _word(quantile, worse),
        )


def _without_quantiles(condition: Compared) -> str:
    return "REGRESSION" if condition.failed else "not compared"


def _reasons(comparison: Comparison) -> Iterator[str]:
    """Below the table: a sentence in a cell would take space from the columns beside it."""
    for condition in comparison.conditions:
        if not condition.quantiles:
            load = "" if condition.load == NO_LOAD else f" under {clean(condition.load, 30)}"
            what = "" if condition.failed else " not compared"
            yield f"{clean(condition.unit, 30)}{load}{what}: {clean(condition.why, 120)}"


def _word(quantile: QuantileDifference, worse: AbstractSet[str]) -> str:
    if quantile.regressed:
        proven = ", proven" if quantile.between_runs else ""
        return f"REGRESSION{proven} (B under worse circumstances)" if "b" in worse else f"REGRESSION{proven}"
    if not quantile.between_runs:
        return "slower, regression undecided" if quantile.slower else "faster" if quantile.faster else "not significant"
    if quantile.equivalent:
        return "the same, proven"
    if quantile.faster:
        return "faster, proven"
    if quantile.proven:
        return "no regression, proven"
    return "slower, proven; regression undecided" if quantile.slower else "undecided"


def _change(quantile: QuantileDifference) -> float | None:
    return quantile.diff_ms / quantile.a_ms if quantile.a_ms else None


def _models(comparison: Comparison) -> Iterator[str]:
    """That two models are compared, which is what a comparison of an old and a new one is for."""
    changed = {each.what: each for each in comparison.differences if each.what in MODEL_FACTS}
    if not changed:
        return
    a = " ".join(_model_fact(what, each.a) for what, each in changed.items())
    b = " ".join(_model_fact(what, each.b) for what, each in changed.items())
    yield f"compares two models: {a} in A, {b} in B"


def _model_fact(what: str, value: str | None) -> str:
    if what == MODEL:
        return UNKNOWN if value is None else clean(value, 70)
    return f"sha256 {UNKNOWN if value is None else clean(value[:SHA_SHOWN], 70)}"


def _unfair(comparison: Comparison) -> Iterator[str]:
    for difference in comparison.differences:
        if difference.what in MODEL_FACTS:
            continue
        yield f"not like for like: {_difference(difference)}"
    for condition in comparison.conditions:
        if condition.thermal is not None:
            where = f"{clean(condition.unit, 30)} under {clean(condition.load, 30)}"
            yield f"not like for like: {where}: {_difference(condition.thermal)}"


def _difference(difference: Difference) -> str:
    a, b = (UNKNOWN if side is None else clean(side, 70) for side in (difference.a, difference.b))
    return f"{clean(difference.what, 40)} is {a} in A, {b} in B"


def _apart(comparison: Comparison) -> Iterator[str]:
    for name, keys in (("A", comparison.only_a), ("B", comparison.only_b)):
        if keys:
            listed = ", ".join(f"{clean(unit, 30)} under {clean(load, 30)}" for unit, load in keys[:8])
            yield f"only in {name}: {listed}{' …' if len(keys) > 8 else ''}"


def _result(comparison: Comparison) -> str:
    n = comparison.regressions
    beyond = f"slower by more than {percent(comparison.tolerance)}"
    if n > 0:
        proven = "proven " if comparison.several else ""
        return f"{n} regression{'s' if n > 1 else ''}: {proven}{beyond}, or failed"
    if all(map(_uncomparable, comparison.conditions)):
        return "not compared: insufficient data"
    if not comparison.several:
        return f"no regression: no condition was {beyond} in this run"
    if comparison.equivalent:
        return f"the same within ±{percent(comparison.tolerance)}, proven"
    if comparison.proven:
        return f"no regression, proven: no condition is {beyond}"
    undecided = sum(not condition.proven for condition in comparison.conditions)
    return f"undecided: {undecided} of {len(comparison.conditions)} conditions may be {beyond}; hint: add runs"


def _circumstances(comparison: Comparison) -> Iterator[str]:
    """What the machine was like meanwhile, where that has not been said as unfair."""
    for each in comparison.circumstances:
        if each.measure is not None:
            told = f"{clean(each.what, 40)}: {_amount(each.a, each)} in A, {_amount(each.b, each)} in B"
            yield f"other circumstances: {_while(each)}{told}"


def _while(each: Circumstance) -> str:
    return "" if each.unit is None else f"{clean(each.unit, 30)} under {clean(each.load or UNKNOWN, 30)}: "


def _amount(value: float | str | None, each: Circumstance) -> str:
    if value is None or isinstance(value, str):
        return UNKNOWN if value is None else clean(value, 70)
    match each.measure:
        case "share":
            return percent(value)
        case "percent":
            return percent(value / 100)
        case "ms":
            return f"{milliseconds(value)} ms"
    return f"{value:.1f}"


def _caution(comparison: Comparison) -> Iterator[str]:
    """What the circumstances mean for the result."""
    regressed = [condition for condition in comparison.conditions if condition.regression and not condition.failed]
    others = [condition for condition in comparison.conditions if not condition.regression]
    if any("b" in comparison.worse_for(condition) for condition in regressed):
        yield (
            "B was measured under worse circumstances (below), which may explain the regression; "
            "hint: measure both again, interleaved on a quiet machine (hettop bench A.onnx --against "
            "B.onnx)"
        )
    if any("a" in comparison.worse_for(condition) for condition in others):
        yield "A was measured under worse circumstances (below), which may hide that B is slower"
    if regressed and comparison.untold:
        sides = " and ".join(side.upper() for side in comparison.untold)
        yield f"background activity of {sides} is unknown: recording too short, or no core was idle"


def _circumstance(each: Circumstance) -> dict[str, Any]:
    told = {"what": each.what, "unit": each.unit, "load": each.load, "a": each.a, "b": each.b}
    return {**told, "measure": each.measure, "worse": each.worse}


def _condition(condition: Compared) -> dict[str, Any]:
    return {
        "unit": condition.unit,
        "load": condition.load,
        "n": list(condition.n),
        "quantiles": {name: _quantile(quantile) for name, quantile in condition.quantiles.items()},
        "regression": condition.regression,
        "runs": list(condition.runs),
        "equivalent": condition.equivalent,
        "proven": condition.proven,
        "failed": condition.failed,
        "why": condition.why or None,
        "thermal": None if condition.thermal is None else _plain(condition.thermal),
    }


def _quantile(quantile: QuantileDifference) -> dict[str, Any]:
    return {
        "a_ms": quantile.a_ms,
        "b_ms": quantile.b_ms,
        "diff_ms": quantile.diff_ms,
        "ci_ms": list(quantile.ci_ms),
        "proven_slower_by": quantile.beyond if quantile.beyond > 0 else None,
        "slower": quantile.slower,
        "faster": quantile.faster,
        "regression": quantile.regressed,
        "change": _change(quantile),
        "change_ci": list(quantile.change_ci),
        "equivalent": quantile.equivalent,
        "proven": quantile.proven,
    }


def _plain(difference: Difference) -> dict[str, str | None]:
    return {"what": difference.what, "a": difference.a, "b": difference.b}
