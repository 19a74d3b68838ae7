"""Commands over caches that other commands have used: what one leaves behind, and what the next makes of it.

Over the stand-in for Core ML, with a small default model. `python -m benchmarks.used_caches` runs all of it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.running import hettop_process
from tests.coreml.bench import Bench

MODEL = "mobilenetv2:32x32"
SHORT = ("--warmup", "0", "--runs", "2", "--json")

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "bench": ("bench", MODEL, "--units", "CPU_AND_NE", *SHORT),
    "bench onnxruntime": ("bench", MODEL, "--backend", "onnxruntime", "--units", "CPU_ONLY@1", *SHORT),
    "bench simulated": ("bench", "--backend", "simulated", "--units", "CPU_ONLY", *SHORT),
    "inspect": ("inspect", MODEL, "--json"),
    "layers": ("layers", MODEL, *SHORT),
    "decide": ("decide", MODEL, "--units", "CPU_AND_NE", "--runs", "20", "--json"),
    "roofline": ("roofline", MODEL, "--json"),
    "sweep": ("sweep", MODEL, "--batch", "1,2", "--units", "CPU_ONLY", *SHORT),
    "variants": ("variants", MODEL, "--precisions", "fp32,int8", "--units", "CPU_ONLY", *SHORT),
    "variants onnxruntime": (
        *("variants", MODEL, "--precisions", "fp16", "--backend", "onnxruntime", "--units", "CPU_ONLY@1"),
        *SHORT,
    ),
    "plan": ("plan", MODEL, "--devices", "CPU_ONLY@1", *SHORT),
    "clear cache": ("doctor", "--clear-cache"),
}

COMPARED = frozenset({"backend", "unit", "name", "sha256", "precision", "op", "parameters", "macs", "batch", "error"})
"""The keys of a document whose values say what was measured, and not how long it took."""

LEASE = ".use"
KEY = re.compile("[0-9a-f]{16,}")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command came to: its exit code, what it measured, and what it left in the temporary folder."""

    code: int
    measured: tuple[tuple[str, str], ...]
    left: tuple[str, ...]


class Machine:
    """A home of its own in `folder`, with Core ML on it; `used` is one whose caches it begins with."""

    def __init__(self, folder: Path, used: Machine | None = None) -> None:
        self.caches, self._temporary, self._here = folder / "caches", folder / "T", folder / "here"
        for place in (self._temporary, self._here):
            place.mkdir(parents=True)
        if used is not None and used.caches.exists():
            shutil.copytree(used.caches, self.caches, copy_function=shutil.copy2)
        self._bench = Bench(folder).set(makes_models=True)

    def run(self, name: str) -> Outcome:
        done = self._ran(*COMMANDS[name])
        measured = _measured(json.loads(done.stdout)) if done.stdout.startswith("{") else ()
        # A native compiler's own leftovers are the stand-in's.
        left = (path.name for path in self._temporary.iterdir() if not path.name.startswith("standin-"))
        return Outcome(done.returncode, tuple(measured), tuple(sorted(left)))

    def state(self) -> tuple[str, ...]:
        """What lies in the caches, without keys: they differ each time, as packages hold random identifiers."""
        found = (path.relative_to(self.caches) for path in self.caches.glob("*/*") if path.suffix != LEASE)
        return tuple(sorted(KEY.sub("*", str(path)) for path in found))

    def _ran(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        places = {"HOME": self.caches.parent, "XDG_CACHE_HOME": self.caches, "TMPDIR": self._temporary}
        environment = self._bench.environment({name: str(place) for name, place in places.items()})
        environment["PYTHONPATH"] += f":{Path(__file__).resolve().parents[2]}"
        return hettop_process(*arguments, cwd=self._here, **environment)


def _measured(document: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """The compared keys and their values, in the order in which they stand."""
    if isinstance(document, dict):
        for name, value in document.items():
            yield from _measured(value, name)
    elif isinstance(document, list):
        for value in document:
            yield from _measured(value, key)
    elif key in COMPARED:
        yield key, str(document)
