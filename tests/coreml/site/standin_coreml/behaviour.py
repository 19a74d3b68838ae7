"""What the stand-in is to do, from the JSON file that an environment variable names: to behave, unless asked otherwise.

The file is read at every load, so that later changes of it are seen by what is loaded later.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

VARIABLE = "STANDIN_COREML"
EVERY_UNIT = "*"


@dataclass(frozen=True)
class Behaviour:
    """Of one unit. Calls are counted from 1; `at_call` is the one at which the faults of `predict` happen.

    load_ms, latency_ms: added to the load and to each call, holding the GIL as the native code does.
    hang_in_load, hang_in_predict, hang_in_plan: for ever, holding the GIL.
    raise_in_load, raise_in_predict: the text of the framework's error.
    die_in_load, die_in_predict: the name of the signal that ends the process.
    holds_bytes: of weights; a model with more does not load. die_when_full: the signal that ends the process then.
    leak_mb: kept at each call. noise: prints to stdout and stderr, below Python, at load and call.
    clears_inputs: empties the dict it was given and overwrites one of its values' names.
    needs_inputs: crashes when an input is freed within that many seconds after a call.
    one_call_per_state: refuses a state that an earlier call has had.
    images_until_exhausted: calls of a model with image outputs until there are no surfaces left.
    native_ns: the duration it reports, instead of the true one; -1: none. wrong_native_ns: durations, in turns.
    log_at_load, log_at_call: lines printed to stderr, below Python, during the load and at the call `at_call`.
    native_load_ns: the duration of the load that it reports, instead of the true one; -1: none.
    noise_level: relative noise of half precision in the outputs. wrong: outputs turned round.
    plan: `usual`, `empty`, `none` for each operation, `odd`, or `program-less`. on_cpu: operations that fall back.
    """

    load_ms: float = 0.0
    latency_ms: float = 0.0
    hang_in_load: bool = False
    hang_in_predict: bool = False
    hang_in_plan: bool = False
    raise_in_load: str = ""
    raise_in_predict: str = ""
    die_in_load: str = ""
    die_in_predict: str = ""
    die_in_plan: str = ""
    at_call: int = 1
    holds_bytes: int = 0
    die_when_full: str = ""
    leak_mb: float = 0.0
    noise: bool = False
    clears_inputs: bool = False
    needs_inputs: float = 0.0
    one_call_per_state: bool = False
    images_until_exhausted: int = 0
    native_ns: int = 0
    wrong_native_ns: tuple[int, ...] = ()
    native_load_ns: int = 0
    log_at_load: tuple[str, ...] = ()
    log_at_call: tuple[str, ...] = ()
    noise_level: float = 0.0
    wrong: bool = False
    plan: str = "usual"
    on_cpu: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings:
    """Of the whole machine. devices: of `cpu`, `gpu`, `ne`; None: the system cannot report.

    compile_ms, hang_in_compile, die_in_compile, raise_in_compile, noise_in_compile: as for a unit's load.
    stdout_lost: fd 1 stays at /dev/null after a compilation, instead of meanwhile only.
    conversion: the extension module that converts inputs as the real binding does; "": they come as they are.
    makes_models: processes can build, convert and compress models, as ever; without it, coremltools imports faster.
    """

    macos: tuple[int, ...] = (15, 0)
    devices: tuple[str, ...] | None = ("cpu", "gpu", "ne")
    compile_ms: float = 0.0
    hang_in_compile: bool = False
    die_in_compile: str = ""
    raise_in_compile: str = ""
    noise_in_compile: bool = False
    stdout_lost: bool = False
    conversion: str = ""
    makes_models: bool = False
    units: dict[str, Behaviour] = field(default_factory=dict)

    def of(self, unit: str) -> Behaviour:
        return self.units.get(unit, self.units.get(EVERY_UNIT, Behaviour()))


def settings() -> Settings:
    """Those of this process, read anew."""
    place = os.environ.get(VARIABLE)
    return decode(json.loads(Path(place).read_text(encoding="utf-8"))) if place else Settings()


def decode(document: dict[str, Any]) -> Settings:
    units = {unit: Behaviour(**_tuples(values)) for unit, values in document.pop("units", {}).items()}
    return Settings(**_tuples(document), units=units)


def _tuples(values: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
