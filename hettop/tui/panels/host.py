"""Panel 6: the rest of the machine: cores, memory, clock, battery, missed frames, and what hettop itself takes."""

from __future__ import annotations

from collections.abc import Sequence

from hettop.format import UNKNOWN, percent, significant, size
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, width_of, wrapped
from hettop.session.views.machine import HostView
from hettop.stats.axes import resampled
from hettop.tui.frame_state import FrameState
from hettop.tui.panels.curves import bars, curve, level, time_axis
from hettop.tui.panels.panel import AutoHeightPanel
from hettop.units import BYTES_PER_MB, NS_PER_S

_BUSY = 0.85
_PRESSED = 0.1
"""Share of time that some process waited for memory above which latencies are affected."""

_FEWEST_READINGS = 3
_HEAD = 14  # cells before a core's curve
_NO_CLOCK = "psutil reads no current frequency on this system"
_NO_TEMPERATURE = "psutil finds no temperature sensor of the processor"
_NO_PRESSURE = "read only on Linux with /proc/pressure"
_NO_WEIGHT = "not in this recording, or not measured yet"


class HostPanel(AutoHeightPanel):
    """The machine, in a few lines."""

    NUMBER = 6

    def title(self, frame_state: FrameState) -> Line:
        real = " · real" if frame_state.session.header.simulated else ""
        return line(("machine", "title"), (real, "muted"))

    def rows(self, frame_state: FrameState, width: int) -> list[Line]:
        return draw_host(frame_state.session.host, width)

    def body(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        view = frame_state.session.host
        if not self.zoomed or view is None:
            return super().body(frame_state, width, height)
        return large_host(view, width, height, braille=frame_state.braille)


def draw_host(view: HostView | None, width: int) -> list[Line]:
    """The panel's lines, most important first."""
    if view is None:
        return [fit(line(("no reading yet", "muted")), width)]
    rows = [
        _cores(view, width),
        _history(view, width),
        _slower(view),
        *_beside(_memory(view), _sensors(view), width),
        *_beside(_own(view), _engines(view), width),
        *_beside(_supply(view), _frames(view), width),
    ]
    return [fit(row, width) for row in rows if row]


def _beside(left: Line, right: Line, width: int) -> list[Line]:
    """Two parts of a line, below each other where they do not fit."""
    if not left or not right:
        return [left or right]
    both: Line = (*left, ("  ", "text"), *right)
    return [both] if width_of(both) <= width else [left, right]


def _cores(view: HostView, width: int) -> Line:
    """A bar for each core, by kind where that is known: `E ▁▃ 12%  P ▇▅ 71%`; the highest of several where they do not
    fit."""
    if not view.cores:
        return line(("cores ", "muted"), (UNKNOWN, "muted"))
    groups = _kinds(view)
    room = max(1, width - sum(len(name) + 7 for name, _ in groups))
    share = min(1.0, room / len(view.cores))
    spans: list[Span] = []
    for name, cores in groups:
        shown = resampled(cores, max(1, int(len(cores) * share)))
        spans += [
            ("  " if spans else "", "text"),
            (f"{name} ", "muted"),
            *((glyphs.EIGHTHS[level(busy)], "high" if busy > _BUSY else "low") for busy in shown),
            (f" {percent(sum(cores) / len(cores))}", "text"),
        ]
    return line(*spans)


def _kinds(view: HostView) -> list[tuple[str, tuple[float, ...]]]:
    """The cores of each kind, in the order of the first of them; `cores` where kinds are unknown."""
    if len(view.kinds) != len(view.cores):
        return [("cores", view.cores)]
    pairs = list(zip(view.kinds, view.cores, strict=True))
    return [(kind, tuple(busy for each, busy in pairs if each == kind)) for kind in dict.fromkeys(view.kinds)]


def _history(view: HostView, width: int) -> Line:
    """The mean of all cores in each reading, newest at the right, and how far back it reaches."""
    means = _means(view)
    if len(means) < _FEWEST_READINGS:
        return ()
    shown = means[-max(1, width - 15) :]
    span_s = (view.history[-1].t - view.history[-len(shown)].t) // NS_PER_S
    ago = f"{span_s // 60} min" if span_s >= 120 else f"{span_s} s"
    return line(("mean  ", "muted"), (bars(shown, 1.0, len(shown)), "low"), (f" {ago}", "muted"))


def _means(view: HostView) -> tuple[float, ...]:
    return tuple(sum(each.cores) / len(each.cores) for each in view.history if each.cores)


def _memory(view: HostView) -> Line:
    swap = UNKNOWN if view.swap_mb is None else size(round(view.swap_mb * BYTES_PER_MB))
    pressure: Line = ()
    if view.pressure is not None:
        ink = "high" if view.pressure > _PRESSED else "text"
        pressure = line(("  pressure ", "muted"), (percent(view.pressure), ink))
    return line(("memory ", "muted"), (percent(view.memory), "text"), ("  swap ", "muted"), (swap, "text"), *pressure)


def _sensors(view: HostView) -> Line:
    """Frequency and temperature, as far as they are known."""
    clock = "" if view.mhz is None else f"{view.mhz / 1000:.2f} GHz"
    degrees = "" if view.temperature_c is None else f"{view.temperature_c:.0f} °C"
    words = "  ".join(filter(None, (clock, degrees)))
    return line(("clock ", "muted"), (words, "text")) if clock else line((words, "text"))


def _own(view: HostView) -> Line:
    """The instrument's own weight."""
    return _weight("hettop ", view.own_cpu, view.own_memory_mb)


def _engines(view: HostView) -> Line:
    return _weight("engine ", view.engine_cpu, view.engine_memory_mb)


def _weight(name: str, cpu: float | None, memory_mb: float | None) -> Line:
    if cpu is None and memory_mb is None:
        return ()
    memory = "" if memory_mb is None else f" {memory_mb:,.0f} MB"
    return line((name, "muted"), (f"{percent(cpu)}{memory}", "text"))


def _supply(view: HostView) -> Line:
    if view.battery is None:
        return ()
    supply = ("on battery", "warning") if view.on_battery else ("on AC", "muted")
    return line(("battery ", "muted"), (f"{percent(view.battery)} ", "text"), supply)


def _slower(view: HostView) -> Line:
    """A loss of clock speed that the system does not report, by the canary's fixed work."""
    if view.clock_loss is None:
        return ()
    return line((f"clock {percent(view.clock_loss)} slower than at the start", "warning"))


def _frames(view: HostView) -> Line:
    """The frames that the 60 Hz canary missed: how responsive the machine is meanwhile."""
    if not view.canary_due:
        return ()
    late = view.canary_missed or 0
    return line(("frames missed ", "muted"), (percent(late / view.canary_due), "high" if late else "text"))


# -- the zoomed panel -------------------------------------------------------------------------------------------------


def large_host(view: HostView, width: int, height: int, *, braille: bool) -> list[Line]:
    """The zoomed panel as exactly `height` lines of `width` cells: the course of each core, and what is known of the
    machine, with the reason of what is not."""
    facts = [drawn for fact in _facts(view) for drawn in _fact(*fact, width)]
    room = max(1, height - len(facts) - 2)
    rows = [*_core_curves(view, width, room, braille=braille), fit((), width), *facts]
    return [*rows, *[fit((), width)] * (height - len(rows))][:height]


def _core_curves(view: HostView, width: int, room: int, *, braille: bool) -> list[Line]:
    """The course of each core, then of what hettop took, where 100% is one core."""
    if not view.cores:
        return [fit(line((f"cores {UNKNOWN}: psutil reports none", "muted")), width)]
    readings = view.history
    weights = (
        ("hettop", view.own_cpu, [reading.own_cpu for reading in readings]),
        ("engine", view.engine_cpu, [reading.engine_cpu for reading in readings]),
    )
    own = [(name, now, course) for name, now, course in weights if now is not None]
    count = len(view.cores)
    most = max(1, room - len(own) - 2)
    shown = min(count, most if count <= most else max(1, most - 1))
    kinds = view.kinds if len(view.kinds) == count else ("core",) * count
    strips = [
        (f"{kinds[at]} {at}", view.cores[at], [r.cores[at] if at < len(r.cores) else None for r in readings])
        for at in range(shown)
    ]
    each = max(1, (room - 1) // len([*strips, *own]))
    rows = [
        drawn
        for name, now, course in [*strips, *own]
        for drawn in _strip(name, now, course, width, each, braille=braille)
    ]
    if shown < count:
        rows.append(fit(line((f"{count - shown} more cores", "muted")), width))
    if len(readings) >= 2:
        columns = max(0, width - _HEAD)
        axis = time_axis(readings[-1].t - readings[0].t, columns)
        rows.append(fit(line((f"{'0–100%':<{_HEAD}}", "muted"), *axis), width))
    return rows


def _strip(
    name: str, now: float, course: Sequence[float | None], width: int, rows: int, *, braille: bool
) -> list[Line]:
    drawn = curve(
        [None if share is None else min(share, 1.0) for share in course], 1.0, width - _HEAD, rows, braille=braille
    )
    labels = [f"{name:<8}{percent(now):>5}", *[""] * (rows - 1)]
    axis = [glyphs.AXIS_TICK if at in (0, rows - 1) and rows > 1 else glyphs.AXIS_UP for at in range(rows)]
    ink = "high" if now > _BUSY else "text"
    return [
        fit(line((f"{label:<{_HEAD - 1}}", ink), (stroke, "muted"), (text, "low")), width)
        for label, stroke, text in zip(labels, axis, drawn, strict=True)
    ]


def _facts(view: HostView) -> list[tuple[str, Line, str]]:
    """Name, what is known, and otherwise why it is not."""
    kinds = (
        "" if view.kinds and len(view.kinds) == len(view.cores) else "no source here says which core is of which kind"
    )
    memory = line((percent(view.memory), "text")) if view.memory is not None else ()
    pressure = line((percent(view.pressure), "text"), (" of the last 10 s some process waited", "muted"))
    swap = () if view.swap_mb is None else line((size(round(view.swap_mb * BYTES_PER_MB)), "text"))
    mean = percent(sum(view.cores) / len(view.cores)) if view.cores else ""
    clock = () if view.mhz is None else line((f"{view.mhz / 1000:.2f} GHz", "text"), (", mean of the cores", "muted"))
    degrees = () if view.temperature_c is None else line((f"{significant(view.temperature_c)} °C", "text"))
    missed = line(*_frames(view)[1:], (f" of {view.canary_due:,} due at 60 Hz", "muted")) if _frames(view) else ()
    return [
        ("all cores", line((mean, "text")), "psutil reports none"),
        ("core kinds", line((", ".join(dict.fromkeys(view.kinds)), "text")) if not kinds else (), kinds),
        ("memory", memory, "psutil reports none"),
        ("pressure", pressure if view.pressure is not None else (), _NO_PRESSURE),
        ("swap", swap, "psutil reports none"),
        ("clock", (*clock, *line(("  ", "text")), *_slower(view)) if _slower(view) else clock, _NO_CLOCK),
        ("temperature", degrees, _NO_TEMPERATURE),
        ("hettop", _own(view)[1:], _NO_WEIGHT),
        ("engine", _engines(view)[1:], _NO_WEIGHT),
        ("battery", _supply(view)[1:], "this machine reports none"),
        ("missed", missed, "no canary runs: it is for real machines with engines at work"),
    ]


def _fact(name: str, known: Line, why: str, width: int) -> list[Line]:
    head: Span = (f"{name:<{_HEAD}}", "muted")
    if known:
        return [fit((head, *known), width)]
    words = wrapped(f"{UNKNOWN}: {why}", max(1, width - _HEAD))
    heads = [head, *[(" " * _HEAD, "muted")] * len(words)]
    return [fit((before, (text, "muted")), width) for before, text in zip(heads, words, strict=False)]
