"""Compare the results of the shipped recordings with those in tests/golden: `python tools/unchanged.py [--write]`.

Compares the JSON of `replay --headless`, `decide`, `verify` and `compare`, and sums of the CSV export, for every
recording in recordings/. Added fields are fine; missing fields and changed values are not. Numbers may differ by 1e-9
relative. Free text (the fields in TEXT) is not compared. `--write` makes tests/golden anew: only for a wanted change of
a result, in the commit that causes it, which lists the changed fields.
"""

from __future__ import annotations

import csv
import json
import math
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parent.parent
GOLDEN = TOP / "tests" / "golden"
RECORDINGS = TOP / "recordings"

TEXT = frozenset(
    {
        *("hettop", "text", "note", "notes", "hint", "message", "what", "why", "fix", "path", "file", "verdict"),
        *("judged_by", "reason", "energy_reason", "energy_why", "plan_reason"),
    }
)

MOST_SHOWN = 60


Hettop = Callable[..., subprocess.CompletedProcess[str]]
"""Runs hettop with the arguments that it is called with, to its end."""


def run(hettop: Hettop, *args: str, may_refuse: bool = False) -> str:
    """What the command prints. Raises SystemExit where it fails."""
    done = hettop(*args)
    if may_refuse and done.returncode == 2:
        return '{"refused": true}'
    if done.returncode not in (0, 1):
        raise SystemExit(f"hettop {' '.join(args)}: exit {done.returncode}: {done.stderr[-300:]}")
    return done.stdout


def results(folder: Path, hettop: Hettop) -> dict[str, Any]:
    """Every result of the recordings with samples in `folder`, by the name of its file in tests/golden."""
    found: dict[str, Any] = {}
    files = [file for file in sorted(folder.glob("*.jsonl")) if '"k":"samples"' in file.read_text(encoding="utf-8")]
    for file in files:
        found[f"replay-{file.stem}"] = json.loads(run(hettop, "replay", str(file), "--headless", "--json"))
        found[f"decide-{file.stem}"] = json.loads(run(hettop, "decide", str(file), "--json"))
        found[f"verify-{file.stem}"] = json.loads(run(hettop, "verify", str(file), "--json"))
        found[f"csv-{file.stem}"] = _csv(file, hettop)
    for a, b in pairwise(files):
        document = run(hettop, "compare", str(a), str(b), "--json", may_refuse=True)
        found[f"compare-{a.stem}-{b.stem}"] = json.loads(document)
    return found


def _csv(file: Path, hettop: Hettop) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(temporary, "out.csv")
        run(hettop, "export", str(file), "--to", "csv", "-o", str(out))
        rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    return {"rows": len(rows), "columns": sorted(rows[0]) if rows else [], "sums": _sums(rows)}


def _sums(rows: Sequence[Mapping[str, str]]) -> dict[str, float]:
    totals: dict[str, float] = {}
    for row in rows:
        for key, value in row.items():
            try:
                totals[key] = totals.get(key, 0.0) + float(value)
            except (TypeError, ValueError):
                continue
    return totals


def differences(path: str, old: Any, new: Any) -> list[str]:
    """A line for each field that is missing or has another value in `new`, with its path."""
    if path.rpartition("/")[2] in TEXT:
        return []
    if isinstance(old, dict) and isinstance(new, dict):
        gone = [f"{path}/{name}: missing" for name in old if name not in new and name not in TEXT]
        common = [name for name in old if name in new]
        return gone + [line for name in common for line in differences(f"{path}/{name}", old[name], new[name])]
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return [f"{path}: {len(old)} items, now {len(new)}"]
        pairs = enumerate(zip(old, new, strict=True))
        return [line for i, (a, b) in pairs for line in differences(f"{path}/{i}", a, b)]
    if _is_number(old) and _is_number(new):
        return [] if math.isclose(old, new, rel_tol=1e-9, abs_tol=1e-12) else [f"{path}: {old}, now {new}"]
    same = type(old) is type(new) and old == new  # True is not 1
    return [] if same else [f"{path}: {old!r}, now {new!r}"]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def compare(found: Mapping[str, Any], golden: Path = GOLDEN) -> tuple[int, list[str]]:
    """How many results were compared, and the differences."""
    files = sorted(golden.glob("*.json"))
    lines: list[str] = []
    for file in files:
        if file.stem not in found:
            lines.append(f"{file.stem}: no such result now")
            continue
        old = json.loads(file.read_text(encoding="utf-8"))
        lines += [f"{file.stem}{line}" for line in differences("", old, found[file.stem])]
    return len(files), lines


def write(found: Mapping[str, Any], golden: Path = GOLDEN) -> None:
    golden.mkdir(exist_ok=True)
    for name, document in found.items():
        text = json.dumps(document, indent=0, sort_keys=True, allow_nan=False)
        (golden / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


def main() -> int:
    command = shlex.split(os.environ.get("HETTOP", f"{shlex.quote(sys.executable)} -m hettop"))

    def hettop(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, *args], capture_output=True, text=True, timeout=300, check=False)

    found = results(RECORDINGS, hettop)
    if "--write" in sys.argv:
        write(found)
        sys.stdout.write(f"{len(found)} results written\n")
        return 0
    checked, wrong = compare(found)
    sys.stdout.write("".join(f"{line}\n" for line in wrong[:MOST_SHOWN]))
    sys.stdout.write(f"{checked} results compared, {len(wrong)} differences\n")
    return 1 if wrong or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
