"""Panel 5: watts per rail over the time window and energy per inference; or why there are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hettop.format import UNKNOWN, percent, seconds, significant, unit_name, watts
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, wrapped
from hettop.session.views.machine import ClusterRow, PowerView, RailRow
from hettop.session.views.structs import UnitRow
from hettop.stats.axes import nice_ceiling
from hettop.text import clean
from hettop.tui.frame_state import FrameState
from hettop.tui.panels.curves import curve, time_axis
from hettop.tui.panels.panel import AutoHeightPanel, inner_size

_NAME = 5
_NUMBER = 6
_AXIS = 5
"""Cells of the labels of an upright axis and its stroke."""

_SMALLEST_SPARK = 8
_ROOMY = 90  # from this width on with the meaning of the sum
_WIDE = 52  # from this width on with columns for mean and peak
_RAIL_LINES = ((56, 3), (38, 2))
"""Lines of a screen from which on a rail is a curve of so many lines with an axis; else it is one line of bars."""

CAPTURE = " CAPTURE "
_NAMES = {"package": "PKG", "sum": "sum", "Intel GPU": "INTEL", "AMD GPU": "AMD"}
_NVIDIA = "NVIDIA"


@dataclass(frozen=True, slots=True)
class Drawing:
    """How power is drawn: cells per line, lines per rail, whether in braille, and nanoseconds from left to right."""

    width: int
    rail_rows: int = 1
    braille: bool = True

    @property
    def numbers(self) -> int:
        """How many numbers stand before a curve."""
        return 3 if self.width >= _WIDE else 1

    @property
    def curve_columns(self) -> int:
        axis = _AXIS if self.rail_rows > 1 else 0
        return self.width - _NAME - _NUMBER * self.numbers - 1 - axis

    @property
    def slots(self) -> int:
        """How many values a curve can show."""
        return max(1, self.curve_columns * (2 if self.braille and self.rail_rows > 1 else 1))


class PowerPanel(AutoHeightPanel):
    """Power, in absolute watts on a printed scale."""

    NUMBER = 5

    @property
    def columns(self) -> int:
        """How many slots fit beside the numbers."""
        if self.zoomed:
            return large_slots(inner_size(self.size.width, self.size.height)[0])
        return self._drawing(inner_size(self.size.width, self.size.height)[0]).slots

    def _drawing(self, width: int) -> Drawing:
        braille = self.frame_state.braille if self.frame_state is not None else True
        lines = next((lines for least, lines in _RAIL_LINES if self.screen_height >= least), 1)
        return Drawing(width, lines, braille=braille)

    def title(self, frame_state: FrameState) -> Line:
        view = frame_state.session.power
        thermal = f" · {clean(view.thermal, 20)}" if view.thermal else ""
        doubt = f" · {', '.join(clean(flag, 20) for flag in view.flags)}" if view.flags else ""
        capture: Line = ((" ", "text"), (CAPTURE, "simulated")) if view.capture else ()
        return line(("power W", "title"), *capture, (thermal, "muted"), (doubt, "warning"))

    def foot(self, frame_state: FrameState) -> Line:
        view = frame_state.session.power
        if not view.rails:
            return ()
        every = f" every {seconds(view.interval_ns)}" if view.interval_ns else ""
        scale = f"0–{nice_ceiling(view.top_w):g} W" if view.top_w else ""
        return line((" ", "text"), (scale, "muted"), (f" · {clean(view.source or '', 16)}{every}", "muted"))

    def rows(self, frame_state: FrameState, width: int) -> list[Line]:
        view = self._view(frame_state)
        if frame_state.replay is not None and view.state is None and not view.rails:
            return [fit(line((f"{UNKNOWN}: no power in the recording up to this moment", "muted")), width)]
        return draw_power(view, self._drawing(width), frame_state.session.units.rows)

    def body(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        view = self._view(frame_state)
        if not view.rails:
            return super().body(frame_state, width, height)
        if not self.zoomed:
            rows = super().body(frame_state, width, height)
            more = (height - len(self._rows(frame_state, width))) // len(view.rails)
            if more < 1:
                return rows
            drawing = self._drawing(width)
            taller = replace(drawing, rail_rows=drawing.rail_rows + more)
            rows = draw_power(view, taller, frame_state.session.units.rows)
            return [*rows, *[fit((), width)] * (height - len(rows))][:height]
        session = frame_state.session
        return large_power(view, session.units.rows, (width, height), braille=frame_state.braille)

    @staticmethod
    def _view(frame_state: FrameState) -> PowerView:
        """A replay cannot be given access to anything."""
        view = frame_state.session.power
        return view if frame_state.replay is None else replace(view, needs_access=False)


def draw_power(view: PowerView, how: Drawing, units: Sequence[UnitRow] = ()) -> list[Line]:
    """The panel's lines, most important first: rails, their sum, energy, the source's trouble, clusters."""
    width = how.width
    rows = [drawn for row in view.rails for drawn in _rail(row, view.top_w, how)]
    if view.estimate is not None:
        rows += _rail(view.estimate, view.top_w, how, ink="strong", flat=True)
    if rows and width >= _WIDE:
        rows.insert(0, _heading(width))
    if view.capture and rows:
        rows.insert(0, fit(line(("from a capture: no energy per inference", "warning")), width))
    rows += _energies(view, units, width)
    if not rows or view.state not in ("running", None):
        rows += _trouble(view, width)
    return [*rows, *(_cluster(row, width) for row in view.clusters), *_accelerators(view, width)]


def _heading(width: int) -> Line:
    titles = "".join(f"{title:>{_NUMBER}}" for title in ("now", "mean", "peak"))
    return fit(line((f"{'':{_NAME}}{titles}", "muted")), width)


def _rail(row: RailRow, top_w: float | None, how: Drawing, ink: str = "text", *, flat: bool = False) -> list[Line]:
    """A rail's name and numbers, and beside them its curve on the panel's common scale; `flat`: in a single line."""
    numbers = [row.now_w, row.mean_w, row.peak_w] if how.numbers > 1 else [row.now_w]
    spans: list[Span] = [(f"{rail_name(row.rail):<{_NAME}}", "muted")]
    for at, value_w in enumerate(numbers):
        spans.append((f"{watts(value_w):>{_NUMBER}}", ink if value_w is not None and not at else "muted"))
    if how.curve_columns < _SMALLEST_SPARK:
        return [fit(tuple(spans), how.width)]
    top = nice_ceiling(top_w or 1.0)
    drawn = curve(row.slots, top, how.curve_columns, 1 if flat else how.rail_rows, braille=how.braille)
    blank: Span = (" " * (_NAME + _NUMBER * how.numbers), "text")
    axis = upright_axis(f"{top:g}", how.rail_rows) if len(drawn) > 1 else [" " * (how.width - how.curve_columns)]
    axis = [label[-(how.width - how.curve_columns - _NAME - _NUMBER * how.numbers) :] for label in axis]
    return [
        fit((*(spans if not at else [blank]), (label, "muted"), (text, "low")), how.width)
        for at, (label, text) in enumerate(zip(axis, drawn, strict=True))
    ]


def rail_name(rail: str) -> str:
    return _NAMES.get(rail, clean(rail.replace(_NVIDIA, "NV"), _NAME - 1).upper())


def upright_axis(top: str, rows: int) -> list[str]:
    """The labels of an axis from 0 to `top` and its stroke, a text for each of two or more lines."""
    labels = [top, *[""] * (rows - 2), "0"]
    return [f"{label:>{_AXIS}}{glyphs.AXIS_TICK if label else glyphs.AXIS_UP}" for label in labels]


def _energies(view: PowerView, units: Sequence[UnitRow], width: int) -> list[Line]:
    """Energy per inference: of every unit where there are several, else of the viewed one."""
    measured = [row for row in units if row.n]
    if len(measured) < 2 or not view.rails or view.capture:
        return [] if view.energy_mj is None else [_energy(view, width)]
    lacking = [row for row in measured if row.energy_mj is None]
    names = {row.unit: clean(unit_name(row.unit, short=True), 16) for row in measured}
    net = any(row.net_mj is not None for row in measured)
    rows: list[Line] = []
    head = "mJ/inf (net) " if net else "mJ/inf "
    current: Line = line((head, "muted"))
    for row in measured:
        figure = significant(row.energy_mj) + (f" ({significant(row.net_mj)})" if row.net_mj is not None else "")
        item: Line = ((f"{names[row.unit]} ", "muted"), (f"{figure}  ", "strong" if row.active else "text"))
        cells = sum(len(text) for text, _ in (*current, *item))
        if cells - 2 > width and current:
            rows.append(fit(_stripped(current), width))
            current = ((" " * len(head), "text"),)
        current = (*current, *item)
    rows.append(fit(_stripped(current), width))
    reasons = sorted({row.energy_lacking for row in lacking if row.energy_lacking})
    return rows + [
        fit(line((text, "muted")), width)
        for reason in reasons
        for text in wrapped(f"{UNKNOWN}: {clean(reason)}", width)
    ]


def _stripped(spans: Line) -> Line:
    *head, (text, ink) = spans
    return (*head, (text.rstrip(), ink))


def _energy(view: PowerView, width: int) -> Line:
    net = f", net {significant(view.net_mj)}" if view.net_mj is not None else ""
    if view.baseline_w is not None and width >= _ROOMY:
        net += f" (idle baseline {watts(view.baseline_w)} W)"
    hint = "" if view.net_mj is not None or width < _WIDE else " (b: idle baseline, for net)"
    meaning = f" · sum: {_meaning(view)} (estimate)" if width >= _ROOMY else ""
    figure = line((f"{significant(view.energy_mj)} mJ", "strong"), (f" per inference{net}", "text"))
    return fit(line(*figure, (hint, "muted"), (meaning, "muted")), width)


def _meaning(view: PowerView) -> str:
    """The rails that the sum is made of."""
    of_pc = "package" in view.made_of or view.accelerators
    return "+".join(map(rail_name, view.made_of)) if of_pc else "CPU+GPU+ANE"


def _trouble(view: PowerView, width: int) -> list[Line]:
    """Why there is none, and the fix."""
    if view.state in (None, "starting"):
        return [fit(line(("looking for a power source …", "muted")), width)]
    # The reason of a running source is a note, not the cause of missing samples.
    waiting = view.state == "running" and not view.accelerators
    stopped = f"the power source has {view.state}" if view.state == "stopped" else view.state
    why = "no usable sample yet" if waiting else view.reason or stopped
    key = ", press p" if view.needs_access and view.state != "running" else ""
    words = f"{UNKNOWN}: {why}{key}"
    rows = [fit(line((text, "warning")), width) for text in wrapped(clean(words), width)]
    return rows + [fit(line((text, "muted")), width) for text in wrapped(clean(view.fix), width)]


def _cluster(row: ClusterRow, width: int) -> Line:
    """Busy share, clock, and a bar of the busy share."""
    head = f"{_cluster_name(row):<{_NAME}}{percent(row.busy):>{_NUMBER}}"
    room = width - len(head) - 10
    bar = glyphs.FULL * round((row.busy or 0.0) * room) if room >= _SMALLEST_SPARK else ""
    return fit(line((head, "muted"), (f" {_clock(row):>8} ", "muted"), (bar, "low")), width)


def _accelerators(view: PowerView, width: int) -> list[Line]:
    """What each GPU and NPU did: busy share, clock, the share by this session's engines, temperature; or why not."""
    rows = []
    for each in view.accelerators:
        clock = UNKNOWN if each.mhz is None else f"{each.mhz / 1000:.2f} GHz"
        own = "" if each.engine_busy is None else f"  engines {percent(each.engine_busy)}"
        warm = "" if each.temperature_c is None else f"  {each.temperature_c:.0f} °C"
        head = f"{rail_name(each.name):<{_NAME}}{percent(each.busy):>{_NUMBER}} {clock:>8}{own}{warm}"
        why = f"  {clean(each.why)}" if each.why else ""
        rows.append(fit(line((head, "text"), (why, "muted")), width))
    return rows


def _cluster_name(row: ClusterRow) -> str:
    return clean(row.name.removesuffix("-Cluster"), _NAME - 1)


def _clock(row: ClusterRow) -> str:
    return UNKNOWN if row.mhz is None else f"{row.mhz / 1000:.2f} GHz"


# -- the zoomed panel -------------------------------------------------------------------------------------------------

_LARGE_HEAD = 34
"""Cells before the axis: the name, and five numbers or what stands in their place."""

_LARGE_TITLES = ("now", "mean", "peak", "J")


def large_power(view: PowerView, units: Sequence[UnitRow], size: tuple[int, int], *, braille: bool) -> list[Line]:
    """The zoomed panel as exactly `size` cells and lines: a curve with an axis for each rail, the sum and each cluster,
    below them energy per inference by unit."""
    width, height = size
    rails = [*view.rails, *([view.estimate] if view.estimate is not None else [])]
    below = [*_accelerators(view, width), *_trouble_of(view, width), *_totals(view, width)]
    below += _unit_energies(view, units, width)
    curves = len(rails) + len(view.clusters)
    below = below[: max(1, height - curves - 2)]
    room = height - len(below) - 2
    heights = [max(1, room // curves + (at < room % curves)) for at in range(curves)]
    columns = max(0, width - _LARGE_HEAD - _AXIS - 1)
    top = nice_ceiling(view.top_w or 1.0)
    titles = "".join(f"{title:>7}" for title in _LARGE_TITLES)
    rows = [fit(line((f"{'':{_NAME}}{titles}  W (energy in J)", "muted")), width)]
    for rail, each in zip(rails, heights, strict=False):
        figures = (watts(rail.now_w), watts(rail.mean_w), watts(rail.peak_w), significant(rail.energy_j))
        head = f"{rail_name(rail.rail):<{_NAME}}" + "".join(f"{figure:>7}" for figure in figures)
        rows += _strip(head, f"{top:g}", curve(rail.slots, top, columns, each, braille=braille), width)
    for cluster, each in zip(view.clusters, heights[len(rails) :], strict=True):
        head = f"{_cluster_name(cluster):<{_NAME}}{percent(cluster.busy):>7}{_clock(cluster):>10}"
        rows += _strip(head, "100%", curve(cluster.busy_slots, 1.0, columns, each, braille=braille), width)
    rows.append((*line((" " * (width - columns), "text")), *time_axis(view.span_ns, columns)))
    rows += below
    return [*rows, *[fit((), width)] * (height - len(rows))][:height]


def large_slots(width: int) -> int:
    """How many values a curve of the zoomed panel can show, at most."""
    return max(1, 2 * (width - _LARGE_HEAD - _AXIS - 1))


def _strip(head: str, top: str, drawn: list[str], width: int) -> list[Line]:
    """A curve with what stands before it."""
    axis = upright_axis(top, len(drawn)) if len(drawn) > 1 else [f"{'':{_AXIS}}{glyphs.AXIS_UP}"]
    return [
        fit(line((f"{head if not at else '':{_LARGE_HEAD}}", "text"), (label, "muted"), (text, "low")), width)
        for at, (label, text) in enumerate(zip(axis, drawn, strict=True))
    ]


def _trouble_of(view: PowerView, width: int) -> list[Line]:
    return _trouble(view, width) if view.state not in ("running", None) else []


def _totals(view: PowerView, width: int) -> list[Line]:
    """What the session drew in all, by the estimate."""
    total = view.estimate
    if total is None or total.energy_j is None:
        return []
    words = f"{significant(total.energy_j)} J in {seconds(total.covered_ns)} of power samples since the start"
    idle = f"; idle baseline {watts(view.baseline_w)} W" if view.baseline_w is not None else ""
    meaning = f"; sum: {_meaning(view)}, an estimate, not the whole machine"
    return [fit(line((part, "muted")), width) for part in wrapped(words + idle + meaning, width)]


def _unit_energies(view: PowerView, units: Sequence[UnitRow], width: int) -> list[Line]:
    """A line for each unit: energy per inference, net above the baseline, or why there is none."""
    measured = [row for row in units if row.n]
    if not measured:
        return []
    if view.capture:
        return [fit(line(("from a capture: no energy per inference", "warning")), width)]
    name = max(len(clean(row.unit, 24)) for row in measured) + 2
    rows = [fit(line((f"{'':{name}}{'mJ/inf':>8}{'net':>8}{'inf/J':>8}", "muted")), width)]
    for row in measured:
        per_joule = significant(1000 / row.energy_mj) if row.energy_mj else UNKNOWN
        figures = "".join(f"{text:>8}" for text in (significant(row.energy_mj), significant(row.net_mj), per_joule))
        why = row.energy_lacking if row.energy_mj is None else "" if row.net_mj is not None else "no idle baseline"
        head: Span = (f"{clean(row.unit, 24):<{name}}", "active" if row.active else "text")
        rows.append(fit(line(head, (figures, "text"), (f"  {clean(why)}" if why else "", "muted")), width))
    return rows
