"""The screen of a token stream: two distributions, latency by position, rates, and the stalls with their events."""

from __future__ import annotations

from collections.abc import Sequence

from hettop.format import UNKNOWN, clock, count, milliseconds, significant, unit_name
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, fit, line, width_of, wrapped
from hettop.session.views.answers import AnswersView, Distribution
from hettop.session.views.spikes import SpikeRow
from hettop.text import clean
from hettop.tui.frame_state import FrameState
from hettop.tui.screens.page_screen import PageScreen

NONE = (
    "no token stream in this session: name tinydecoder, a server's URL, or a decoder with --max-tokens "
    "(hettop http://localhost:11434/v1)"
)
NOT_YET = "no answer has ended yet"
_LABEL, _NUMBER = 20, 8
_BAR = 30


class AnswersScreen(PageScreen):
    """Times of tokens, of the viewed unit under the active load."""

    NAME = "tokens"

    def heading(self, frame_state: FrameState) -> Line:
        view = frame_state.session.answers
        if view is None:
            return line(("tokens", "title"))
        under = "" if view.load == "none" else f" under {clean(view.load, 24)}"
        failed = f" · {count(view.failed)} failed" if view.failed else ""
        return line(
            (
                f"{count(view.n)} answer{'' if view.n == 1 else 's'} of {clean(unit_name(view.unit), 24)}{under}",
                "title",
            ),
            (failed, "high"),
        )

    def hints(self, frame_state: FrameState) -> list[tuple[str, str]]:
        return [] if frame_state.session.answers is None else [("c", "unit"), ("s", "spikes")]

    def rows(self, frame_state: FrameState, width: int, height: int) -> list[Line]:  # noqa: ARG002 (it scrolls)
        view = frame_state.session.answers
        if view is None:
            words = NOT_YET if frame_state.session.header.answering else NONE
            return [fit(line((part, "muted")), width) for part in wrapped(words, width)]
        blank = fit((), width)
        lines = [*time_lines(view, width), blank, *rate_lines(view, width), blank, *position_lines(view, width)]
        return [*lines, blank, *stall_lines(view, width)]


def time_lines(view: AnswersView, width: int) -> list[Line]:
    """First tokens and later ones, each with its distribution."""
    heading = f"{'ms':<{_LABEL}}" + "".join(f"{title:>{_NUMBER}}" for title in ("n", "P50", "P90", "P99", "max"))
    drawn = _has_room(view.first, width) and _has_room(view.later, width)
    return [
        fit(line((f"{heading}  distribution (log)" if drawn else heading, "muted")), width),
        _times("time to first token", view.first, width, drawn=drawn),
        _times("inter-token latency", view.later, width, drawn=drawn),
    ]


def _has_room(times: Distribution, width: int) -> bool:
    """Whether a distribution and its ends fit behind the five numbers."""
    return _LABEL + 5 * _NUMBER + 2 + len(times.counts) + len(_ends(times)) <= width


def _ends(times: Distribution) -> str:
    return f" {milliseconds(times.low_ms)}–{milliseconds(times.high_ms)}" if times.n else ""


def _times(label: str, times: Distribution, width: int, *, drawn: bool) -> Line:
    figures = [times.p50_ms, times.p90_ms, times.p99_ms, times.max_ms]
    most = max(times.counts, default=0)
    bars = "".join(glyphs.EIGHTHS[-(-8 * each // most)] if most else " " for each in times.counts)
    return fit(
        line(
            (f"{label:<{_LABEL}}", "strong"),
            (f"{count(times.n):>{_NUMBER}}", "text"),
            *((f"{_ms(each):>{_NUMBER}}", "text" if each is not None else "muted") for each in figures),
            (f"  {bars}" if drawn else "", "accent"),
            (_ends(times) if drawn else "", "muted"),
        ),
        width,
    )


def rate_lines(view: AnswersView, width: int) -> list[Line]:
    """Rates, energy and missed frames; then what is left out of the gaps."""
    canary = UNKNOWN if view.canary is None else f"{count(view.canary[0])} of {count(view.canary[1])}"
    energy = UNKNOWN if view.mj_per_token is None else f"{significant(view.mj_per_token)} mJ/token"
    figures: list[Line] = [
        (("tokens/s now ", "muted"), (_rate(view.now_per_s), "strong")),
        (("over the answer (P50) ", "muted"), (_rate(view.answer_per_s), "strong")),
        (("energy ", "muted"), (energy, "text")),
        (("missed frames (60 Hz canary) ", "muted"), (canary, "text")),
    ]
    lines = _flowing(figures, width)
    if view.why_no_energy:
        lines.append(line((f"energy {UNKNOWN}: {view.why_no_energy}", "muted")))
    if view.several:
        share = f"{count(view.several)} of {count(view.chunks)} chunks held several tokens: no gap of theirs counts"
        lines.append(line((share, "warning")))
    if view.without_gaps:
        why = f"inter-token latency {UNKNOWN} of {count(view.without_gaps)} answers: fewer chunks than tokens"
        lines.append(line((why, "warning")))
    if view.failed:
        lines.append(line((f"last failure: {clean(view.last_error, 120)}", "high")))
    return [fit(each, width) for each in lines]


def _flowing(items: Sequence[Line], width: int) -> list[Line]:
    """The items one after another, in as many lines as they need."""
    lines: list[Line] = [()]
    for item in items:
        joined = (*lines[-1], (" · ", "muted"), *item) if lines[-1] else item
        if lines[-1] and width_of(joined) > width:
            lines.append(item)
        else:
            lines[-1] = joined
    return lines


def position_lines(view: AnswersView, width: int) -> list[Line]:
    """A bar for each octave of positions."""
    heading = fit(
        line((f"{'position in answer':<{_LABEL}}{'n':>{_NUMBER}}{'P50':>{_NUMBER}}{'P90':>{_NUMBER}}", "muted")),
        width,
    )
    longest = max((each.p50_ms for each in view.by_position), default=0.0)
    room = max(0, min(_BAR, width - _LABEL - 3 * _NUMBER - 2))
    lines = [heading]
    for each in view.by_position:
        span = str(each.low) if each.low == each.high else f"{count(each.low)}–{count(each.high)}"
        bar = glyphs.TRACK_DONE * (round(room * each.p50_ms / longest) if longest else 0)
        lines.append(
            fit(
                line(
                    (f"{span:<{_LABEL}}", "text"),
                    (f"{count(each.n):>{_NUMBER}}", "muted"),
                    (f"{milliseconds(each.p50_ms):>{_NUMBER}}", "text"),
                    (f"{milliseconds(each.p90_ms):>{_NUMBER}}", "muted"),
                    (f"  {bar}", "accent"),
                ),
                width,
            )
        )
    return lines


def stall_lines(view: AnswersView, width: int) -> list[Line]:
    """The gaps above the spike threshold, newest first."""
    heading = fit(line((f"{'stalls':<10}{'ms':>{_NUMBER}}{'x median':>10}  events at the same time", "muted")), width)
    if not view.stalls:
        return [
            heading,
            fit(line(("no stall in the last minute: no gap was above the spike threshold", "muted")), width),
        ]
    return [heading, *(_stall(row, width) for row in view.stalls)]


def _stall(row: SpikeRow, width: int) -> Line:
    times = "" if row.times_median is None else f"{significant(row.times_median)}x"
    likely, others = ", ".join(row.causes[: row.likely]), ", ".join(row.causes[row.likely :])
    return fit(
        line(
            (f"{clock(row.end_ns, 2):<10}", "muted"),
            (f"{milliseconds(row.latency_ms):>{_NUMBER}}", "high"),
            (f"{times:>10}  ", "text"),
            (likely, "accent"),
            (", " if likely and others else "", "muted"),
            (others or ("" if likely else "no watched event"), "muted"),
        ),
        width,
    )


def _ms(value: float | None) -> str:
    return UNKNOWN if value is None else milliseconds(value)


def _rate(value: float | None) -> str:
    return UNKNOWN if value is None else significant(value)
