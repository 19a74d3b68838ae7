"""What reading powermetrics costs: the share of one core that a stream of one document every 500 ms takes.

Documents are those of the tests' generator, filled up to the size of real ones: 20 frequencies a cluster and a core.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from benchmarks.plan import Plan
from benchmarks.rows import Row, Unit, at_most, for_comparison
from hettop.sources.power.plist import PlistParser
from tests.sources.power.captures import CHIPS, Chip, plist, stream, truth_of

LIMIT = 0.01
INTERVAL_NS = 500_000_000
FREQUENCIES = tuple(range(600, 600 + 20 * 150, 150))
SHARE = Unit(" %", 1e2, 2)
KILOBYTES = Unit(" kB", 1e-3, 0)
PIPE = 64 << 10  # what one read of a pipe gives at most
REPEATS = 20
SAMPLES = 50


def measure(plan: Plan) -> Iterator[Row]:
    """Rows for the smallest and the largest chips, and the size of their documents."""
    for name in ("M1", "M1 Ultra"):
        data = _document(CHIPS[name])
        shares = [_share(data) for _ in range(plan.either(REPEATS, 3))]
        yield at_most(f"power: share of one core, powermetrics every 500 ms, {name}", LIMIT, shares, SHARE)
        yield for_comparison(f"power: a document of {name}", [float(len(data))], KILOBYTES)


def _document(chip: Chip) -> bytes:
    truth = truth_of(chip)
    return plist(replace(truth, clusters=tuple(replace(each, states=FREQUENCIES) for each in truth.clusters)))


def _share(document: bytes) -> float:
    """Processor time a sample, over the time between two."""
    data = stream(*[document] * SAMPLES)
    parser, n = PlistParser(), 0
    begin = time.process_time_ns()
    for at in range(0, len(data), PIPE):
        n += len(parser.feed(data[at : at + PIPE]))
    spent = time.process_time_ns() - begin
    assert n == SAMPLES
    return spent / n / INTERVAL_NS
