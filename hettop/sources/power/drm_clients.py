"""How busy processes kept the engines of GPUs and NPUs: what Linux counts for each client of a device.

Keys and their meaning: the kernel's Documentation/gpu/drm-usage-stats.rst, which drivers i915, xe, amdgpu and newer
amdxdna follow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_DEVICES = ("/dev/dri/", "/dev/accel/")
_Key = tuple[str, str, str]
"""Address of the device, client, engine."""


@dataclass(frozen=True, slots=True)
class Client:
    """One client of the device at `slot`. busy_ns: by engine; cycles: busy ones and all, of a clock of the device's.

    capacity: of engines that stand for several alike.
    """

    slot: str
    name: str
    busy_ns: Mapping[str, int] = field(default_factory=dict)
    cycles: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    capacity: Mapping[str, int] = field(default_factory=dict)


class DrmClients:
    """Looks at the clients of the processes `pids()` again and again. `procfs`: where the kernel shows processes."""

    def __init__(self, procfs: Path, pids: Callable[[], Sequence[int]]) -> None:
        self._procfs, self._pids = procfs, pids
        self._before: dict[_Key, tuple[int, int]] = {}
        self._looked_ns: int | None = None

    def shares(self, now_ns: int) -> dict[str, float]:
        """By address of the device, the share of the time since the last look in which its busiest engine worked for
        these processes. A client counts from its second look on; a value that falls stands still, as the document asks.
        """
        elapsed_ns = 0 if self._looked_ns is None else now_ns - self._looked_ns
        before, self._before, self._looked_ns = self._before, {}, now_ns
        engines: dict[tuple[str, str], float] = defaultdict(float)
        for client in self._clients():
            for engine, (busy, total) in _counters(client, now_ns).items():
                key = (client.slot, client.name, engine)
                if key in self._before:  # another descriptor of the same client
                    continue
                earlier = before.get(key)
                self._before[key] = (busy if earlier is None else max(busy, earlier[0]), total)
                if earlier is not None and total > earlier[1] and elapsed_ns > 0:
                    part = max(0, busy - earlier[0]) / (total - earlier[1])
                    engines[client.slot, engine] += part / client.capacity.get(engine, 1)
        shares: dict[str, float] = {}
        for (slot, _), busy_share in engines.items():
            shares[slot] = max(shares.get(slot, 0.0), min(1.0, busy_share))
        return shares

    def _clients(self) -> Iterator[Client]:
        for pid in self._pids():
            folder = self._procfs / str(pid)
            try:
                descriptors = [each for each in (folder / "fd").iterdir() if str(each.readlink()).startswith(_DEVICES)]
                texts = [(folder / "fdinfo" / each.name).read_text(errors="replace") for each in descriptors]
            except OSError:  # it has ended, or is another user's
                continue
            yield from (client for text in texts if (client := parse_client(text)) is not None)


def _counters(client: Client, now_ns: int) -> dict[str, tuple[int, int]]:
    """By engine, what it was busy and the clock to compare it with."""
    return {engine: (busy, now_ns) for engine, busy in client.busy_ns.items()} | dict(client.cycles)


def parse_client(text: str) -> Client | None:
    """The client that a file of `fdinfo` describes; None of a file that names no device or client."""
    facts = {key.strip(): value.split() for key, _, value in (line.partition(":") for line in text.splitlines())}
    slot, name = (" ".join(facts.get(key, ())) for key in ("drm-pdev", "drm-client-id"))
    if not slot or not name:
        return None

    def numbers(prefix: str) -> dict[str, int]:
        return {
            key.removeprefix(prefix): int(words[0])
            for key, words in facts.items()
            if key.startswith(prefix) and words and words[0].isascii() and words[0].isdecimal()
        }

    capacity = {engine: n for engine, n in numbers("drm-engine-capacity-").items() if n > 0}
    busy = {engine: n for engine, n in numbers("drm-engine-").items() if not engine.startswith("capacity-")}
    total = numbers("drm-total-cycles-")
    cycles = {engine: (n, total[engine]) for engine, n in numbers("drm-cycles-").items() if engine in total}
    return Client(slot, name, {e: n for e, n in busy.items() if e not in cycles}, cycles, capacity)
