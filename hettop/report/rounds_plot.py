"""Rates by round as inline SVG: a bar for all together, and the levels of the best alone and of the ideal sum.

Knows numbers and their scales; what is drawn with is that of `figures`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hettop.report.figures import BOTTOM, LEFT, RIGHT, TOP, WIDTH, Axis, drawing, legend, side_axis, text_at

Rates = tuple[float | None, float | None, float | None]
"""Of one round, inferences a second: all together, the best alone, the sum of each alone."""

HEIGHT, HEADROOM = 260, 1.05
BAR = 0.72  # of a round's width
MOST_LABELS = 10


def rounds_plot(rounds: Sequence[Rates], last: int, best: str) -> str:
    """The newest is round `last`; empty without any rate. `best` is the unit that does most alone."""
    known = [rate for each in rounds for rate in each if rate is not None]
    if not known:
        return ""
    up = Axis(0.0, max(known) * HEADROOM or 1.0, HEIGHT - BOTTOM, TOP + 16)
    across = Axis(0.0, float(len(rounds)), LEFT, WIDTH - RIGHT)
    parts = [side_axis(up, "/s"), legend(["together", f"{best} alone", "sum of each alone"], TOP)]
    parts += _bars(rounds, across, up)
    for index, dashes in ((1, ""), (2, ' stroke-dasharray="4 3"')):
        path = "".join(_level(place, rates[index], across, up) for place, rates in enumerate(rounds))
        parts.append(f'<path d="{path}" stroke="var(--c{index})" stroke-width="2.5" fill="none"{dashes}/>')
    parts += _numbers(len(rounds), last, across)
    return drawing(HEIGHT, parts, "rates by round")


def _bars(rounds: Sequence[Rates], across: Axis, up: Axis) -> Iterator[str]:
    pitch = (across.end - across.begin) / len(rounds)
    for place, (together, _, _) in enumerate(rounds):
        if together is not None:
            x, top = across.at(place) + pitch * (1 - BAR) / 2, up.at(together)
            size = f'width="{pitch * BAR:.1f}" height="{up.begin - top:.1f}"'
            yield f'<rect x="{x:.1f}" y="{top:.1f}" {size} fill="var(--c0)" fill-opacity=".75"/>'


def _level(place: int, rate: float | None, across: Axis, up: Axis) -> str:
    if rate is None:
        return ""
    return f"M{across.at(place):.1f} {up.at(rate):.1f}H{across.at(place + 1):.1f}"


def _numbers(n: int, last: int, across: Axis) -> Iterator[str]:
    step = -(-n // MOST_LABELS)
    for place in range(0, n, step):
        yield text_at(across.at(place + 0.5), HEIGHT - BOTTOM + 20, str(last - n + 1 + place), "middle", soft=True)
    yield text_at(LEFT - 6, HEIGHT - BOTTOM + 20, "round", "end", soft=True)
