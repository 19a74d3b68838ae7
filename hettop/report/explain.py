"""Explains how the numbers in each command's result are computed: the page in docs/method, and a few sentences.

Results carry only the footnote; the sentences are for `--explain` and for reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hettop.report.page import Block, Items, Paragraph


@dataclass(frozen=True, slots=True)
class Method:
    """The page of the documentation that describes a method, and its summary."""

    page: str
    sentences: tuple[str, ...]


_QUANTILES = "Quantiles are numpy's linear (type 7); std is the population standard deviation."
_STEADY = (
    "Only steady samples enter the distribution; the first call, warm-up, the first sample after a pause and samples "
    "during a load change are reported separately."
)
_INTERVALS = "Intervals use order statistics; P99 needs 662 samples, P99.9 needs 6,636."
_SPIKES = (
    "A spike exceeds the spike threshold: median + 10 MAD of log-latency and 1.5x the median of the slowest state with "
    "at least 5% of the samples. Tables use the threshold from all samples; the live count uses the threshold active "
    "at the time."
)
_CAUSES = (
    "Correlated events are tested against other moments of the same ten seconds, at a false-positive rate of at most "
    "1% per condition. Correlation is not proof of a cause."
)
_WALL = "Times are wall times per call, measured in the process that runs the model."
_STATISTICS = (_STEADY, _QUANTILES, _INTERVALS, _SPIKES, _WALL)

METHODS: Mapping[str, Method] = {
    "bench": Method("docs/method/statistics.md", (*_STATISTICS, _CAUSES)),
    "replay": Method("docs/method/statistics.md", (*_STATISTICS, _CAUSES)),
    "decide": Method(
        "docs/method/verdict.md",
        (
            "Ranks: latency by mean, stability by max/min, efficiency by inferences per joule (1/min where energy is "
            "unknown), consistency by P90/min. Predictable: the lowest P99/P50 (P90/P50 where samples are too few), "
            "which one sample does not decide.",
            "The order of units is judged by paired differences of their turns, at least six of each (Student's t).",
            "A budget is met if the upper confidence bound of the percentile is within the limit, and missed if the "
            "lower bound exceeds it; otherwise there is insufficient data.",
            _QUANTILES,
        ),
    ),
    "compare": Method(
        "docs/method/verdict.md",
        (
            "Differences of P50, P90 and P99 with 95% intervals by block bootstrap.",
            "A regression is a difference whose interval lies entirely beyond the tolerance, or a failure only in B.",
        ),
    ),
    "cold": Method(
        "docs/method/cold.md",
        (
            "Each start is a new process, units interleaved; times in ms are medians of the starts, with their range.",
            "ready: from process start to the first output. process: until hettop's engine (Python) starts to load. "
            "other: the framework's import and creating the inputs. Compile and load are as the backend reports them.",
            "steady: ready and the warm-up calls until their trend is flat (at least 50). call: median of the calls "
            "after that.",
            "Break-even counts a start and the calls after it; intervals resample the starts.",
        ),
    ),
    "coexec": Method(
        "docs/method/coexec.md",
        (
            "Each unit alone and all units together run in interleaved blocks through the same dispatcher.",
            "Rates are inferences per second; latency is from dispatch to delivery in order.",
        ),
    ),
    "granularities": Method(
        "docs/method/coexec.md",
        (
            "Latency: from the start to the end of an input. Rates: from interleaved blocks; per round: lowest to "
            "highest. Speedup: throughput relative to one thread; the line in a bar is 1.",
            "In a chain of layers, inter-operator parallelism has nothing to run in parallel and only adds cost.",
        ),
    ),
    "layers": Method(
        "docs/method/layers.md",
        (
            "Layer times come from ONNX Runtime's profiler: mean of the middle half of the calls, calls with and "
            "without the profiler interleaved.",
            "Estimated layers distribute the measured time per call by the cost estimates of Core ML's plan.",
        ),
    ),
    "roofline": Method(
        "docs/method/layers.md",
        (
            "GFLOP/s: 2 FLOP per MAC. Roofs: the best of several kernels, interleaved.",
            "lost: time above the minimum at the roof.",
        ),
    ),
    "plan": Method(
        "docs/method/slicing.md",
        (
            "error: negative = predicted too low. adjusted: for device speed during the run.",
            "The cost of a cut is a line fitted to the tried cuts.",
        ),
    ),
    "sweep": Method(
        "docs/method/sweeps.md",
        (
            "Points are interleaved on each unit. items/s: batch x calls / total time.",
            "t = a + b x: mean time per call by least squares, up to where the rate falls if that leaves three "
            "points. half at a / b: the batch that reaches half of the asymptotic rate (Hockney's n½).",
            "Knee: Kneedle, S = 1 (Satopää et al., 2011); a question mark: fewer than 95% of resamples agree.",
        ),
    ),
    "variants": Method(
        "docs/method/variants.md",
        (
            "Variants are interleaved on each unit. Speed: median of the original model / median of the variant, on "
            "the same unit.",
            "Differences to the original's outputs are measured on random inputs.",
        ),
    ),
    "pareto": Method(
        "docs/method/variants.md",
        ("A choice is on the Pareto front if no other is at least as good in all objectives and better in one.",),
    ),
}


def footnote(command: str) -> str:
    """Where the method of a command is described: `method: docs/method/cold.md`."""
    return f"method: {METHODS[command].page}"


def explanation(command: str) -> list[Block]:
    """How the numbers of a command's result are computed, and the page with the details."""
    method = METHODS[command]
    return [Items(method.sentences), Paragraph(f"Details: {method.page}", "muted")]
