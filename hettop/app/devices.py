"""Asks Core ML which devices it has, in a process that may be lost, and waits for the answer for so long and no longer.

Imports no framework.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hettop.processes.child_process import environment_for_child

ASKER = (sys.executable, "-P", "-m", "hettop.sources.engine.coreml.devices_child")
PATIENCE_S = 20.0
"""Importing coremltools takes a second or two, on a machine that swaps ten."""


@dataclass(frozen=True, slots=True)
class Devices:
    """`names` are `CPU`, `GPU`, `Neural Engine`; None where nobody answered, for the reason in `why`."""

    names: tuple[str, ...] | None
    why: str = ""


NOT_ASKED = Devices(None, "not asked")


def ask_devices(environment: Mapping[str, str], argv: Sequence[str] = ASKER, patience_s: float = PATIENCE_S) -> Devices:
    """The devices, or why nobody knows them."""
    try:
        done = subprocess.run(
            argv,
            env=environment_for_child(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=patience_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Devices(None, f"Core ML did not answer within {patience_s:g} s")
    except OSError as error:
        return Devices(None, f"no process could be started to ask: {error.strerror}")
    try:
        found = json.loads(done.stdout)
    except ValueError:
        return Devices(None, f"the process that asked ended without an answer (status {done.returncode})")
    if not isinstance(found, list) or not found:
        return Devices(None, "this system does not tell")
    return Devices(tuple(str(name) for name in found))
