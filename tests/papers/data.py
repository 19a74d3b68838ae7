"""The papers' printed numbers, as the tests recompute them; docs/papers/ states what each paper says."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def tables() -> Any:
    """Tables of Potentials and Pitfalls, NN Inference on Mobile SoCs and MOSAIC; `exact` is recomputed."""
    return json.loads((FOLDER / "tables.json").read_text())


def nets() -> Any:
    """MACs and parameters of EmBench's networks by their architectures, and its table 1."""
    return json.loads((FOLDER / "macs_params.json").read_text())


def run_2() -> dict[str, list[float]]:
    """Latencies in ms by unit, read off a plot of the M2 report's second run."""
    found: dict[str, list[float]] = {}
    with (FOLDER / "m2_run2_digitised.csv").open() as file:
        for row in csv.DictReader(file):
            found.setdefault(row["unit"], []).append(float(row["latency_ms"]))
    return found


def rounds_to(exact: float, printed: float, decimals: int) -> bool:
    """Whether `printed` is `exact` rounded, halves either way."""
    return abs(exact - printed) <= 0.5 / 10.0**decimals + 1e-9
