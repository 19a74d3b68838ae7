"""Builds `conversion.cpp`, once for each state of it and each Python, and says why where that cannot be done."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".cpp")
CACHE = Path(__file__).parents[2] / ".pytest_cache" / "coreml-conversion"
LINKING = {"darwin": ("-undefined", "dynamic_lookup")}
PATIENCE_S = 300


@dataclass(frozen=True)
class Built:
    """path: of the extension module, None where there is none; why_not: then, in words."""

    path: Path | None
    why_not: str = ""


@functools.cache
def built() -> Built:
    try:
        import pybind11
    except ImportError:
        return Built(None, "pybind11 is not installed")
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    if shutil.which(compiler[0]) is None:
        return Built(None, f"there is no C++ compiler {compiler[0]}")
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    key = hashlib.sha256(SOURCE.read_bytes() + pybind11.__version__.encode()).hexdigest()[:16]
    target = CACHE / f"{key}{suffix}"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:  # one of the test processes builds, the others wait for it
        fcntl.flock(lock, fcntl.LOCK_EX)
        if target.exists():
            return Built(target)
        command = [*compiler, "-std=c++17", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Werror"]
        for folder in (pybind11.get_include(), sysconfig.get_path("include")):
            command += ["-isystem", folder]
        unfinished = target.with_suffix(".unfinished")
        command += [*LINKING.get(sys.platform, ()), str(SOURCE), "-o", str(unfinished)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        if done.returncode:
            return Built(None, f"{SOURCE.name} : {done.stderr.strip()[-500:]}")
        unfinished.rename(target)
    return Built(target)
