"""Names the page of the documentation that describes the method of a command, as a footnote or with a summary."""

from __future__ import annotations

from collections.abc import Mapping

from hettop.report.page import Block, Items, Paragraph

PAGES: Mapping[str, str] = {
    "bench": "docs/method/statistics.md",
    "decide": "docs/method/verdict.md",
    "compare": "docs/method/verdict.md",
    "cold": "docs/method/cold.md",
    "granularities": "docs/method/coexec.md",
    "roofline": "docs/method/layers.md",
    "sweep": "docs/method/sweeps.md",
    "variants": "docs/method/variants.md",
}

STATISTICS = (
    "Only steady samples enter the distribution; the first call, warm-up, the first sample after a pause and samples "
    "during a load change are reported separately.",
    "Quantiles are numpy's linear (type 7); std is the population standard deviation.",
    "Intervals use order statistics; P99 needs 662 samples, P99.9 needs 6,636.",
    "A spike exceeds the spike threshold: exp(median + 10 MAD) of the log latencies and 1.5 x the median, of the "
    "slowest state (mode of the latencies) with at least 5% of the samples. Each sample is judged by the threshold of "
    "its condition at its time; the first 64 set the first threshold and are not judged.",
    "Times are wall times per call, measured in the process that runs the model.",
    "Correlated events are tested against other moments of the same ten seconds, at a false-positive rate of at most "
    "1% per condition. Correlation is not proof of a cause.",
)


def footnote(command: str) -> str:
    """Where the method of a command is described: `method: docs/method/cold.md`."""
    return f"method: {PAGES[command]}"


def explanation() -> list[Block]:
    """How the statistics of a report are computed, and the page with the details."""
    return [Items(STATISTICS), Paragraph(f"Details: {PAGES['bench']}", "muted")]
