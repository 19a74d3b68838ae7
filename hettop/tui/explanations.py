"""What each panel and room shows and how to read it, a paragraph each: for the help, wherever it is asked for."""

from __future__ import annotations

from hettop.report.terminal import glyphs

PANELS: dict[str, str] = {
    "latency": (
        "Every latency of the last seconds (+ and - change how many) of one unit, counted into columns, fast at "
        f"the left, slow at the right. {glyphs.MARK} marks P50, P90 and P99: half, nine tenths and 99 of 100 calls "
        "were faster. A tall narrow hill is a steady model; a second hill is a second mode, such as another clock "
        f"speed; a long tail is what users feel as a stutter. {glyphs.ABOVE} counts what lies beyond the right end. "
        "Only steady samples count: not the first call, not the warm-up."
    ),
    "timeline": (
        "The same seconds in their order, newest at the right. Each column is a slot of time: the shaded part reaches "
        f"to its P90, the full part to its slowest call. {glyphs.FENCE} is the fence: a call above it is a spike "
        "(over median + 10 MAD of the logarithm, and over 1.5 x median). The fence moves while samples come: here, as "
        "everywhere on the screen, a call is judged by the one in force when it came; what is drawn is today's. Spikes "
        "at one distance have a clock behind them; a step that stays is heat, load or a clock speed. Marks and load "
        "changes stand under the axis."
    ),
    "units": (
        "A row for each compute unit: samples, mean, percentiles, slowest call, calls a second, how far its mean lies "
        f"from the best one, and its whole distribution as a strip on one common scale ({glyphs.MEDIAN} is the "
        "median). What runs it is known only where the framework or a counter says so. Enter on a row tells all that "
        "is known of it, errors included. Rows measured at different times are compared fairly only when interleaved."
    ),
    "events": (
        "What happened, newest at the bottom: loads, switches, changes of competing load, marks, spikes, failures. "
        "Each line is in the recording too. Read it beside the timeline: a spike just after a line often has its cause "
        "there, though hettop names a cause only as a candidate."
    ),
    "power": (
        "Watts of each rail over the same time as the timeline, on one absolute scale whose top is the highest value "
        "seen. The sum is CPU+GPU+ANE, an estimate by the machine, never the whole machine. Energy an inference is "
        "gross; net once an idle baseline was taken (b). A rail that nobody reads is n/a, never 0, and the reason "
        "stands there with what mends it."
    ),
    "machine": (
        "What the rest of the machine was doing: load of the cores, memory and swap, battery or mains, and how many "
        "frames a 60 Hz screen would have missed meanwhile. Latencies measured while memory is short or on a low "
        "battery tell of that as much as of the model. In a simulated session this panel is still the real machine."
    ),
}
"""By the panels' names."""

SCREENS: dict[str, str] = {
    "load": (
        "Competing load that hettop starts itself, at a level that is known: the dials set it, the table shows what "
        "each load did to each unit. A condition is a unit under a load; each has samples of its own and none is mixed "
        "with another. All load ends with hettop, however it ends."
    ),
    "studies": (
        "Questions about the inside of the model, each answered by one of hettop's commands while inference rests: "
        "time by layer, how near each comes to what the machine can do, what larger batches give. What a study "
        "measures is printed as that command prints it. One of them, coexec, is a mode of its own: units serve one "
        "stream together until you end it, and its figures grow round by round."
    ),
    "verdict": (
        "Which unit to use, by what was measured so far. It says yes only to what is proven: where intervals overlap "
        "it says how many more samples would decide. `hettop decide RECORDING` prints the same with all its evidence."
    ),
    "spikes": (
        "Single inferences far above the usual, and what happened on the machine at the same time. Something is named "
        "as going with spikes only if it is there more often than at all other moments of the same condition, by a "
        "test that errs in at most one condition of a hundred; then its name stands out in the list. Even so it is a "
        "candidate: what goes with a spike need not cause it. Time is known in steps of 50 ms."
    ),
}
"""By the rooms' names; a room without one explains itself."""
