"""Asks Core ML which devices it has, in a process that may be lost, and waits for the answer for so long and no longer.

Imports no framework.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hettop.errors import HettopError
from hettop.processes.call import call
from hettop.processes.child_process import module_command

ASKER = module_command("hettop.sources.engine.coreml.devices_child")
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
        called = call(
            argv, None, tuple[str, ...], name="Core ML query", environment=environment, time_limit_s=patience_s
        )
    except HettopError as error:
        return Devices(None, error.message)
    return Devices(called.answer) if called.answer else Devices(None, "this system does not tell")
