"""What ONNX Runtime itself is asked about a provider, in a process that imported it: its devices and its nodes.

The runtime and its sessions are handed in.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hettop.errors import HettopError
from hettop.events import ProviderNodes
from hettop.processes.framework_errors import reason
from hettop.sources.engine.providers.known import Provider
from hettop.text import clean

REGISTER = "register_execution_provider_library"
UPDATE = "pip install -U onnxruntime"
MISSING_LIBRARY = re.compile(r"(\S+): cannot open shared object file")
"""How the linker of Linux reports a library that another one needs."""

LEFT_NAMED = 4
"""Kinds of operations that are named of those left to the CPU."""


def register(runtime: Any, provider: Provider, find: Callable[[str], Any] = importlib.import_module) -> None:
    """Loads the plug-in's library into ONNX Runtime; of a provider that is built in, there is nothing to load.

    Raises HettopError: `load`, `unsupported-unit` where this runtime takes no plug-ins.
    """
    if not provider.module:
        return
    if not hasattr(runtime, REGISTER):
        version = clean(str(runtime.__version__))
        raise HettopError(
            "unsupported-unit", f"ONNX Runtime {version} cannot load {provider.name}: too old for plug-ins", UPDATE
        )
    try:
        module = find(provider.module)
    except ModuleNotFoundError:
        return  # a runtime that has it built in
    except Exception as error:
        raise _failed(provider, error) from error
    try:
        path = getattr(module, "get_library_path", None) or module.library_path  # MLX's has another name
        getattr(runtime, REGISTER)(provider.ep, path())
    except Exception as error:
        if "already registered" not in str(error):
            raise _failed(provider, error) from error


def _failed(provider: Provider, error: Exception) -> HettopError:
    absent = MISSING_LIBRARY.search(str(error))
    if absent is not None:
        library = clean(absent[1], 80)
        hint = f"install the driver or runtime that contains {library}"
        return HettopError("load", f"{provider.name} failed to load: {library} is missing", hint)
    hint = f"pip install --force-reinstall {provider.package}"
    return HettopError("load", f"{provider.name} failed to load: {reason(error)}", hint)


def listed_devices(runtime: Any, provider: Provider) -> dict[str, Any]:
    """The provider's devices as ONNX Runtime lists them, by unit: `OV:GPU`, a second one `OV:GPU:1`, `CUDA:0`.

    Combinations that choose among devices (`OpenVINOExecutionProvider.AUTO`) have other names and are left out, and so
    are kinds that the provider lists but cannot run: QNN was seen to list the CPU without a library for it.
    """
    found: dict[str, Any] = {}
    counts: Counter[str] = Counter()
    for device in runtime.get_ep_devices():
        if device.ep_name != provider.ep:
            continue
        kind = str(device.device.type).rpartition(".")[2]
        if not provider.numbered and kind not in provider.devices:
            continue
        number = counts[kind]
        counts[kind] += 1
        name = str(number) if provider.numbered else kind if not number else f"{kind}:{number}"
        found[f"{provider.prefix}:{name}"] = device
    return found


RECORD_ASSIGNMENT = "session.record_ep_graph_assignment_info"


def select_device(runtime: Any, provider: Provider, unit: str, options: Any) -> Any:
    """Sets in `options` that a session runs on this device and records its nodes; returns the device as listed now.

    Raises HettopError: as `register` does, and `unsupported-unit` if the device is not there.
    """
    register(runtime, provider)
    devices = listed_devices(runtime, provider)
    if unit not in devices:
        here = ", ".join(devices) or "no device"
        hint = "run hettop doctor to look for devices again, or use CPU_ONLY"
        raise HettopError("unsupported-unit", f"{unit}: {provider.name} does not list it; it has {here}", hint)
    options.add_session_config_entry(RECORD_ASSIGNMENT, "1")
    options.add_provider_for_devices([devices[unit]], {})
    return devices[unit]


@dataclass(frozen=True, slots=True)
class Assigned:
    """How many nodes each provider got, in how many groups, and which kinds of operations others than `ep` got."""

    ep: str
    nodes: Mapping[str, int]
    groups: Mapping[str, int]
    left: Sequence[str] = ()

    @property
    def by_provider(self) -> list[ProviderNodes]:
        """The provider that was asked for first, with 0 if it has none, then the others."""
        return [
            ProviderNodes(provider=clean(ep, 80), nodes=self.nodes.get(ep, 0), partitions=self.groups.get(ep, 0))
            for ep in dict.fromkeys((self.ep, *self.nodes))
        ]

    @property
    def taken(self) -> int:
        return self.nodes.get(self.ep, 0)

    @property
    def all(self) -> int:
        return sum(self.nodes.values())


TELLS_ASSIGNMENT = "get_provider_graph_assignment_info"


def assigned_nodes(session: Any, ep: str) -> Assigned | None:
    """The assignment of nodes of a session that was made to record it; None from a runtime that does not report it."""
    if not hasattr(session, TELLS_ASSIGNMENT):
        return None
    nodes: Counter[str] = Counter()
    groups: Counter[str] = Counter()
    left: Counter[str] = Counter()
    for group in session.get_provider_graph_assignment_info():
        each = group.get_nodes()
        nodes[group.ep_name] += len(each)
        groups[group.ep_name] += 1
        if group.ep_name != ep:
            left.update(clean(node.op_type, 40) for node in each)
    return Assigned(ep, nodes, groups, [name for name, _ in left.most_common()])


def placed_on(provider: Provider, unit: str, assigned: Assigned | None) -> str | None:
    """What runs the nodes; the provider's device is named alone only if it has all of them. None if not known."""
    if assigned is None:
        return None
    name = f"{provider.name} {unit.partition(':')[2]}"
    if not assigned.taken:
        return f"CPU ({provider.name} runs none of {_many(assigned.all, 'node')})"
    parts = f" in {_many(assigned.groups[assigned.ep], 'partition')}" if provider.compiles else ""
    if assigned.taken == assigned.all:
        return f"{name}, {_many(assigned.all, 'node')}{parts}"
    others = ", ".join(
        f"{ep.removesuffix('ExecutionProvider')} {count:,}"
        for ep, count in assigned.nodes.items()
        if ep != assigned.ep and count
    )
    # The share comes first: a narrow column cuts the end.
    return f"{assigned.taken:,} of {_many(assigned.all, 'node')} on {name}{parts}, {others}"


def left_note(assigned: Assigned | None) -> str:
    """Which kinds of operations the provider left to the CPU."""
    if assigned is None or not assigned.left:
        return ""
    more = len(assigned.left) - LEFT_NAMED
    return f"left to the CPU: {', '.join(assigned.left[:LEFT_NAMED])}{f' and {more} more' if more > 0 else ''}"


def check_strict(name: str, taken: int | None, total: int) -> None:
    """Raises HettopError (`placement`) unless the provider called `name` has all nodes. taken: None if not known."""
    if taken == total:
        return
    what = "it is not known which nodes it runs" if taken is None else f"it runs {taken:,} of {total:,} nodes"
    raise HettopError("placement", f"{name} does not run the whole model: {what}", "leave out --strict to allow it")


def _many(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"
