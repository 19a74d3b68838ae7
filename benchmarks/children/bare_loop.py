"""The plainest loop that times a model, with hettop's session options: `python -m benchmarks.children.bare_loop MODEL`.

For each line `SETTLE BLOCK` (seconds) on stdin it runs that long and answers with the number of bytes that follow, and
the latencies (int64, ns) of the samples that began after the first `SETTLE` seconds.
"""

from __future__ import annotations

import gc
import sys
import time
from array import array

import numpy as np
import onnxruntime

NS_PER_S = 1e9


def main() -> None:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    feed = {node.name: rng.random(node.shape, dtype=np.float32) for node in session.get_inputs()}
    outputs = [node.name for node in session.get_outputs()]
    gc.collect()
    gc.freeze()
    gc.disable()
    for line in sys.stdin:
        settle_s, block_s = map(float, line.split())
        latencies = _block(session, outputs, feed, int(settle_s * NS_PER_S), int(block_s * NS_PER_S))
        sys.stdout.buffer.write(f"{len(latencies) * latencies.itemsize}\n".encode())
        sys.stdout.buffer.write(latencies)
        sys.stdout.buffer.flush()


def _block(
    session: onnxruntime.InferenceSession,
    outputs: list[str],
    feed: dict[str, np.ndarray],
    settle_ns: int,
    block_ns: int,
) -> array[int]:
    now, run = time.monotonic_ns, session.run
    starts, latencies = array("q"), array("q")
    begin = now()
    until = begin + settle_ns + block_ns
    end = begin
    while end < until:
        start = now()
        run(outputs, feed)
        end = now()
        starts.append(start)
        latencies.append(end - start)
    settled = next((index for index, start in enumerate(starts) if start >= begin + settle_ns), len(starts))
    return latencies[settled:]


if __name__ == "__main__":
    main()
