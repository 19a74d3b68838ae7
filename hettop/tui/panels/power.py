"""Panel 5: watts per rail over the time window and energy per inference; or why there are none."""

from __future__ import annotations

from dataclasses import replace

from hettop.format import UNKNOWN, percent, seconds, significant, watts
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, wrapped
from hettop.session.views.machine import PowerView, RailRow
from hettop.stats.axes import nice_ceiling, resampled
from hettop.text import clean
from hettop.tui.frame_state import FrameState
from hettop.tui.panels.panel import AutoHeightPanel, inner_size

_NAME = 5
_NUMBER = 6
_SMALLEST_SPARK = 8
_ROOMY = 90  # from this width on with the meaning of the sum
_WIDE = 52  # from this width on with columns for mean and peak
_LEVELS = len(glyphs.EIGHTHS) - 1
CAPTURE = " CAPTURE "
_NAMES = {"package": "PKG", "sum": "sum"}


class PowerPanel(AutoHeightPanel):
    """Power, in absolute watts on a printed scale."""

    NUMBER = 5

    @property
    def columns(self) -> int:
        """How many slots fit beside the numbers."""
        return max(1, _spark_columns(inner_size(self.size.width, self.size.height)[0]))

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
        view = frame_state.session.power
        if frame_state.replay is not None and view.state is None and not view.rails:
            return [fit(line((f"{UNKNOWN} (no power in the recording up to this moment)", "muted")), width)]
        # A replay cannot be given access to anything.
        return draw_power(view if frame_state.replay is None else replace(view, needs_access=False), width)


def draw_power(view: PowerView, width: int) -> list[Line]:
    """The panel's lines, most important first: rails, their sum, energy, the source's trouble, clusters."""
    rows = [_rail(row, view.top_w, width) for row in view.rails]
    if view.estimate is not None:
        rows.append(_rail(view.estimate, view.top_w, width, ink="strong"))
    if rows and width >= _WIDE:
        rows.insert(0, _heading(width))
    if view.capture and rows:
        rows.insert(0, fit(line(("from a capture: no energy per inference", "warning")), width))
    if view.energy_mj is not None:
        rows.append(_energy(view, width))
    if not rows or view.state not in ("running", None):
        rows += _trouble(view, width)
    return [*rows, *_clusters(view, width)]


def _heading(width: int) -> Line:
    titles = "".join(f"{title:>{_NUMBER}}" for title in ("now", "mean", "peak"))
    return fit(line((f"{'':{_NAME}}{titles}", "muted")), width)


def _rail(row: RailRow, top_w: float | None, width: int, ink: str = "text") -> Line:
    numbers = [row.now_w, row.mean_w, row.peak_w] if width >= _WIDE else [row.now_w]
    name = _NAMES.get(row.rail, clean(row.rail, _NAME - 1).upper())
    spans: list[Span] = [(f"{name:<{_NAME}}", "muted")]
    for at, value_w in enumerate(numbers):
        spans.append((f"{watts(value_w):>{_NUMBER}}", ink if value_w is not None and not at else "muted"))
    room = _spark_columns(width)
    if room >= _SMALLEST_SPARK:
        spans += [(" ", "text"), (_spark(row.slots, top_w, room), "low")]
    return fit(tuple(spans), width)


def _spark_columns(width: int) -> int:
    return width - _NAME - _NUMBER * (3 if width >= _WIDE else 1) - 1


def _spark(slots: tuple[float | None, ...], top_w: float | None, columns: int) -> str:
    """One cell per slot, on the panel's common scale; a blank where nothing was measured."""
    scale = nice_ceiling(top_w or 1.0)
    values = resampled(tuple(-1.0 if value_w is None else value_w for value_w in slots), columns)
    return "".join(" " if value_w < 0 else glyphs.EIGHTHS[_level(value_w / scale)] for value_w in values)


def _level(share: float) -> int:
    """At least the lowest bar: 0 W is a bar, too, and not a gap."""
    return min(_LEVELS, max(1, round(share * _LEVELS)))


def _energy(view: PowerView, width: int) -> Line:
    net = f", net {significant(view.net_mj)}" if view.net_mj is not None else ""
    if view.baseline_w is not None and width >= _ROOMY:
        net += f" (idle baseline {watts(view.baseline_w)} W)"
    hint = "" if view.net_mj is not None or width < _WIDE else " (b: idle baseline, for net)"
    meaning = " · sum: CPU+GPU+ANE (estimate)" if width >= _ROOMY else ""
    figure = line((f"{significant(view.energy_mj)} mJ", "strong"), (f" per inference{net}", "text"))
    return fit(line(*figure, (hint, "muted"), (meaning, "muted")), width)


def _trouble(view: PowerView, width: int) -> list[Line]:
    """Why there is none, and the fix."""
    if view.state in (None, "starting"):
        return [fit(line(("looking for a power source …", "muted")), width)]
    # The reason of a running source is a note, not the cause of missing samples.
    why = "no usable sample yet" if view.state == "running" else view.reason or view.state
    key = ", press p" if view.needs_access and view.state != "running" else ""
    words = f"{UNKNOWN} ({why}{key})"
    rows = [fit(line((text, "warning")), width) for text in wrapped(clean(words), width)]
    return rows + [fit(line((text, "muted")), width) for text in wrapped(clean(view.fix), width)]


def _clusters(view: PowerView, width: int) -> list[Line]:
    found = [(each.name, each.mhz, each.busy) for each in view.clusters]
    if view.gpu is not None:
        found.append(("GPU", view.gpu.mhz, view.gpu.busy))
    rows = []
    for name, mhz, busy in found:
        head = f"{clean(name.removesuffix('-Cluster'), _NAME - 1):<{_NAME}}{percent(busy):>{_NUMBER}}"
        room = width - len(head) - 10
        bar = glyphs.FULL * round((busy or 0.0) * room) if room >= _SMALLEST_SPARK else ""
        clock = UNKNOWN if mhz is None else f"{mhz / 1000:.2f} GHz"
        rows.append(fit(line((head, "muted"), (f" {clock:>8} ", "muted"), (bar, "low")), width))
    return rows
