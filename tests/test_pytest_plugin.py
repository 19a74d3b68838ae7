"""The pytest plugin: which limits fail a test, what is kept of it, and what it costs a run that does not measure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

import hettop.pytest_plugin
from hettop.errors import HettopError
from tests.cli.running import hettop as run_hettop
from tests.cli.running import plain_environment
from tests.processes.waiting import PATIENCE_S, REPOSITORY

pytestmark = pytest.mark.slow

pytest_plugins = ["pytester"]

OPTIONS = ("-p", "no:hettop", "-p", "hettop.pytest_plugin", "-p", "no:cacheprovider", "-p", "no:textual-snapshot")
"""By its module, whether or not this checkout is what is installed here."""
ENOUGH = 2_640
"""Samples of one unit in a stretch: at most 24 independent ones, of which P50 needs 11."""


@pytest.fixture(autouse=True)
def _without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs inside these tests are no workers of the run around them."""
    for name in [name for name in os.environ if name.startswith("PYTEST_XDIST")]:
        monkeypatch.delenv(name)


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with a model of microseconds: twice its input of shape [batch, 8]."""
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 8]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "twice", ports[:1], ports[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(pytester.path / "twice.onnx"))
    return pytester


def run(project: pytest.Pytester, tests: str, *options: str) -> tuple[dict[str, int], str]:
    """How many tests had which outcome, and what was printed."""
    project.makepyfile(test_latency=textwrap.dedent(tests))
    done = project.runpytest_subprocess(*OPTIONS, "-n", "0", *options)
    return done.parseoutcomes(), done.stdout.str()


def recordings(project: pytest.Pytester, folder: str = ".hettop") -> list[str]:
    return sorted(path.name for path in (project.path / folder).glob("*.jsonl"))


def test_what_is_met_passes_and_what_is_missed_fails_with_value_interval_and_recording(
    project: pytest.Pytester,
) -> None:
    """A simulation has no noise of this machine. P99 needs only 20 calls to be missed, as all of them are beyond it."""
    tests = f"""
        def test_met(latency):
            measured = latency("mobilenetv2", units="ane", samples={ENOUGH}, backend="simulated")
            measured.check("p50<10s", "CPU_AND_NE.p50<=1s")
            (row,) = measured.statistics
            assert row.n == {ENOUGH}

        def test_missed(latency):
            latency("twice.onnx", units="cpu@1", samples=100).check("p99<0.1us")

        def test_that_fails_otherwise(latency):
            assert latency("twice.onnx", units="cpu@1", samples=9).statistics[0].n == 8
    """
    outcomes, printed = run(project, tests)
    assert outcomes == {"passed": 1, "failed": 2}, printed
    missed = "AssertionError: latency limit not met: CPU_ONLY@1.p99<0.1us: p99 of CPU_ONLY@1 is n/a, interval 0."
    assert missed in printed
    assert "100 samples (effective sample size" in printed
    assert f"recording: {project.path}/.hettop/test_latency.py-test_missed.jsonl" in printed
    kept = ["test_latency.py-test_missed.jsonl", "test_latency.py-test_that_fails_otherwise.jsonl"]
    assert recordings(project) == kept
    assert (project.path / ".hettop/.gitignore").read_text() == "*\n"
    replayed = run_hettop("replay", str(project.path / ".hettop" / kept[0]), "--json")
    assert json.loads(replayed.stdout)["conditions"][0]["n"] == 100


def test_a_batch_is_that_of_the_model_s_dynamic_axis_or_of_a_network_by_name(project: pytest.Pytester) -> None:
    setup = hettop.pytest_plugin._setup(str(project.path / "twice.onnx"), "cpu@1", 4, None)
    assert setup.inputs.shapes == {"x": (4, 8)}
    assert hettop.pytest_plugin._setup("mobilenetv2:32x32", None, 4, None).model.name == "mobilenetv2:32x32:b4"


@pytest.mark.parametrize(
    ("duration", "samples"),
    [
        (None, 0),
        (None, -3),
        (None, "30"),
        (None, 2.5),
        (None, True),
        (None, 10**30),
        ("nan", None),
        (5, None),
        ("", None),
    ],
)
def test_no_such_duration_or_number_of_samples_is_measured(duration: Any, samples: Any) -> None:
    with pytest.raises(HettopError, match=r"invalid (duration|number of samples): "):
        hettop.pytest_plugin._options(duration, samples, Path("x.jsonl"), interleave=False)


UNDECIDED = """
    def test_short(latency):
        latency("twice.onnx", units="cpu@1", samples=100).check("p90<10s")
"""


def test_what_is_undecided_passes_with_a_warning_and_keeps_its_recording(project: pytest.Pytester) -> None:
    outcomes, printed = run(project, UNDECIDED, "--hettop-recordings", "kept/here")
    assert outcomes == {"passed": 1, "warnings": 1}, printed
    assert "UndecidedWarning: latency limit undecided: CPU_ONLY@1.p90<10s: p90 of CPU_ONLY@1 is 0." in printed
    assert "not proven: effective sample size 1, but this percentile needs 64" in printed
    assert recordings(project, "kept/here") == ["test_latency.py-test_short.jsonl"]
    assert not (project.path / "kept/here/.gitignore").exists(), "a folder that the user chose is left alone"


def test_what_is_undecided_fails_where_a_proof_is_required(project: pytest.Pytester) -> None:
    outcomes, printed = run(project, UNDECIDED, "--hettop-require-proof")
    assert outcomes == {"failed": 1}, printed
    assert "AssertionError: latency limit undecided: CPU_ONLY@1.p90<10s" in printed


def test_wrong_use_is_an_error_with_its_hint_and_no_recording(project: pytest.Pytester) -> None:
    tests = """
        import pytest
        from hettop.errors import HettopError

        @pytest.mark.parametrize(("model", "options", "limit"), [
            ("missing.onnx", {}, "p90<1s"),
            ("twice.onnx", {"samples": 9, "duration": "1s"}, "p90<1s"),
        ])
        def test_refused(latency, model, options, limit):
            with pytest.raises(HettopError) as caught:
                latency(model, **options).check(limit)
            assert caught.value.__notes__[0].startswith("hint: ")

        @pytest.mark.parametrize("limit", ["mean<1s", "p90>1s", "CPU_ONLY@2.p90<1s", "nonsense"])
        def test_refused_limits(latency, limit):
            measured = latency("twice.onnx", units="cpu@1", samples=9)
            with pytest.raises(HettopError) as caught:
                measured.check(limit)
            assert caught.value.__notes__[0].startswith("hint: ")
    """
    outcomes, printed = run(project, tests)
    assert outcomes == {"passed": 6}, printed
    assert recordings(project) == []


def test_wrong_use_shows_the_line_of_the_test_message_and_hint_and_nothing_of_hettop(
    project: pytest.Pytester,
) -> None:
    tests = """
        def test_mistyped(latency):
            latency("mobilenetv3").check("p90<1s")

        def test_without_proof(latency):
            latency("twice.onnx", units="cpu@1", samples=9).check("mean<1s")
    """
    outcomes, printed = run(project, tests)
    assert outcomes == {"failed": 2}, printed
    assert 'latency("mobilenetv3").check("p90<1s")' in printed
    assert "HettopError: cannot be proven: CPU_ONLY@1.mean<1s" in printed
    assert printed.count("hint: ") == 2
    assert "use an upper limit of p50" in printed
    assert "pytest_plugin.py" not in printed.replace("test_pytest_plugin", "")
    assert "/hettop/" not in printed


def test_two_tests_on_two_workers_measure_one_after_the_other_and_say_that_workers_share_the_machine(
    project: pytest.Pytester,
) -> None:
    tests = """
        import pathlib, time, pytest

        @pytest.mark.parametrize("name", ["a", "b"])
        def test_measures(latency, name):
            begin = time.monotonic_ns()
            latency("twice.onnx", units="cpu@1", samples=100).check("p90<10s")
            pathlib.Path(f"{name}.txt").write_text(f"{begin} {time.monotonic_ns()}")
    """
    outcomes, printed = run(project, tests, "-n", "2")
    assert outcomes["passed"] == 2, printed
    times = [tuple(map(int, (project.path / name).read_text().split())) for name in ("a.txt", "b.txt")]
    (_, first_end), (second_begin, _) = sorted(times)
    assert first_end < second_begin
    assert "2 pytest workers shared the machine" in printed


CHILD = """
import json, sys, pytest
code = pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", "test_plain.py"])
names = sorted({name.partition(".")[0] for name in sys.modules} | {n for n in sys.modules if n.startswith("hettop")})
open(sys.argv[1], "w").write(json.dumps([int(code), names]))
"""


def test_the_entry_point_costs_a_run_that_does_not_measure_one_light_module(tmp_path: Path) -> None:
    """By metadata with the entry points of pyproject.toml, as an installed package has them."""
    groups = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    metadata = tmp_path / "site" / "hettop-0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: hettop\nVersion: 0\n")
    (metadata / "entry_points.txt").write_text(
        "".join(f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in names.items()) for group, names in groups.items())
    )
    (tmp_path / "test_plain.py").write_text(
        "def test_it(pytestconfig):\n    assert pytestconfig.pluginmanager.get_plugin('hettop')\n"
    )
    path = os.pathsep.join([str(tmp_path / "site"), str(REPOSITORY)])
    disabled = {"PYTEST_ADDOPTS": "-p no:textual-snapshot -p no:syrupy -p no:hypothesispytest"}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, "modules.json"],
        cwd=tmp_path,
        env=plain_environment(PYTHONPATH=path, **disabled),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    code, modules = json.loads((tmp_path / "modules.json").read_text())
    assert code == 0, done.stdout + done.stderr
    assert {name for name in modules if name.startswith("hettop")} == {
        "hettop",
        "hettop.version",
        "hettop.pytest_plugin",
    }
    assert not {"numpy", "textual", "msgspec", "onnxruntime", "psutil"} & set(modules)


def test_the_fixture_is_explained_by_pytest() -> None:
    assert (hettop.pytest_plugin.latency.__doc__ or "").startswith("Measure a model: `latency(")
