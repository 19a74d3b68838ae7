"""The environment of engine processes: what a framework may do there beside inference."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from hettop.processes.child_process import environment_for_child


def test_onnx_runtime_uploads_nothing_from_a_process_that_is_measured(tmp_path: Path) -> None:
    home = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    code = "import json, os, onnxruntime; print(json.dumps(os.environ['ORT_DISABLE_TELEMETRY']))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment_for_child(home), capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == "1"
    assert not [path for path in tmp_path.rglob("*") if "onnxruntime" in path.name]


def test_who_wants_it_can_have_it() -> None:
    assert environment_for_child({"ORT_DISABLE_TELEMETRY": "0"})["ORT_DISABLE_TELEMETRY"] == "0"
