"""`python -m benchmarks.used_caches`: each command over the caches that each other leaves; exits 1 if one differs.

Of a command that ran before, the next one sees what lies in the caches. So each runs once alone, which gives the few
states that differ, and then each runs over each of these: all ordered pairs, in half of the runs. Some ten minutes.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.coreml.used_caches import COMMANDS, Machine, Outcome


def main() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        sys.exit(1 if compare(Path(folder)) else 0)


def compare(folder: Path) -> int:
    """Prints what differs from a fresh cache; returns how many pairs do, or fail or leave something."""
    fresh: dict[str, Outcome] = {}
    states: dict[tuple[str, ...], list[str]] = {}
    machines: dict[tuple[str, ...], Machine] = {}
    for name in COMMANDS:
        machine = Machine(folder / f"fresh {name}")
        fresh[name] = machine.run(name)
        state = machine.state()
        states.setdefault(state, []).append(name)
        machines.setdefault(state, machine)
        _say(f"fresh: {name}", fresh[name])
    bad = sum(outcome.code != 0 or bool(outcome.left) for outcome in fresh.values())
    for number, (state, left_by) in enumerate(states.items()):
        if not state:
            continue  # as fresh
        for name in COMMANDS:
            outcome = Machine(folder / f"{number} {name}", machines[state]).run(name)
            differs = outcome != fresh[name]
            bad += differs
            _say(f"{name} after {' or '.join(left_by)}{': DIFFERS' if differs else ''}", outcome)
    return bad


def _say(what: str, outcome: Outcome) -> None:
    left = f", left {', '.join(outcome.left)}" if outcome.left else ""
    sys.stdout.write(f"{what}: exit {outcome.code}, {len(outcome.measured)} values{left}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
