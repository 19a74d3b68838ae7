"""The execution providers of ONNX Runtime that have units here, and which hardware each is for.

A unit is `PREFIX:DEVICE`, such as `OV:CPU` or `CUDA:0`. A package is named only if its wheel was opened and contains
the provider's library for that system.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hettop.compute_units import PROVIDER_DEVICES
from hettop.sources.macos import macos_version

REPLACE_RUNTIME = "pip uninstall onnxruntime && pip install onnxruntime-gpu"
"""The two packages have the same files."""


@dataclass(frozen=True, slots=True)
class Provider:
    """prefix: of its units. ep: ONNX Runtime's name. hardware: what it needs, for messages.

    module, package, extra: of the plug-in, by Python and by pip.
    library: how the file of the provider is called in a runtime that has it built in.
    compiles: whether it takes groups of nodes, each compiled as one partition; else it takes node by node.
    """

    prefix: str
    name: str
    ep: str
    hardware: str
    library: str
    module: str = ""
    package: str = ""
    extra: str = ""
    compiles: bool = True

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that it can have: kinds, or the first number where all are of one kind."""
        return PROVIDER_DEVICES[self.prefix]

    @property
    def numbered(self) -> bool:
        """Whether its devices are numbered from 0 on."""
        return self.devices == ("0",)

    @property
    def install(self) -> str:
        """The command that installs it."""
        return f"pip install 'hettop[{self.extra}]'" if self.extra else REPLACE_RUNTIME


PROVIDERS = (
    Provider(
        "OV",
        "OpenVINO",
        "OpenVINOExecutionProvider",
        "an Intel processor, GPU or NPU",
        "openvino",
        "onnxruntime_ep_openvino",
        "onnxruntime-ep-openvino",
        "openvino",
    ),
    Provider(
        "QNN", "QNN", "QNNExecutionProvider", "a Qualcomm chip", "qnn", "onnxruntime_qnn", "onnxruntime-qnn", "qnn"
    ),
    Provider(
        "MLX", "MLX", "MLXExecutionProvider", "an Apple GPU", "mlx", "onnxruntime_ep_mlx", "onnxruntime-ep-mlx", "mlx"
    ),
    Provider(
        "WEBGPU",
        "WebGPU",
        "WebGpuExecutionProvider",
        "a GPU",
        "webgpu",
        "onnxruntime_ep_webgpu",
        "onnxruntime-ep-webgpu",
        "webgpu",
        compiles=False,
    ),
    Provider(
        "RTX",
        "TensorRT RTX",
        "NvTensorRTRTXExecutionProvider",
        "an NVIDIA GPU",
        "nv_tensorrt_rtx",
        "onnxruntime_ep_nv_tensorrt_rtx",
        "onnxruntime-ep-nv-tensorrt-rtx",
        "tensorrt-rtx",
    ),
    Provider("CUDA", "CUDA", "CUDAExecutionProvider", "an NVIDIA GPU", "cuda", compiles=False),
)


def provider_of(unit: str) -> Provider | None:
    """The provider that a unit's name begins with; None for a unit of ONNX Runtime itself, or of Core ML."""
    prefix, mark, _ = unit.partition(":")
    return next((each for each in PROVIDERS if mark and each.prefix == prefix), None)


@dataclass(frozen=True, slots=True)
class Hardware:
    """What decides which providers fit. system, machine: as `sys.platform`, `uname -m`.

    chip: the processor's vendor and name. nodes: device files, and descriptions of installed drivers.
    """

    system: str
    machine: str
    chip: str = ""
    kernel: str = ""
    macos: tuple[int, ...] = ()
    nodes: tuple[str, ...] = ()


NODES = (
    "dev/dri/renderD*",
    "dev/accel/accel*",
    "dev/nvidia[0-9]*",
    "dev/fastrpc-*",
    "etc/OpenCL/vendors/*",
    "usr/share/vulkan/icd.d/*",
)
"""Device files of GPUs and NPUs, and what drivers leave when they are installed."""

WEBGPU_MACOS = MLX_MACOS = (14,)
"""The wheels for macOS are built for this version and later."""


def this_hardware(root: Path = Path("/"), system: str = sys.platform) -> Hardware:
    """The hardware of this machine, by names of files alone: no driver is asked."""
    nodes = sorted(str(path.relative_to(root)) for pattern in NODES for path in root.glob(pattern))
    macos = tuple(int(part) for part in macos_version(system).split(".") if part.isdecimal())
    return Hardware(system, platform.machine(), _chip(root), os.uname().release, macos, tuple(nodes))


def _chip(root: Path) -> str:
    """Vendor and name of the processor; of a board without them, what its device tree is compatible with."""
    try:
        text = (root / "proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return ""
    found = [re.search(rf"^{field}\s*:\s*(.+)$", text, re.MULTILINE) for field in ("vendor_id", "model name")]
    if any(found):
        return " ".join(match[1] for match in found if match)
    try:
        return (root / "proc/device-tree/compatible").read_text(errors="replace").replace("\0", " ").strip()
    except OSError:
        return ""


def why_it_fits(provider: Provider, hardware: Hardware) -> str | None:
    """The hardware here that the provider is for and that its wheel supports; None if there is none."""
    there = _present(hardware)
    return there.get(provider.prefix)


def _present(hardware: Hardware) -> dict[str, str]:
    """The hardware that is present, by prefix of the provider that a wheel exists for."""
    found: dict[str, str] = {}
    machine, chip = hardware.machine, hardware.chip.lower()
    if hardware.system == "darwin":
        if hardware.macos >= WEBGPU_MACOS:
            found["WEBGPU"] = "a GPU"
        if hardware.macos >= MLX_MACOS and machine == "arm64":
            found["MLX"] = "an Apple GPU"
    elif hardware.system == "linux":
        if _has(hardware.nodes, "dev/dri/"):
            found["WEBGPU"] = "a GPU"
        if machine == "x86_64" and "intel" in chip:
            found["OV"] = "an Intel processor"
        if machine == "x86_64" and _has(hardware.nodes, "dev/nvidia"):
            found |= {"RTX": "an NVIDIA GPU", "CUDA": "an NVIDIA GPU"}
        if machine == "aarch64" and "qcom" in chip:
            found["QNN"] = "a Qualcomm chip"
    return found


def _has(nodes: Sequence[str], beginning: str) -> bool:
    return any(node.startswith(beginning) for node in nodes)
