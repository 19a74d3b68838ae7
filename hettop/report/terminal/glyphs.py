"""The glyphs that charts and panels draw with, and what stands for each on a terminal that has ASCII only.

Everything is drawn with the block set; the ASCII set is a translation of finished lines, so no drawing code knows of
it.
"""

from __future__ import annotations

EIGHTHS = " ▁▂▃▄▅▆▇█"
LEFT_EIGHTHS = " ▏▎▍▌▋▊▉█"
FULL = EIGHTHS[8]
SHADE = "▒"
GUIDE = "┊"
FENCE = "┄"
ABOVE = "»"
BELOW = "«"
BUDGET = "║"
DASHED = "╎"
SPIKE = "▲"
POINTED = "▲"
OFF_SCALE = "⇡"
MARK = "▾"
MEDIAN = "┃"
NOTE = "◆"
LOAD = "◇"
CONTROL = "▸"
DRIFT = "~"

AXIS_UP = "│"
AXIS_TICK = "┤"
LEFT_END = "├"
AXIS_CORNER = "└"
AXIS = "─"
AXIS_DOWN = "┴"

TOP_LEFT, TOP_RIGHT, BOTTOM_LEFT, BOTTOM_RIGHT = "╭╮╰╯"
EDGE, SIDE = "─", "│"

ACTIVE = "▶"
VIEWED = "▷"
CHOSEN = "‹"
PLAY = "▶"
PAUSE = "❚❚"
RECORD = "●"
OF = "▸"
DOT = "·"
UP_DOWN = "↕"
UP, DOWN = "↑", "↓"
FAILED = "✗"
DONE = "✓"
ENDED = "○"
MORE = "…"
SQUARE = "■"
TRACK, TRACK_DONE, KNOB = "─", "━", "╸"
DENSE, SPARSE = "▓", "░"
SMALL, MIDDLING, LARGE = "·", "•", "●"
COMPUTE, MEMORY = SQUARE, "≡"
BUDGET_LEVEL = "━"
LOW_STROKE, HIGH_STROKE, RISING, FALLING = "▁", "▔", "╱", "╲"
BRAILLE = "".join(map(chr, range(0x2800, 0x2900)))
"""Every pattern of 2x4 dots, of which the bits are the dots."""

_ASCII = {
    **{pattern: " ..::==##"[bits.bit_count()] for bits, pattern in enumerate(BRAILLE)},
    # Not `.` or `:`, which separate words and mark P99.
    **dict(zip(EIGHTHS[1:], "__;;==##", strict=True)),
    **dict(zip(LEFT_EIGHTHS[1:], "..::==##", strict=True)),
    SHADE: "%",
    GUIDE: ":",
    FENCE: "-",
    ABOVE: ">",
    BELOW: "<",
    BUDGET: "!",
    DASHED: "'",
    SPIKE: "^",
    OFF_SCALE: "+",
    MARK: "v",
    MEDIAN: "|",
    NOTE: "*",
    LOAD: "o",
    AXIS_UP: "|",
    AXIS_TICK: "+",
    LEFT_END: "+",
    AXIS_CORNER: "+",
    AXIS: "-",
    AXIS_DOWN: "+",
    "╭": "+",
    "╮": "+",
    "╰": "+",
    "╯": "+",
    ACTIVE: ">",
    VIEWED: ")",
    CHOSEN: "<",
    "❚": "|",
    RECORD: "o",
    OF: ">",
    DOT: ".",
    UP_DOWN: "^",
    FAILED: "x",
    DONE: "+",
    ENDED: "o",
    MORE: "~",
    SQUARE: "#",
    TRACK_DONE: "=",
    KNOB: "=",
    DENSE: "@",
    SPARSE: "-",
    MIDDLING: "+",
    MEMORY: "=",
    HIGH_STROKE: "'",
    RISING: "/",
    FALLING: "\\",
    "←": "<",
    "→": ">",
    UP: "^",
    "↓": "v",
    "Δ": "d",
    "–": "-",
    "σ": "s",
    "×": "x",
    "°": " ",
    "±": "~",
    "²": "2",
    "\ufffd": "?",
}
_TABLE = str.maketrans(_ASCII)
GLYPHS = "".join(_ASCII)
"""Every character beyond ASCII that is drawn with, each of which takes one cell."""


def to_ascii(text: str) -> str:
    """`text` with our glyphs translated, and whatever else is not ASCII as `?`."""
    return text.translate(_TABLE).encode("ascii", "replace").decode("ascii")
