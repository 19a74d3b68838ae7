"""Where hettop asks its system for what macOS may lack: what `.ci/run` runs with `--macos` has to reach all of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.macos.lacking import VERSIONS, Names, lacking
from tests.processes.waiting import PACKAGE, REPOSITORY

pytest.importorskip("mypy", reason="mypy, whose typeshed knows what macOS lacks, is not installed")

REACHED_BY = {
    "cli/anonymize.py": "tests/cli/test_anonymize.py",
    "processes/cpus.py": "tests/processes",
    "processes/qos.py": "tests/processes",
    "processes/serve.py": "tests/processes",
    "record/disk.py": "tests/record/test_durability.py",
    "sources/cpufreq.py": "tests/sources/test_cpufreq.py",
    "processes/interruptions.py": "tests/processes",
    "sources/counters.py": "tests/sources/test_counters.py",
    "sources/host.py": "tests/sources/test_host.py",
    "sources/power/source.py": "tests/sources/power",
    "studies/layers/worker.py": "tests/studies/layers",
}
"""The modules that do, each with tests of its own."""

FOLDERS = ("/proc", "/sys")


def asked_for(source: str, hidden: Names) -> Iterator[str]:
    """What the module names of that: a name of a module, one that `getattr` is given, a folder, the C library."""
    names = {name for _, name in hidden}
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if (module, name) in hidden:
                yield f"{module}.{name}"
            case ast.ImportFrom(module=str(module), names=imported):
                yield from (f"{module}.{each.name}" for each in imported if (module, each.name) in hidden)
            case ast.Import(names=imported) if any(each.name == "ctypes" for each in imported):
                yield "ctypes"
            case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[_, ast.Constant(value=str(name)), *_]):
                yield from {name} & names
            case ast.Constant(value=str(text)) if text.startswith(FOLDERS):
                yield text


def test_every_module_that_asks_for_what_macos_lacks_is_reached_without_it() -> None:
    hidden = set().union(*(lacking((int(v.split(".")[0]), int(v.split(".")[1]))) for v in VERSIONS))
    asking = {
        path.relative_to(PACKAGE).as_posix(): asked
        for path in sorted(PACKAGE.rglob("*.py"))
        if (asked := sorted(set(asked_for(path.read_text(encoding="utf-8"), hidden))))
    }
    assert asking.keys() == REACHED_BY.keys(), asking


def test_those_tests_are_run_so() -> None:
    run = Path(REPOSITORY, ".ci/run").read_text(encoding="utf-8")
    assert 'pytest --macos 3.11 "${without_macos[@]}"' in run
    listed = run.partition("without_macos=(\n")[2].partition("\n)")[0]
    assert set(REACHED_BY.values()) <= set(listed.split())


def test_each_way_to_ask_is_seen() -> None:
    hidden = {("os", "waitid"), ("fcntl", "F_SETPIPE_SZ")}
    source = (
        "import os, ctypes\nfrom os import waitid\nos.waitid()\ngetattr(os, 'waitid')\nopen('/proc/stat')\nos.wait()"
    )
    assert sorted(asked_for(source, hidden)) == ["/proc/stat", "ctypes", "os.waitid", "os.waitid", "waitid"]
