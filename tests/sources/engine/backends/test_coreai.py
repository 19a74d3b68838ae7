"""Core AI: units are preferences, no copy stays behind, and nothing that ends a process gets the chance."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest

from hettop.compute_units import CORE_AI_UNITS
from hettop.errors import HettopError
from hettop.models.ports import InputOptions
from hettop.sources.engine.backend import Backend, Clock, Loaded, LoadOptions, RealClock
from hettop.sources.engine.backends import coreai
from hettop.sources.engine.backends.coreai import CoreAiBackend, EventLoop
from hettop.sources.engine.backends.onnxruntime import OnnxRuntimeBackend
from hettop.sources.engine.coreml.availability import Host
from tests.clocks import FakeClock
from tests.sources.engine.backends import aimodels
from tests.sources.engine.backends.aimodels import needs_wheel
from tests.sources.engine.backends.contract import BackendContract
from tests.sources.engine.backends.fake_core_ai import Descriptor, FakeCoreAi

LINUX = Host("linux", "x86_64", "#1 SMP", (), (3, 12))
MAC_26 = Host("darwin", "arm64", "Darwin ARM64", (26, 1), (3, 12))
MAC_27 = Host("darwin", "arm64", "Darwin ARM64", (27, 0), (3, 12))


def new_backend(fake: FakeCoreAi, host: Host = LINUX, clock: Clock | None = None) -> CoreAiBackend:
    return CoreAiBackend(clock or RealClock(), host, fake.modules, lambda: True)


def on_mac(unit: str, fake: FakeCoreAi, folder: Path, **options: bool) -> Loaded:
    return new_backend(fake, MAC_27).load(
        aimodels.files(folder / "m.aimodel"),
        unit,
        LoadOptions(**options),  # type: ignore[arg-type]
    )


class CoreAiContract(BackendContract):
    unit = "COREAI:default"

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def test_every_core_ml_unit_runs_or_has_a_reason(self) -> None:
        """It has units of its own instead."""
        units = self.new_backend().units()
        assert tuple(units) == CORE_AI_UNITS
        assert units[self.unit] is None


class TestFakeContract(CoreAiContract):
    def new_backend(self) -> Backend:
        return new_backend(FakeCoreAi())

    def model(self) -> str:
        path = self.folder / "m.aimodel"
        return str(path) if path.exists() else aimodels.files(path)


@needs_wheel
class TestRealContract(CoreAiContract):
    def new_backend(self) -> Backend:
        return CoreAiBackend(RealClock())

    def model(self) -> str:
        path = self.folder / "m.aimodel"
        return str(path) if path.exists() else aimodels.authored(path)


def test_units_are_known_by_system_and_package_alone() -> None:
    def fail() -> coreai.CoreAi:
        raise AssertionError("imported")

    def units(host: Host, installed: bool = True) -> dict[str, str | None]:
        return CoreAiBackend(RealClock(), host, fail, lambda: installed).units()

    own = {"COREAI:default": None, "COREAI:cpu_only": None}
    need = dict.fromkeys(("COREAI:prefers_gpu", "COREAI:prefers_ne"), coreai.NEEDS_SYSTEM)
    assert units(LINUX) == units(MAC_26) == own | need
    assert units(MAC_27) == dict.fromkeys(CORE_AI_UNITS)
    assert set(units(MAC_27, installed=False).values()) == {coreai.NOT_INSTALLED}


@pytest.mark.parametrize(
    ("unit", "asked"),
    [
        ("COREAI:default", "default"),
        ("COREAI:cpu_only", "cpu_only"),
        ("COREAI:prefers_gpu", "prefers gpu"),
        ("COREAI:prefers_ne", "prefers neural_engine"),
    ],
)
def test_each_unit_is_specialised_as_its_name_says(unit: str, asked: str, tmp_path: Path) -> None:
    fake = FakeCoreAi(system=True)
    on_mac(unit, fake, tmp_path)
    assert fake.asked == [asked]


def test_a_preference_is_neither_a_placement_nor_silent(tmp_path: Path) -> None:
    loaded = on_mac("COREAI:prefers_ne", FakeCoreAi(system=True), tmp_path)
    assert loaded.placed is None
    assert "prefers the Neural Engine; Core AI does not report where it ran" in loaded.note


def test_the_runtime_of_the_package_is_never_asked_for_a_unit_that_it_lacks(tmp_path: Path) -> None:
    fake = FakeCoreAi(system=False)  # as with USE_LOCAL_COREAI on macOS 27
    with pytest.raises(HettopError) as caught:
        on_mac("COREAI:prefers_ne", fake, tmp_path)
    assert caught.value.kind == "unsupported-unit"
    assert fake.asked == []


def test_on_linux_it_runs_on_the_cpu_and_is_asked_for_nothing(tmp_path: Path) -> None:
    fake = FakeCoreAi()
    loaded = new_backend(fake).load(aimodels.files(tmp_path / "m.aimodel"), "COREAI:default", LoadOptions())
    assert (loaded.placed, fake.asked) == (coreai.PLACED, [None])


def test_specialising_and_loading_are_timed_apart(tmp_path: Path) -> None:
    clock = FakeClock()
    fake = FakeCoreAi(
        specialise=lambda: clock.sleep_until(clock.now() + 5000), open=lambda: clock.sleep_until(clock.now() + 70)
    )
    steps: list[str] = []
    backend = new_backend(fake, clock=clock)
    loaded = backend.load(aimodels.files(tmp_path / "m.aimodel"), "COREAI:default", LoadOptions(tell=steps.append))
    assert (loaded.compile_ns, loaded.load_ns, loaded.cached, steps) == (5000, 70, False, ["compiling"])


def test_where_the_system_specialises_it_is_part_of_the_load(tmp_path: Path) -> None:
    clock = FakeClock()
    fake = FakeCoreAi(system=True, open=lambda: clock.sleep_until(clock.now() + 70))
    loaded = new_backend(fake, MAC_27, clock).load(
        aimodels.files(tmp_path / "m.aimodel"), "COREAI:default", LoadOptions()
    )
    assert (loaded.compile_ns, loaded.load_ns, loaded.cached) == (None, 70, None)


def test_no_copy_is_left_once_the_model_is_loaded(tmp_path: Path) -> None:
    before, fake = tempfile.gettempdir(), FakeCoreAi()
    backend = new_backend(fake)
    backend.load(aimodels.files(tmp_path / "m.aimodel"), "COREAI:default", LoadOptions())
    assert [copy.exists() for copy in fake.copies] == [False]
    assert not fake.copies[0].parent.exists()
    assert tempfile.gettempdir() == before


def test_a_state_is_kept_between_calls_and_made_anew_on_demand(tmp_path: Path) -> None:
    fake = FakeCoreAi(states={"memory": Descriptor([2])})
    backend = new_backend(fake)
    loaded = backend.load(aimodels.files(tmp_path / "m.aimodel"), "COREAI:default", LoadOptions())
    feed = backend.make_inputs(loaded.inputs, InputOptions(values={"x": "1"}))
    seen = []
    for renew in (False, False, True):
        if renew:
            backend.renew_state()
        backend.predict(feed)
        seen.append(float(backend.outputs()["y"][0, 0]))
    assert seen == [4.0, 6.0, 4.0]  # 2·1 and two elements that each call counts up
    assert coreai.STATE_NOTE in loaded.note


def test_functions_are_found_by_name(tmp_path: Path) -> None:
    model = aimodels.files(tmp_path / "m.aimodel")
    assert new_backend(FakeCoreAi(functions=("only",))).load(model, "COREAI:default", LoadOptions()).inputs
    with pytest.raises(HettopError) as caught:
        new_backend(FakeCoreAi(functions=("prefill", "decode"))).load(model, "COREAI:default", LoadOptions())
    assert caught.value.kind == "input"
    assert "prefill, decode" in caught.value.hint


def test_inputs_that_no_values_are_made_for_are_refused(tmp_path: Path) -> None:
    model = aimodels.files(tmp_path / "m.aimodel")
    for described, words in (
        (Descriptor(None, None), "is an image"),
        (Descriptor([1], "bfloat16x"), "of type bfloat16x"),
    ):
        with pytest.raises(HettopError, match=words) as caught:
            new_backend(FakeCoreAi(inputs={"x": described})).load(model, "COREAI:default", LoadOptions())
        assert caught.value.kind == "format"


@pytest.mark.parametrize(
    ("producer", "kind", "words"),
    [
        ("coreai-core 1.0.0b1", "format", "cannot load m.aimodel, written by coreai-core 1.0.0b1: Asset version"),
        ("", "format", "written by an unknown version: Asset version"),
    ],
)
def test_an_asset_of_an_older_beta_names_who_wrote_it(producer: str, kind: str, words: str, tmp_path: Path) -> None:
    def refuse() -> None:
        raise RuntimeError('Asset version "1.0" is not supported')

    model = aimodels.files(tmp_path / "m.aimodel", producer, "1.0")
    with pytest.raises(HettopError) as caught:
        new_backend(FakeCoreAi(open=refuse)).load(model, "COREAI:default", LoadOptions())
    assert (caught.value.kind, words in caught.value.message) == (kind, True)
    assert "export it again" in caught.value.hint


def test_half_precision_that_goes_wrong_differs_from_cpu_only(tmp_path: Path) -> None:
    fake, model = FakeCoreAi(system=True, wrong=0.5), aimodels.files(tmp_path / "m.aimodel")
    found = {}
    for unit in ("COREAI:cpu_only", "COREAI:default"):
        backend = new_backend(fake, MAC_27)
        loaded = backend.load(model, unit, LoadOptions())
        backend.predict(backend.make_inputs(loaded.inputs, InputOptions(values={"x": "1"})))
        found[unit] = float(backend.outputs()["y"][0, 0])
    assert found == {"COREAI:cpu_only": 2.0, "COREAI:default": 2.5}


def test_a_loop_with_a_call_in_flight_is_not_closed() -> None:
    loop, began, end = EventLoop(), threading.Event(), threading.Event()

    async def work() -> int:
        began.set()
        while not end.is_set():
            await asyncio.sleep(0.001)
        return 7

    results: list[int] = []
    caller = threading.Thread(target=lambda: results.append(loop.run(work())))
    caller.start()
    assert began.wait(10)
    loop.close()
    end.set()
    caller.join(10)
    assert results == [7]
    loop.close()
    assert not loop._thread.is_alive()


# -- the real one --------------------------------------------------------------------------------------------------


@needs_wheel
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_an_authored_network_computes_what_onnx_runtime_does(dtype: type, tmp_path: Path) -> None:
    mine, theirs = CoreAiBackend(RealClock()), OnnxRuntimeBackend(RealClock())
    loaded = mine.load(aimodels.authored(tmp_path / "m.aimodel", dtype), "COREAI:cpu_only", LoadOptions())
    assert loaded.inputs[0].dtype == np.dtype(dtype).name
    feed = mine.make_inputs(loaded.inputs, InputOptions())
    mine.predict(feed)
    theirs.load(aimodels.the_same_in_onnx(tmp_path / "m.onnx"), "CPU_ONLY", LoadOptions())
    theirs.predict({"x": feed["x"].astype(np.float32)})
    limit = 1e-5 if dtype is np.float32 else 5e-3  # half precision has 11 bits
    np.testing.assert_allclose(mine.outputs()["y"], theirs.outputs()["y"], atol=limit)
    mine.close()


PROGRAM = """
import os, signal, sys, threading, time
from coreai.authoring import AIModelAsset
from hettop.models.ports import InputOptions
from hettop.sources.engine.backend import LoadOptions, RealClock
from hettop.sources.engine.backends.coreai import CoreAiBackend
backend = CoreAiBackend(RealClock())
"""
LOAD = """
loaded = backend.load(sys.argv[1], "COREAI:default", LoadOptions())
feed = backend.make_inputs(loaded.inputs, InputOptions())
backend.predict(feed)
"""


def run(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs it after `PROGRAM` with an authored model, in a process with a temporary folder of its own."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    model = folder / "m.aimodel"
    if not model.exists():
        aimodels.authored(model)
    command = [sys.executable, "-c", PROGRAM + program, str(model)]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)


@needs_wheel
def test_calls_from_any_thread_and_a_close_during_calls_end_no_process(tmp_path: Path) -> None:
    done = run(
        LOAD
        + """
def call():
    try:
        while True: backend.predict(feed)
    except Exception: pass
thread = threading.Thread(target=call, daemon=True); thread.start()
time.sleep(0.2)
for _ in range(3): backend.close()
time.sleep(0.2)
loaded = backend.load(sys.argv[1], "COREAI:cpu_only", LoadOptions())
backend.predict(backend.make_inputs(loaded.inputs, InputOptions()))
print("alive", flush=True)
os._exit(0)
""",
        tmp_path,
    )
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["alive"]), done.stderr


@needs_wheel
def test_a_process_that_has_loaded_core_ai_can_measure_with_another_whose_output_stays_clean(tmp_path: Path) -> None:
    done = run(
        LOAD
        + """
import subprocess
command = [sys.executable, "-m", "hettop", "bench", sys.argv[1], "--runs", "5", "--power", "none", "--json"]
print(subprocess.run(command, capture_output=True, check=True, text=True).stdout, flush=True)
os._exit(0)
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout[done.stdout.index("{") :])  # Core AI itself prints lines before it
    assert {row["unit"]: row["n"] for row in document["conditions"]} == {"COREAI:default": 5, "COREAI:cpu_only": 5}


@needs_wheel
def test_a_killed_process_leaves_nothing_once_it_has_loaded(tmp_path: Path) -> None:
    done = run(LOAD + "os.kill(os.getpid(), signal.SIGKILL)", tmp_path)
    assert done.returncode == -signal.SIGKILL
    assert list((tmp_path / "tmp").iterdir()) == []


@needs_wheel
def test_what_a_kill_during_the_load_leaves_the_next_load_removes(tmp_path: Path) -> None:
    dying = "AIModelAsset._write_odix = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
    assert run(dying + LOAD, tmp_path).returncode == -signal.SIGKILL
    assert [path.name.startswith(coreai.SCRATCH) for path in (tmp_path / "tmp").iterdir()] == [True]
    assert run(LOAD + "os._exit(0)", tmp_path).returncode == 0
    assert list((tmp_path / "tmp").iterdir()) == []


@needs_wheel
def test_an_asset_version_that_is_not_supported_is_an_error_in_words(tmp_path: Path) -> None:
    model = Path(aimodels.authored(tmp_path / "m.aimodel"))
    about = model / "metadata.json"
    about.write_text(about.read_text().replace('"2.0"', '"1.0"').replace("1.0.0b3", "1.0.0b1"))
    with pytest.raises(HettopError, match="Asset version") as caught:
        CoreAiBackend(RealClock()).load(str(model), "COREAI:default", LoadOptions())
    assert caught.value.kind == "format"
    assert "written by coreai-core 1.0.0b1" in caught.value.message
