"""Which tests need OpenVINO's CPU device: its plug-in lists it on Intel's processors alone."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import onnxruntime
import pytest

INSTALLED = importlib.util.find_spec("onnxruntime_ep_openvino") is not None and hasattr(onnxruntime, "get_ep_devices")
PROCESSOR = Path("/proc/cpuinfo")

needs_openvino = pytest.mark.skipif(
    not INSTALLED or "GenuineIntel" not in PROCESSOR.read_text(),
    reason="OpenVINO lists its CPU device on an Intel processor alone"
    if INSTALLED
    else "onnxruntime-ep-openvino is not installed: pip install 'hettop[openvino]'",
)
