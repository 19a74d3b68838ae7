"""What the doctor finds on machines that are put together for it."""

from __future__ import annotations

import os
import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hettop.app.doctor import (
    LINUX_ONLY,
    NOT_ASKED,
    OPTIONAL,
    Cleared,
    Devices,
    Finding,
    Findings,
    Providers,
    Terminal,
    clear,
    examine,
    kept_in_use,
)
from hettop.events import Host
from hettop.measurement.validated_rails import Sighting, ValidatedRails
from hettop.models.cache import ModelCache
from hettop.models.compiled import CompiledModels
from hettop.models.system_caches import Folders
from hettop.processes.scratch import scratch_folder
from hettop.sources.engine.names import BACKENDS
from hettop.sources.engine.providers.known import PROVIDERS, Hardware
from hettop.sources.engine.providers.probe import Device, Found
from hettop.sources.power.source import Machine, this_machine
from tests.processes.waiting import REPOSITORY
from tests.sources.power.devices import amd_card, intel_npu, nvidia_card
from tests.sources.power.machines import pc

NO_CORE_ML: dict[str, str | None] = dict.fromkeys(
    ("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL"), "Core ML needs macOS"
)


def compiled_models(folder: Path) -> CompiledModels:
    return CompiledModels(ModelCache(folder / "compiled", folder / "compiled elsewhere"))


def looked(
    tmp_path: Path,
    *,
    host: Host | None = None,
    modules: bool = True,
    system: str = "darwin",
    terminal: Terminal = Terminal(),  # noqa: B008 (immutable)
    folder: Path | None = None,
    core_ml: dict[str, str | None] | None = None,
    ask: Callable[[], Devices] = lambda: NOT_ASKED,
    rails: ValidatedRails = ValidatedRails(),  # noqa: B008 (immutable)
    providers: Providers = Providers(),  # noqa: B008 (immutable)
    no_counters: str = "",
    machine: Machine | None = None,
) -> Findings:
    return examine(
        host=host or Host(chip="a chip", cores=2),
        machine=replace(machine or this_machine(), system=system, find=lambda _: None),
        cache=ModelCache(tmp_path / "cache", tmp_path / "other"),
        compiled=compiled_models(tmp_path),
        folder=folder or tmp_path,
        terminal=terminal,
        folders=Folders(tmp_path / "home", tmp_path / "T", tmp_path / "root"),
        has_module=lambda _: modules,
        core_ml_units=lambda: NO_CORE_ML if core_ml is None else core_ml,
        ask=ask,
        rails=rails,
        providers=providers,
        no_counters=lambda: no_counters,
    )


INTEL = Hardware("linux", "x86_64", "GenuineIntel", nodes=("dev/dri/renderD128",))


def test_providers_are_listed_with_devices_versions_and_what_fits_the_hardware(tmp_path: Path) -> None:
    device = Device(unit="OV:CPU", name="Xeon", version="1.8.1+95d")
    found = (Found(prefix="OV", version="1.8.1", devices=(device,)),)
    listed = by_name(looked(tmp_path, providers=Providers(found, INTEL)), "execution providers")
    assert listed == {
        "OV:CPU Xeon": Finding("OV:CPU Xeon", True, "OpenVINO 1.8.1+95d"),
        "WebGPU": Finding(
            "WebGPU", None, "not installed; it is for a GPU, which is here", "pip install 'hettop[webgpu]'"
        ),
    }


def test_a_provider_that_was_left_out_is_not_said_to_be_missing(tmp_path: Path) -> None:
    listed = by_name(looked(tmp_path, providers=Providers((), INTEL, {"OV"})), "execution providers")
    assert listed["OpenVINO"].words.startswith("not installed; it is for ")
    words = "left out by HETTOP_PROVIDERS; it is for a GPU, which is here"
    assert listed["WebGPU"] == Finding("WebGPU", None, words, "")


def test_a_provider_that_failed_is_broken_and_one_without_a_device_is_absent(tmp_path: Path) -> None:
    found = (
        Found(prefix="OV", version="1.8.1", error="the probe of OpenVINO crashed", hint="install it again"),
        Found(prefix="WEBGPU", version="0.4.0", error="WebGPU lists no device on this machine"),
    )
    listed = by_name(looked(tmp_path, providers=Providers(found, INTEL)), "execution providers")
    assert [(each.works, each.fix) for each in listed.values()] == [(False, "install it again"), (None, "")]


def test_hardware_without_a_provider_calls_for_none(tmp_path: Path) -> None:
    (only,) = looked(tmp_path, providers=Providers((), Hardware("linux", "riscv64"))).groups["execution providers"]
    assert (only.what, only.works, only.fix) == ("none", None, "")


def by_name(findings: Findings, group: str) -> dict[str, Finding]:
    return {finding.what: finding for finding in findings.groups[group]}


def test_something_real_can_be_measured_wherever_onnx_runtime_is(tmp_path: Path) -> None:
    found = looked(tmp_path)
    assert found.measures
    units = by_name(found, "units")
    assert units["onnxruntime: CPU_ONLY"].works
    assert units["coreml: CPU_ONLY, CPU_AND_GPU, CPU_AND_NE, ALL"].words == "Core ML needs macOS"


def test_a_simulation_alone_measures_nothing(tmp_path: Path) -> None:
    found = looked(tmp_path, modules=False)
    assert not found.measures
    assert by_name(found, "units")["onnxruntime"].fix == "pip install onnxruntime"


def test_a_source_that_is_not_installed_says_so_and_what_to_do(tmp_path: Path) -> None:
    macmon = by_name(looked(tmp_path), "power")["macmon"]
    assert macmon.works is None, "nothing is broken"
    assert macmon.words
    assert macmon.fix


def test_what_is_not_installed_is_named_with_the_command_that_repairs_it(tmp_path: Path) -> None:
    missing = [finding for finding in looked(tmp_path, modules=False).groups["optional parts"] if not finding.works]
    assert {(finding.works, finding.words) for finding in missing} == {(None, "not installed")}, "no fault"
    assert len(missing) == len(OPTIONAL) - len(LINUX_ONLY)
    assert {finding.fix for finding in missing} >= {"pip install 'hettop[zst]'", "pip install 'hettop[images]'"}


def test_core_ai_is_optional_and_its_units_are_listed_where_it_is(tmp_path: Path) -> None:
    without = Finding("coreai", None, "not installed; optional", "pip install 'hettop[coreai]'")
    assert without in looked(tmp_path, modules=False).groups["units"]
    assert without not in looked(tmp_path).groups["units"]


def test_the_client_of_servers_is_optional_with_one_command(tmp_path: Path) -> None:
    found = looked(tmp_path, modules=False)
    command = "pip install 'hettop[http]'"
    assert by_name(found, "units")["server"] == Finding("server", None, "not installed; optional", command)
    assert command in {finding.fix for finding in found.groups["optional parts"]}


def test_zeus_is_missed_on_a_mac_only(tmp_path: Path) -> None:
    for system, missed in (("darwin", True), ("linux", False)):
        fixes = {part.fix for part in looked(tmp_path, modules=False, system=system).groups["optional parts"]}
        assert ("pip install 'hettop[zeus]'" in fixes) is missed


def test_each_extra_of_the_package_that_users_may_want_is_looked_for() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    extras = set(project["optional-dependencies"]) - {"test", "dev"}
    fixes = {fix for _, fix in OPTIONAL.values()} | {each.install for each in PROVIDERS if each.extra}
    fixes |= {f"pip install 'hettop[{each.extra}]'" for each in BACKENDS.values() if each.extra}
    assert fixes == {f"pip install 'hettop[{extra}]'" for extra in extras}


def test_loads_are_reported_as_they_would_be_refused(tmp_path: Path) -> None:
    loads = by_name(looked(tmp_path), "competing load")
    assert loads["cpu, memory"].works
    whole = {kind for what in loads for kind in what.split(", ")}
    assert whole == {"ane", "cpu", "gpu", "memory"}


@pytest.mark.parametrize(
    ("terminal", "what", "works", "words"),
    [
        (Terminal((120, 40)), "size", True, "120x40"),
        (Terminal((79, 40)), "size", False, "79x40"),
        (Terminal((80, 23)), "size", False, "80x23"),
        (Terminal((0, 0)), "size", False, "the terminal does not report its size"),
        (Terminal(None), "size", None, "output is not a terminal; the live view requires one"),
        (Terminal(environment={"TERM": "xterm-256color"}), "TERM", True, "xterm-256color"),
        (Terminal(environment={"TERM": "dumb"}), "TERM", False, "dumb"),
        (Terminal(environment={}), "TERM", False, "not set"),
        (Terminal(environment={"TERM": "xterm-256color"}), "colours", None, "256"),
        (Terminal(environment={"TERM": "xterm", "COLORTERM": "truecolor"}), "colours", None, "16 million"),
        (Terminal(environment={"TERM": "vt220"}), "colours", None, "16"),
        (Terminal(environment={"TERM": "xterm-256color", "NO_COLOR": "1"}), "colours", None, "none: NO_COLOR is set"),
        (Terminal(environment={"TERM": "xterm-256color", "NO_COLOR": ""}), "colours", None, "256"),
        (Terminal(encoding="UTF-8"), "characters", True, "UTF-8"),
        (Terminal(encoding="ascii"), "characters", False, "ascii lacks the characters of charts"),
        (Terminal(environment={"TMUX": "/tmp/tmux-0/default,1,0"}), "tmux", None, "running in tmux"),
        (Terminal(), "tmux", None, "not installed; only required by hettop's end-to-end tests"),
    ],
)
def test_the_terminal_is_reported_by_its_environment(
    terminal: Terminal, what: str, works: bool | None, words: str, tmp_path: Path
) -> None:
    found = by_name(looked(tmp_path, terminal=terminal), "terminal")[what]
    assert (found.works, found.words) == (works, words)
    assert bool(found.fix) or works is not False


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    recordings = by_name(looked(tmp_path, folder=tmp_path / "gone"), "files")["recordings here"]
    assert not recordings.works
    assert "gone" in recordings.words


def test_what_distorts_measurements_is_reported(tmp_path: Path) -> None:
    host = Host(chip="Apple M2", cores=8, warnings=["low-power mode is on"])
    assert by_name(looked(tmp_path, host=host), "machine")["attention"] == Finding(
        "attention", False, "low-power mode is on"
    )


def test_the_caches_are_reported_and_emptied(tmp_path: Path) -> None:
    cache = ModelCache(tmp_path / "cache", tmp_path / "other")

    def build(path: Path) -> None:
        path.write_bytes(b"x" * 1_000_000)

    cache.file("m.onnx", build)
    assert by_name(looked(tmp_path), "files")["model cache"].words == "1 model, 1.0 MB"
    assert clear(cache, compiled_models(tmp_path), tmp_path) == Cleared(1, 1_000_000, 0)
    assert cache.find("m.onnx") is None


def test_what_is_in_use_is_kept_and_named(tmp_path: Path) -> None:
    cache, compiled = ModelCache(tmp_path / "cache", tmp_path / "other"), compiled_models(tmp_path)
    source = tmp_path / "net.mlmodel"
    source.write_bytes(b"net")
    model = compiled.use(source, "24A1", lambda _, destination: destination.mkdir())
    assert clear(cache, compiled, tmp_path) == Cleared(0, 0, 0)
    assert [entry.name for entry in kept_in_use(compiled)] == ["net.mlmodelc"]
    model.lease.close()
    assert kept_in_use(compiled) == []
    assert clear(cache, compiled, tmp_path).models == 1


HAS_CORE_ML = dict.fromkeys(("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL"))


@pytest.mark.parametrize(
    ("devices", "works", "told"),
    [
        (Devices(("CPU", "GPU", "Neural Engine")), HAS_CORE_ML, "CPU, GPU, Neural Engine"),
        (Devices(("CPU", "GPU")), {**HAS_CORE_ML, "CPU_AND_NE": "Core ML has no Neural Engine here"}, "CPU, GPU"),
        (Devices(None, "not asked"), HAS_CORE_ML, "no answer: not asked"),
    ],
)
def test_a_unit_works_only_where_core_ml_has_its_device(
    devices: Devices, works: dict[str, str | None], told: str, tmp_path: Path
) -> None:
    units = by_name(looked(tmp_path, core_ml=HAS_CORE_ML, ask=lambda: devices), "units")
    expected = {unit: why for unit, why in works.items() if why is None}
    assert units[f"coreml: {', '.join(expected)}"].works
    for unit, why in works.items():
        if why is not None:
            assert (units[f"coreml: {unit}"].works, units[f"coreml: {unit}"].words) == (None, why)
    assert (units["coreml: devices"].works, units["coreml: devices"].words) == (None, told)


def test_what_a_system_cannot_have_is_no_fault(tmp_path: Path) -> None:
    found = looked(tmp_path, system="linux")
    assert by_name(found, "units")["coreml: CPU_ONLY, CPU_AND_GPU, CPU_AND_NE, ALL"].works is None
    assert {name: source.works for name, source in by_name(found, "power").items() if source.words == "macOS only"} == {
        "powermetrics": None,
        "macmon": None,
        "zeus": None,
    }
    assert by_name(found, "competing load")["ane, gpu"].works is None


def test_what_a_mac_could_have_and_lacks_is_one(tmp_path: Path) -> None:
    why = "Core ML needs coremltools: pip install coremltools"
    found = looked(tmp_path, core_ml=dict.fromkeys(HAS_CORE_ML, why))
    assert by_name(found, "units")["coreml: CPU_ONLY, CPU_AND_GPU, CPU_AND_NE, ALL"].works is False
    assert by_name(found, "competing load")["ane, gpu"].works is False
    assert by_name(found, "power")["rapl"].works is None, "Linux only"
    # There is no program at all on this one: not even that of macOS itself.
    assert by_name(found, "power")["powermetrics"].works is False


def test_a_load_of_a_unit_that_this_mac_lacks_is_none_while_the_other_works(tmp_path: Path) -> None:
    core_ml = {**HAS_CORE_ML, "CPU_AND_NE": "an Intel Mac has no Neural Engine"}
    loads = by_name(looked(tmp_path, core_ml=core_ml), "competing load")
    assert (loads["ane"].works, loads["cpu, gpu, memory"].works) == (None, True)


def test_where_there_is_no_core_ml_nobody_is_asked(tmp_path: Path) -> None:
    units = by_name(looked(tmp_path, ask=lambda: pytest.fail("asked")), "units")
    assert "coreml: devices" not in units


def test_units_that_are_measured_only_if_they_are_named_say_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = "a virtual machine has no Neural Engine"
    monkeypatch.setattr("hettop.app.doctor.units_on_request", lambda backend: {"ALL": why} if backend else {})
    units = by_name(looked(tmp_path, core_ml=HAS_CORE_ML), "units")
    assert units["coreml: CPU_ONLY, CPU_AND_GPU, CPU_AND_NE"].works is True
    assert (units["coreml: ALL"].works, units["coreml: ALL"].words) == (None, why)


def test_a_mac_has_a_line_for_each_accelerators_rail_with_the_command_that_checks_it(tmp_path: Path) -> None:
    rails = ValidatedRails(tmp_path / "rails.json", "Mac14,2", "24A335")
    for source, mw in (("powermetrics", 1640.4), ("macmon", 1590.0)):
        rails.remember(
            [
                Sighting(
                    rail="ane",
                    machine="Mac14,2",
                    build="24A335",
                    source=source,
                    seen="2026-01-31T12:00:00.000Z",
                    model="mobilenetv2",
                    unit="CPU_AND_NE",
                    mw=mw,
                )
            ]
        )
    power = by_name(looked(tmp_path, rails=rails), "power")
    assert (power["ANE rail"].works, power["ANE rail"].words) == (
        True,
        "validated: 1,640 mW by powermetrics on 2026-01-31, with mobilenetv2 on CPU_AND_NE; "
        "1,590 mW by macmon on 2026-01-31, with mobilenetv2 on CPU_AND_NE",
    )
    assert power["GPU rail"] == Finding(
        "GPU rail", None, "not validated on this system: a reading of 0 is not evidence", "hettop doctor --control"
    )
    elsewhere = by_name(looked(tmp_path, rails=rails, system="linux"), "power")
    assert not [name for name in elsewhere if "rail" in name], "there is no such rail"


def filled(path: Path, nbytes: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(nbytes))


def test_caches_of_core_ml_are_shown_with_their_sizes_and_what_removes_them(tmp_path: Path) -> None:
    caches = tmp_path / "home" / "Library" / "Caches"
    filled(caches / "python3.13" / "com.apple.e5rt.e5bundlecache" / "24E263" / "A.bundle" / "H13G.e5", 40_000_000)
    filled(caches / "org.python.python" / "com.apple.e5rt.e5bundlecache" / "weights.bin", 8_200_000)
    filled(caches / "python3.13" / "WebKit" / "somebody else's", 1_000_000)
    filled(tmp_path / "T" / "onnxruntime-6F1C-4711-0001" / "model.mlmodel", 1_500)
    files = by_name(looked(tmp_path), "files")
    python = files["Core ML's cache for Python"]
    assert (python.works, python.words.split(";")[0]) == (None, "48.2 MB")
    assert python.fix == (
        "rm -rf ~/Library/Caches/python*/com.apple.e5rt.e5bundlecache"
        " ~/Library/Caches/org.python.python/com.apple.e5rt.e5bundlecache"
    )
    assert files["temporary models"].words.startswith("1.5 kB; ")
    assert files["temporary models"].fix == f"rm -rf {tmp_path / 'T'}/onnxruntime-*"
    assert "Neural Engine's cache" not in files, "there is none here"


def test_they_are_looked_for_on_a_mac_only(tmp_path: Path) -> None:
    filled(tmp_path / "T" / "onnxruntime-something" / "file", 1_000)
    assert "temporary models" not in by_name(looked(tmp_path, system="linux"), "files")


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_a_cache_that_may_not_be_read_has_no_size(tmp_path: Path) -> None:
    vault = tmp_path / "root" / "Library" / "Caches" / "com.apple.aned"
    vault.mkdir(parents=True, mode=0o000)
    found = by_name(looked(tmp_path), "files")["Neural Engine's cache"]
    vault.chmod(0o700)
    assert found.words.startswith("size unknown, permission denied; ")
    assert found.fix == "", "no command of the user's removes it"


def test_clearing_removes_scratch_folders_whose_maker_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    stays = ("hettop-notes", "hettop-plan-somebody's", "somebody-else's", "hettop-plan-readable")
    for name in ("hettop-plan-deadbeef", "hettop-onnx-deadbeef", *stays):
        filled(tmp_path / name / "held", 0)
        (tmp_path / name).chmod(0o755 if name.endswith("readable") else 0o700)
    filled(tmp_path / "hettop-0" / "model.onnx", 5)  # the cache of a user without a home
    cache = ModelCache(tmp_path / "cache", tmp_path / "other")
    with scratch_folder(None, "hettop-layers-") as in_use:
        assert clear(cache, compiled_models(tmp_path), tmp_path).scratch_folders == 2
        assert Path(in_use).is_dir()
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {*stays, "hettop-0"}


def test_counters_of_cache_misses_work_or_are_absent_with_the_reason(tmp_path: Path) -> None:
    def counters(why: str) -> Finding:
        (finding,) = looked(tmp_path, no_counters=why).groups["counters"]
        return finding

    assert counters("") == Finding("cache misses (hettop roofline)", True, "")
    assert counters("no such counters") == Finding("cache misses (hettop roofline)", None, "no such counters")


def test_accelerators_are_listed_with_what_can_be_read_and_why_not(tmp_path: Path) -> None:
    sysfs = nvidia_card(intel_npu(amd_card(tmp_path / "sys", {"hwmon/hwmon5/in1_input": 790})))
    lines = looked(tmp_path, system="linux", machine=pc(sysfs).machine).groups["accelerators"]
    assert [(each.what, each.works, each.words, each.fix) for each in lines] == [
        ("NPU (intel_vpu, 0000:00:0b.0)", True, "utilization, clock; no power: the driver reports no power", ""),
        (
            "AMD GPU (amdgpu, 0000:03:00.0)",
            True,
            "utilization, clock, temperature; no power: its power reading includes the CPU",
            "",
        ),
        (
            "NVIDIA",
            None,
            "an NVIDIA GPU is here, but nvidia-ml-py is not installed",
            "pip install 'hettop[nvidia]'",
        ),
    ]
    none = looked(tmp_path, system="linux", machine=pc(tmp_path / "empty").machine).groups["accelerators"]
    assert [each.words for each in none] == ["no GPU or NPU whose driver is known"]
    assert "accelerators" not in looked(tmp_path, system="darwin").groups
