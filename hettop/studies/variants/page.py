"""Precision variants as a page: speed, size and output difference in sentences, the trade-off, the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hettop.format import UNKNOWN, count, milliseconds, percent, significant, size, unit_name
from hettop.report.explain import footnote
from hettop.report.page import Block, Items, Paragraph, Plot, Scale, Series, Spot, Table
from hettop.studies.sweep.findings import FAILED, GOOD, MAIN, MORE, cut
from hettop.studies.sweep.page import TONES
from hettop.studies.variants.result import VariantRow, VariantsResult

if TYPE_CHECKING:  # the screen is painted before the codec is imported
    from hettop.studies.variants.result import VariantRow, VariantsResult

HEADING = (
    "",
    "precision",
    "unit",
    "n",
    "P50 ms",
    "P90 ms",
    "speed",
    "95% of speed",
    "size",
    "max diff",
    "cosine",
    "top-1",
    "top-5",
    "why not",
)
LEFT = ("", "precision", "unit", "why not")
DROP = ("n", "95% of speed", "P90 ms", "cosine", "top-5")
MARK = "●"


def blocks(found: VariantsResult) -> Iterator[Block]:
    """Headline, figure, table, notes."""
    found = found.with_reference()
    for text, kind in variants_headline(found):
        yield Paragraph(text, TONES.get(kind, "text"))
    yield from _plot(found)
    if found.variants:
        yield Table(HEADING, [_row(each) for each in found.variants], LEFT, DROP)
        yield Paragraph(f"{MARK} {ON_FRONT}; {footnote('variants')}")
    notes = variant_notes(found)
    if notes:
        yield Items(notes)


def _row(each: VariantRow) -> tuple[str, ...]:
    return (
        MARK if each.front else "",
        each.precision,
        each.unit,
        count(each.n),
        milliseconds(each.p50_ms),
        milliseconds(each.p90_ms),
        speed_of(each),
        interval_of(each),
        size(each.size_bytes),
        difference_of(each),
        "" if each.cosine is None else f"{each.cosine:.6f}",
        top1_of(each),
        "" if each.top5 is None else percent(each.top5),
        each.error or "",
    )


def _plot(found: VariantsResult) -> Iterator[Plot]:
    """Latency against the difference: the front's points joined, the others hollow."""
    points = [(each, x) for each in found.variants if (x := across(found, each)) is not None and each.p50_ms]
    if len(points) < 2:
        return
    several = len({each.unit for each, _ in points}) > 1
    series = [
        Series("front", _spots([pair for pair in points if pair[0].front], several), tone="good"),
        Series(
            "dominated",
            _spots([pair for pair in points if not pair[0].front], several),
            joined=False,
            tone="muted",
        ),
    ]
    name = other_axis(found)
    x_scale = Scale("size, MB" if name == "size" else f"largest {name}", log=False)
    caption = f"Latency against {name}; the Pareto front is filled and joined."
    yield Plot([each for each in series if each.spots], x_scale, Scale("P50 in ms", log=False), caption)


def _spots(points: Sequence[tuple[VariantRow, float]], several: bool) -> list[Spot]:
    return [
        Spot(x, each.p50_ms or 0.0, f"{each.precision} {each.unit}" if several else each.precision, not each.front)
        for each, x in sorted(points, key=lambda pair: pair[1])
    ]


LONGEST_NAME = 24
AS_FAST = "1.00 times"
MOST_NAMED = 2
"""Variants in sentences of a kind; all are in the table."""

MEGABYTE = 1e6
ON_FRONT = "on the Pareto front"


def variants_headline(found: VariantsResult, *, short: bool = False) -> Iterator[tuple[str, str]]:
    """A sentence for each variant, the fastest first; what is on the front; what failed. Each with its kind."""
    ranked = sorted((each for each in found.variants if each.speed is not None), key=lambda each: -(each.speed or 0))
    for place, each in enumerate(ranked[:MOST_NAMED]):
        yield _in_words(found, each, short, first=place == 0), MORE if place else MAIN
    measured = [each for each in found.variants if each.n]
    front = [each for each in measured if each.front]
    if len(measured) > 1 and front:
        beaten = [each for each in measured if not each.front and across(found, each) is not None]
        behind = _behind(found, beaten, short)
        yield f"Pareto front of latency and {other_axis(found)}: {_names(found, front, short)}; {behind}.", GOOD
    for each in [each for each in found.variants if each.error is not None][:MOST_NAMED]:
        yield (
            f"{cut(each.precision, LONGEST_NAME)} on {_unit(each, short)} failed: {cut(each.error or '')}.",
            FAILED,
        )


def _behind(found: VariantsResult, beaten: Sequence[VariantRow], short: bool) -> str:
    if len(beaten) > MOST_NAMED:
        return f"{len(beaten)} are dominated"
    return f"dominated: {_names(found, beaten, short)}" if beaten else "none is dominated"


def other_axis(found: VariantsResult) -> str:
    """What latency is held against: the output difference, or the size where no difference is known."""
    return "output difference" if _has_differences(found) else "size"


def across(found: VariantsResult, each: VariantRow) -> float | None:
    """Its place on that axis: the largest absolute difference, or the size in MB."""
    if _has_differences(found):
        return each.max_abs
    return None if each.size_bytes is None else each.size_bytes / MEGABYTE


def difference_of(each: VariantRow) -> str:
    """In words for a table."""
    if each.reference and not each.max_abs:
        return "reference"
    of = f" of {significant(each.largest)}" if each.largest and each.max_abs is not None else ""
    return f"{significant(each.max_abs)}{of}"


def top1_of(each: VariantRow) -> str:
    return "" if each.reference and each.top1 is None else percent(each.top1)


def speed_of(each: VariantRow) -> str:
    if each.reference:
        return "1"
    return UNKNOWN if each.speed is None else f"{significant(each.speed)}x"


def interval_of(each: VariantRow) -> str:
    return "" if each.speed_ci is None else "–".join(map(significant, each.speed_ci))


def variant_notes(found: VariantsResult) -> list[str]:
    """Those of the study, those of each variant once, what to do about failures, and what is left out."""
    more = [f"{count(found.rest_n)} more are only in --json"] if found.rest_n else []
    of_each = dict.fromkeys(each.note for each in found.variants if each.note)
    return [*found.notes, *of_each, *_hints(found), *more]


def _hints(found: VariantsResult) -> Iterator[str]:
    for each in found.variants:
        error = None if each.statistics is None else each.statistics.error
        if error is not None and error.hint:
            yield f"{each.unit} {each.precision}: {error.message} ({error.hint})"


def _has_differences(found: VariantsResult) -> bool:
    return any(each.max_abs is not None for each in found.variants)


def _in_words(found: VariantsResult, each: VariantRow, short: bool, *, first: bool) -> str:
    """Its speed with the interval, its size and how far off it is."""
    reference = next((other for other in found.variants if other.reference and other.unit == each.unit), None)
    low, high = each.speed_ci or (None, None)
    times, interval = f"{significant(each.speed)} times", ""
    if low is not None and high is not None:
        interval = f" ({'' if low > 1 or high < 1 else 'not proven: '}{significant(low)} to {significant(high)})"
    size = ""
    if reference is not None and reference.size_bytes and each.size_bytes is not None:
        size = f", {percent(each.size_bytes / reference.size_bytes)} of the size"
    same = "" if each.top1 is None or each.top1 == 1 else f" (top-1 equal in {percent(each.top1)})"
    off = "" if each.max_abs is None else f", output difference up to {significant(each.max_abs)}{same}"
    whole = cut(reference.precision, LONGEST_NAME) if reference is not None else "the model as it is"
    called = _names(found, [each], short)
    if not first:
        return f"{called}: {times}{interval}{size}{off}."
    if times == AS_FAST:
        return f"{called} is as fast as {whole}{interval}{size}{off}."
    return f"{called} is {times}{interval} as fast as {whole}{size}{off}."


def _names(found: VariantsResult, some: Sequence[VariantRow], short: bool) -> str:
    several = len({each.unit for each in found.variants}) > 1
    return ", ".join(
        cut(each.precision, LONGEST_NAME) + (f" on {_unit(each, short)}" if several else "") for each in some
    )


def _unit(each: VariantRow, short: bool) -> str:
    return unit_name(cut(each.unit, LONGEST_NAME), short=short)
