"""What each panel and screen shows and how to read it: a paragraph each, for the help."""

from __future__ import annotations

from hettop.report.terminal import glyphs

PANELS: dict[str, str] = {
    "latency": (
        "The latencies of the last seconds (+ and - change how many), fast left, slow right. Where several units have "
        "samples, each has its distribution on one axis (a: one unit, all units), each relative to its own highest "
        f"point, with lines at P50 {glyphs.MEDIAN}, P90 {glyphs.DASHED} and P99 {glyphs.GUIDE}: 50%, 90% and 99% of "
        f"the calls were faster. {glyphs.BUDGET} is the budget. One narrow peak is a steady model; a second peak is a "
        "second mode, such as another clock speed; a long tail is what users notice as stutter. h changes the scale: "
        "by itself log x where a linear axis would squeeze a distribution; log y shows rare calls; CDF the share of "
        f"calls up to each latency. {glyphs.BELOW} and {glyphs.ABOVE} count samples beyond the ends. Only steady "
        "samples count, without the first call and the warm-up."
    ),
    "timeline": (
        "Latency over time, newest at the right, a lane for each unit with samples on one scale; its name and latest "
        "P90 are beside it. Every column of dots is a time slot: sparse dots reach to P50, dense ones to P90, one more "
        f"is the slowest call; {glyphs.SPIKE} is a spike, {glyphs.OFF_SCALE} another call off the scale. "
        f"{glyphs.FENCE} is a unit's current spike threshold, over its own samples (median + 10 MAD of the logarithm, "
        "and 1.5 x median at least); each call was judged by the one active when it came. "
        f"{glyphs.BUDGET_LEVEL} is the budget. Loads are shaded "
        f"spans on the axis, {glyphs.CONTROL} a switch, {glyphs.NOTE} your mark. + goes on to hours and the whole "
        "session; beyond 60 s, columns are cells of the history (P50 and P90 within 0.8%, maximum exact), and the "
        "other panels keep to the last 60 s."
    ),
    "units": (
        "A row for each compute unit: samples, P50, P90, P99, slowest call, inferences per second, energy per "
        "inference, how far its mean is from the best one, the share of paced calls that missed the budget, and its "
        f"distribution on a common scale ({glyphs.MEDIAN} is the median). A percentile with too few samples is n/a. "
        "Beneath is what is proven so far. Enter on a row shows details and errors in full, z all percentiles. Where "
        "it ran is shown only if the framework or a counter reports it. Rows measured at different times are "
        "comparable only when interleaved."
    ),
    "events": (
        "The event log, newest at the bottom: loading, switches, changes of competing load, marks, spikes, failures. "
        "Lines are only ever added. What repeats is one line that counts: ×12 spikes CPU_ONLY, with the first and the "
        "last time; spikes of a unit are counted for 5 s, then in a new line. The last 10,000 lines can be scrolled "
        "(up, down) and filtered (/) by kind, unit and text; a replay "
        "reads earlier ones from the file. Zoomed (z) it is a table, with counts of the whole session in its title."
    ),
    "power": (
        "Watts of each rail over the timeline's seconds, on one absolute scale up to the highest value; a gap is time "
        "without a reading. The sum is CPU+GPU+ANE, an estimate by the machine, not the whole machine. Energy per "
        "inference is gross, behind it net once an idle baseline was measured (b). Clusters have their busy share and "
        "clock. What cannot be read is n/a, never 0, with the reason and the fix. z: all curves with axes, and totals."
    ),
    "machine": (
        "The rest of the machine: load of the cores now and over the last minutes, memory and swap, the share of time "
        "that processes waited for memory (pressure), clock and temperature where they can be read, battery or mains, "
        "and the share of frames that a 60 Hz screen would have missed. hettop shows its own weight: the process that "
        "draws and records, and the engine processes; 100% is one core. In a simulated session this panel still shows "
        "the real machine. z: a curve for each core, and the reason of what is n/a."
    ),
}
"""By the panels' names."""

SCREENS: dict[str, str] = {
    "load": (
        "Competing load that hettop starts at a known level: the dials set it. Below, each unit without load and under "
        "the active load, or the one measured last, with 95% intervals: an arrow marks a change whose intervals do not "
        f"overlap, ~ one that may be chance. The distributions are of the viewed unit: {glyphs.SPARSE} without load, "
        f"{glyphs.FULL} under load, {glyphs.SHADE} both. b measures without load for some seconds, then the load "
        "starts again. All load ends with hettop, however it ends."
    ),
    "studies": (
        "Questions about the inside of the model, each answered by one of hettop's commands; inference is paused while "
        "it runs: layers, roofline, sweep, variants, start-up (cold), co-execution (coexec), plan, granularities. The "
        "result is the same as the command prints. One of them, coexec, is a mode of its own: units serve one stream "
        "together until you end it, and its figures are updated every round."
    ),
    "verdict": (
        "Which unit to use, by the measurements so far, in one sentence. Below it each unit's P90 and P99 with their "
        f"intervals on one axis, and the budget as {glyphs.MEDIAN} if there is one: {glyphs.DONE} proven, "
        f"{glyphs.FAILED} missed, ? undecided. Only proven differences decide: where intervals overlap, it "
        "shows how many more samples are needed. Y copies the verdict, Y again the code. `hettop decide RECORDING` "
        "prints the same with all its evidence."
    ),
    "tokens": (
        "Answers token by token. The time to the first token counts from the request, the inter-token latency from the "
        "token before; they share no distribution. By position: whether tokens become slower as the answer grows, and "
        "with it the cache. Stalls are gaps above the spike threshold, with the machine's events at the same time: "
        "candidates, as on the screen of spikes. Chunks that held several tokens have no gap. The 60 Hz canary is a "
        "process that draws nothing 60 times per second and counts the frames that come too late."
    ),
    "spikes": (
        "Single inferences far above the usual latency, and the events on the machine at the same time. A unit's "
        "first 64 samples under a load make its first threshold and are not judged, so the maximum in the table of "
        "units may be one of them. An event is called correlated only if it occurs at spikes significantly more often "
        "than at other moments of the same ten seconds (a wrong result in at most 1 of 100 conditions); its name is "
        "highlighted in the list. A correlated event is a candidate: it need not be the cause. Garbage collection, "
        "page faults and context switches are those of hettop's engine process. The canary is a process that draws "
        "nothing 60 times per second; the machine stalls when its frames come too late. The time resolution is 50 ms. "
        "Below the list: the calls within a second of the spike under the cursor, the verdict on each event at it, "
        "what the event log has of these two seconds (loads, switches, marks), and power and thermal state at "
        "that moment."
    ),
}
"""By the screens' names."""
