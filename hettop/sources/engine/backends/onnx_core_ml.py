"""ONNX Runtime's Core ML provider: how it is asked for a unit, and how much of a model it turned out to take.

Imports no framework: the runtime and its sessions are handed in. A unit is a permission, so nothing here names a device
as the one that ran.
"""

from __future__ import annotations

import hashlib
import json
import mmap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hettop.errors import HettopError
from hettop.models.cache import ModelCache
from hettop.models.compiled import system_build
from hettop.models.content import content_sha256
from hettop.models.ports import Feed
from hettop.processes.framework_errors import reason
from hettop.text import clean

FATAL = 4
"""Log severity: what goes wrong comes back as an exception; nothing is to be printed as well."""

PROVIDER = "CoreMLExecutionProvider"
CPU_PROVIDER = "CPUExecutionProvider"

COMPUTE_UNITS: Mapping[str, str] = {"CPU_AND_GPU": "CPUAndGPU", "CPU_AND_NE": "CPUAndNeuralEngine", "ALL": "ALL"}
"""The provider's names of the units; `CPUOnly` is left to ONNX Runtime's own engine."""

DEVICES: Mapping[str, str] = {
    "CPU_AND_GPU": "CPU and GPU",
    "CPU_AND_NE": "CPU and Neural Engine",
    "ALL": "CPU, GPU and Neural Engine",
}

UNITS_OPTION = "MLComputeUnits"
NO_SUCH_UNIT = "hettop-no-such-unit"
NO_UNITS_HINT = "pip install -U onnxruntime"

IDENTITY_MODEL = bytes.fromhex(
    "08073a370a100a01781201792208" + b"Identity".hex() + "1201675a0f0a0178120a0a08080112040a020801"
    "620f0a0179120a0a08080112040a0208014204" + "0a00100d"
)
"""The smallest ONNX model: `y = Identity(x)` on one float, of opset 13."""

AREA = "onnxruntime"
"""The part of the cache that the provider keeps its compiled models in."""

RECORD_ASSIGNMENT = "session.record_ep_graph_assignment_info"
TELLS_ASSIGNMENT = "get_provider_graph_assignment_info"
"""Newer versions of ONNX Runtime report which provider got which node; older ones only profile a call."""

EXTERNAL_WEIGHTS = b"\x0a\x08location"
"""How ONNX's serialisation begins the entry that names a file of weights."""

KEY_LENGTH = 32


@dataclass(frozen=True, slots=True)
class Share:
    """How much each provider got. what: `node`s of the graph, or `kernel`s, what is left of them after fusing."""

    what: str
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Counted:
    """What was found out about who got what; `share` is None where it could not be, and `note` says why."""

    share: Share | None
    note: str = ""


MakeFeed = Callable[[], Feed]
Counting = Callable[[Any, MakeFeed], Counted]
"""Counts what the providers of a session got; may run it once, on inputs that the function makes."""


def providers(unit: str, folder: Path) -> list[Any]:
    """What to ask a session for: the Core ML provider for `unit`, and the CPU for what that one does not take.

    folder: where it compiles to.
    """
    options = {UNITS_OPTION: COMPUTE_UNITS[unit], "ModelFormat": "MLProgram", "ModelCacheDirectory": str(folder)}
    return [(PROVIDER, options), CPU_PROVIDER]


def check_units_option(runtime: Any, unit: str) -> None:
    """Raises HettopError (`unsupported-unit`) unless the Core ML provider reads the option that selects `unit`.

    Versions before 1.21 ignore it, so that all units would be one configuration. Not every later version reports the
    options of a session, but a provider that reads this one rejects a value that does not exist.
    """
    options = runtime.SessionOptions()
    options.log_severity_level = FATAL
    invalid = [(PROVIDER, {UNITS_OPTION: NO_SUCH_UNIT}), CPU_PROVIDER]
    why = f"ONNX Runtime {runtime.__version__} ignores the compute units of its Core ML provider"
    try:
        runtime.InferenceSession(IDENTITY_MODEL, options, providers=invalid, enable_fallback=0)
    except Exception as error:  # noqa: BLE001 (the runtime's errors have no class in common)
        if UNITS_OPTION in str(error):
            return
        why = f"cannot set compute units of ONNX Runtime's Core ML provider: {reason(error)}"
    raise HettopError("unsupported-unit", clean(f"{unit}: {why}"), NO_UNITS_HINT)


def compiled_folder(file: Path, unit: str, version: str, cache: ModelCache) -> Path | None:
    """A folder for what is compiled of this very model, by this ONNX Runtime on this system; None where it may not be.

    The provider itself knows models by their paths, and would take a changed file for the old one. A folder for each
    unit: processes that load different units at once would write the same files.
    """
    if _has_weights_beside(file):
        return None  # their content is not the file's, so a change of theirs would go unnoticed
    parts = (content_sha256(file), unit, version, system_build())
    return cache.area(AREA, hashlib.sha256("\n".join(parts).encode()).hexdigest()[:KEY_LENGTH])


def count_by(runtime: Any, options: Any, scratch: Path) -> Counting:
    """How a session made with `options` will be counted; sets what that takes in them. `scratch` is for files."""
    if hasattr(runtime.InferenceSession, TELLS_ASSIGNMENT):
        options.add_session_config_entry(RECORD_ASSIGNMENT, "1")
        return lambda session, _make_feed: Counted(_assigned(session))
    options.enable_profiling = True
    options.profile_file_prefix = str(scratch / "call")
    return _counted_by_profile


def placed(in_use: Sequence[str], share: Share | None) -> str | None:
    """What is known to run the model, None if that is nothing. in_use: the session's providers."""
    if PROVIDER not in in_use:
        return "CPU (ONNX Runtime left its Core ML provider out)"
    if share is None:
        return None
    taken, whole = share.counts.get(PROVIDER, 0), sum(share.counts.values())
    if not taken:
        return f"CPU (Core ML provider runs no {share.what})"
    if taken == whole:
        return f"Core ML (ONNX Runtime {PROVIDER}), {_many(whole, share.what)}"
    others = ", ".join(f"{_short(name)} {n}" for name, n in share.counts.items() if name != PROVIDER)
    return f"Core ML {taken} of {_many(whole, share.what)}, {others} (ONNX Runtime)"


def permission(unit: str) -> str:
    """What the unit means, for people: not more than it does."""
    return f"Core ML may choose among {DEVICES[unit]}"


def _many(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _short(provider: str) -> str:
    return provider.removesuffix("ExecutionProvider")


def _assigned(session: Any) -> Share:
    counts: Counter[str] = Counter()
    for part in session.get_provider_graph_assignment_info():
        counts[part.ep_name] += len(part.get_nodes())
    return Share("node", counts)


def _counted_by_profile(session: Any, make_feed: MakeFeed) -> Counted:
    """By one call, which then is not the first one any more."""
    try:
        session.run(None, make_feed())
    except HettopError as error:
        return _uncounted(session, error.message)
    except Exception as error:  # noqa: BLE001 (the runtime's errors have no class in common; the user reads this one)
        return _uncounted(session, reason(error))
    counts: Counter[str] = Counter()
    for event in json.loads(Path(session.end_profiling()).read_text(encoding="utf-8")):
        # A profile that was cut off ends with an entry that has nothing in it.
        if str(event.get("name", "")).endswith("_kernel_time"):
            counts[event["args"]["provider"]] += 1
    return Counted(Share("kernel", counts), "called once while loading, to count the operations of each provider")


def _uncounted(session: Any, why: str) -> Counted:
    session.end_profiling()
    return Counted(None, f"the share of the Core ML provider is unknown: {why}")


def _has_weights_beside(file: Path) -> bool:
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(EXTERNAL_WEIGHTS) >= 0
