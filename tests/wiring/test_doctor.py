"""What the doctor finds on machines that are put together for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hettop.events import Host
from hettop.models.cache import ModelCache
from hettop.models.compiled import default_compiled_models
from hettop.power.machine import this_machine
from hettop.wiring.doctor import OPTIONAL, Finding, Findings, clear, look


def looked(tmp_path: Path, *, host: Host | None = None, modules: bool = True) -> Findings:
    return look(
        host=host or Host(chip="a chip", cores=2),
        machine=replace(this_machine(), system="darwin", find=lambda _: None),
        cache=ModelCache(tmp_path / "cache", tmp_path / "other"),
        compiled=default_compiled_models(),
        folder=tmp_path,
        has_module=lambda _: modules,
    )


def by_name(findings: Findings, group: str) -> dict[str, Finding]:
    return {finding.what: finding for finding in findings.groups[group]}


def test_something_real_can_be_measured_wherever_onnx_runtime_is(tmp_path: Path) -> None:
    found = looked(tmp_path)
    assert found.measures
    units = by_name(found, "units")
    assert units["onnxruntime: CPU_ONLY"].works
    assert units["coreml: CPU_ONLY, CPU_AND_GPU, CPU_AND_NE, ALL"].words == "Core ML needs macOS"


def test_a_source_that_is_not_installed_says_so_and_what_to_do(tmp_path: Path) -> None:
    macmon = by_name(looked(tmp_path), "power")["macmon"]
    assert not macmon.works
    assert macmon.words
    assert macmon.fix


def test_what_is_not_installed_is_named_with_the_command_that_mends_it(tmp_path: Path) -> None:
    missing = [finding for finding in looked(tmp_path, modules=False).groups["optional parts"] if not finding.works]
    assert len(missing) == len(OPTIONAL)
    assert {finding.fix for finding in missing} >= {"pip install 'hettop[zst]'", "pip install 'hettop[images]'"}


def test_what_distorts_measurements_is_told(tmp_path: Path) -> None:
    host = Host(chip="Apple M2", cores=8, warnings=["low-power mode is on"])
    assert by_name(looked(tmp_path, host=host), "machine")["attention"] == Finding(
        "attention", False, "low-power mode is on"
    )


def test_the_caches_are_told_and_emptied(tmp_path: Path) -> None:
    cache = ModelCache(tmp_path / "cache", tmp_path / "other")

    def build(path: Path) -> None:
        path.write_bytes(b"x" * 1_000_000)

    cache.file("m.onnx", build)
    assert by_name(looked(tmp_path), "files")["model cache"].words == "1 models, 1.0 MB"
    assert clear(cache, default_compiled_models())[0] >= 1
    assert cache.find("m.onnx") is None
