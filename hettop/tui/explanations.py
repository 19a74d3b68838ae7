"""What each panel and screen shows and how to read it: a paragraph each, for the help."""

from __future__ import annotations

from hettop.report.terminal import glyphs

PANELS: dict[str, str] = {
    "latency": (
        "The latencies of one unit in the last seconds (+ and - change how many) as a histogram, fast left, slow "
        f"right. {glyphs.MARK} marks P50, P90 and P99: 50%, 90% and 99% of the calls were faster. One narrow "
        "peak is a steady model; a second peak is a second mode, such as another clock speed; a long tail is what "
        f"users notice as stutter. {glyphs.ABOVE} counts samples beyond the right end. Only steady samples count, "
        "without the first call and the warm-up."
    ),
    "timeline": (
        "Latency over time, newest at the right, a lane for each unit with samples on one scale; its name and latest "
        "P90 are beside it. Every column of dots is a time slot: sparse dots reach to P50, dense ones to P90, one more "
        f"is the slowest call; {glyphs.CLIPPED} is a spike, or a call beyond the scale. {glyphs.FENCE} is a unit's "
        "current spike threshold, over its own samples (median + 10 MAD of the logarithm, and 1.5 x median at least); "
        f"each call was judged by the one active when it came. {glyphs.BUDGET_LEVEL} is the budget. Loads are shaded "
        f"spans on the axis, {glyphs.CONTROL} a switch, {glyphs.NOTE} your mark. + goes on to hours and the whole "
        "session; beyond 60 s, columns are cells of the history (P50 and P90 within 0.8%, maximum exact), and the "
        "other panels keep to the last 60 s."
    ),
    "units": (
        "A row for each compute unit: samples, mean, percentiles, slowest call, inferences per second, the difference "
        f"of its mean to the best one, and its distribution on a common scale ({glyphs.MEDIAN} is the median). Where "
        "it ran is shown only if the framework or a counter reports it. Enter on a row shows details and errors. Rows "
        "measured at different times are comparable only when interleaved."
    ),
    "events": (
        "The event log, newest at the bottom: loading, switches, changes of competing load, marks, spikes, failures. "
        "Each line is in the recording too. Compare it with the timeline: a spike right after an event often has its "
        "cause there, but hettop names causes only as candidates."
    ),
    "power": (
        "Watts of each rail over the same time as the timeline, on one absolute scale up to the highest value. The "
        "sum is CPU+GPU+ANE, an estimate by the machine, not the whole machine. Energy per inference is gross; net "
        "after an idle baseline was measured (b). A rail that cannot be read is n/a, never 0, with the reason and the "
        "fix."
    ),
    "machine": (
        "The rest of the machine: load of the cores, memory and swap, battery or mains, and the share of frames that a "
        "60 Hz screen would have missed. Short memory or a low battery affect latencies as the model does. In a "
        "simulated session this panel still shows the real machine."
    ),
}
"""By the panels' names."""

SCREENS: dict[str, str] = {
    "load": (
        "Competing load that hettop starts at a known level: the dials set it, the table shows the effect of each load "
        "on each unit. A condition is a unit under a load; each has its own samples, never mixed with another's. All "
        "load ends with hettop, however it ends."
    ),
    "studies": (
        "Questions about the inside of the model, each answered by one of hettop's commands; inference is paused while "
        "it runs: layers, roofline, sweep, variants, start-up (cold), co-execution (coexec), plan, granularities. The "
        "result is the same as the command prints. One of them, coexec, is a mode of its own: units serve one stream "
        "together until you end it, and its figures are updated every round."
    ),
    "verdict": (
        "Which unit to use, by the measurements so far. Only proven differences decide: where intervals overlap, it "
        "shows how many more samples are needed. Y copies the verdict, Y again the code. `hettop decide RECORDING` "
        "prints the same with all its evidence."
    ),
    "spikes": (
        "Single inferences far above the usual latency, and the events on the machine at the same time. An event is "
        "called correlated only if it occurs at spikes significantly more often than at other moments of the same ten "
        "seconds (a wrong result in at most 1 of 100 conditions); its name is highlighted in the list. A correlated "
        "event is a candidate: it need not be the cause. The time resolution is 50 ms."
    ),
}
"""By the screens' names."""
