"""What Core AI's own summary reports of an asset, read by a process of its own: Core AI ends it over a damaged one."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from hettop.errors import HettopError
from hettop.models.core_ai import INSTALL, check_asset, read_metadata
from hettop.models.inspection.inspection import Inspection
from hettop.models.ports import Port
from hettop.processes.call import call
from hettop.processes.child_process import module_command
from hettop.processes.framework_errors import reason
from hettop.processes.serve import Caller, serve
from hettop.text import clean

READER = module_command("hettop.models.inspection.core_ai")
PATIENCE_S = 300.0
FORMAT = "coreai"

ARRAY = re.compile(r"NDArray \((\w+)(?:, ([\d?\w× -]+))?\)")
"""As a summary describes an array: `NDArray (Float32, 1 × 3 × 16 × 16)`."""


class SummaryJob(msgspec.Struct, frozen=True):
    """The asset to read."""

    path: str


class Function(msgspec.Struct, frozen=True):
    """Its name, and (name, type) of inputs and outputs."""

    name: str
    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, str], ...]


class Summary(msgspec.Struct, frozen=True):
    """As `AIModelAssetSummary`: stored values by type, types computed in, and operations by type."""

    functions: tuple[Function, ...]
    stored: tuple[tuple[str, int], ...]
    computed: tuple[str, ...]
    ops: tuple[tuple[str, int], ...]


def inspect_asset(path: Path, function: str | None, argv: Sequence[str] = READER) -> Inspection:
    """What the asset holds. Raises HettopError: `missing`, `format`, `io`, `input` (an unknown function), `load`."""
    check_asset(path)
    summary = call(argv, SummaryJob(str(path)), Summary, name="reader of the asset", time_limit_s=PATIENCE_S).answer
    names = [each.name for each in summary.functions]
    if not names:
        message = f"{clean(path.name)} contains no function that this coreai-core can read"
        raise HettopError("format", message, "export it again with the version that is installed")
    chosen = function if function is not None else "main" if "main" in names else next(iter(names), "")
    found = next((each for each in summary.functions if each.name == chosen), None)
    if found is None:
        known = f"its functions are {', '.join(clean(name, 60) for name in names)}"
        raise HettopError("input", f"{clean(path.name)} has no function {clean(chosen)!r}", known)
    about = read_metadata(path)
    stored = ", ".join(f"{number:,} {kind.lower()}" for kind, number in summary.stored)
    return Inspection(
        name=path.name,
        format=FORMAT,
        inputs=tuple(described_port(*each) for each in found.inputs),
        outputs=tuple(described_port(*each) for each in found.outputs),
        totals=None,
        ops={clean(op): number for op, number in summary.ops},
        functions=tuple(clean(name) for name in names),
        function=clean(chosen),
        requires={name: value for name, value in (("asset", about.version), ("by", about.producer)) if value},
        precision=clean(" and ".join(kind.lower() for kind in summary.computed if "Int" not in kind)) or None,
        notes=(f"values stored: {clean(stored)}",) if stored else (),
    )


def described_port(name: str, words: str) -> Port:
    """A port by the summary's words for it; what is not an array keeps them as its kind."""
    found = ARRAY.fullmatch(words)
    if found is None:
        return Port(clean(name), "", kind=clean(words, 60))
    axes = (part.strip() for part in (found[2] or "").split("×"))
    shape = tuple(int(axis) if axis.isdecimal() else None for axis in axes if axis)
    return Port(clean(name), found[1].lower(), shape)


def read_summary(job: SummaryJob, _caller: Caller) -> Summary:
    """The child's work. Raises HettopError: `load`."""
    try:
        assets = importlib.import_module("coreai.authoring").AIModelAsset
    except ImportError as error:
        raise HettopError("unsupported-unit", f"Core AI cannot be imported: {reason(error)}", INSTALL) from error
    found = assets.load(Path(job.path)).summary(include_statistics=True)
    if found is None:
        raise HettopError("format", f"{clean(Path(job.path).name)} contains no program to read", "export it again")
    functions = tuple(
        Function(name, tuple(found.function_inputs(name)), tuple(found.function_outputs(name)))
        for name in found.function_names
    )
    return Summary(
        functions, tuple(found.storage_types), tuple(found.compute_types), tuple(found.operation_distribution)
    )


if __name__ == "__main__":
    serve(read_summary, SummaryJob, unexpected="load")
