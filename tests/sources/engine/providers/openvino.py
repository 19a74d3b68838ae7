"""Which tests need OpenVINO's CPU device: its plug-in lists it on Intel's processors alone."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import onnxruntime
import pytest

INSTALLED = importlib.util.find_spec("onnxruntime_ep_openvino") is not None and hasattr(onnxruntime, "get_ep_devices")
PROCESSOR = Path("/proc/cpuinfo")

INTEL = PROCESSOR.exists() and "GenuineIntel" in PROCESSOR.read_text()
WHY = "OpenVINO lists its CPU device on an Intel processor alone"
INSTALL = "onnxruntime-ep-openvino is not installed: pip install 'hettop[openvino]'"

needs_openvino = pytest.mark.skipif(not (INSTALLED and INTEL), reason=WHY if INSTALLED else INSTALL)
