"""The action of action.yml: its scripts are run as GitHub's runner runs them, in a folder of their own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.cli.running import plain_environment
from tests.processes.waiting import PATIENCE_S, REPOSITORY

yaml: Any = pytest.importorskip("yaml", reason="PyYAML is not installed")
ACTION: dict[str, Any] = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
INSTALL, MEASURE, KEEP = ACTION["runs"]["steps"]
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
"""As the runner calls a step with `shell: bash`."""

HETTOP = f"""#!{sys.executable}
# hettop on a simulated machine; with RUNS, so many samples, however busy the machine is that simulates.
import os, sys
from hettop.__main__ import main
arguments = sys.argv[1:]
if arguments[0] == "bench" and "SIMULATE" in os.environ:
    if "RUNS" in os.environ:
        arguments = [each for each in arguments if not each.startswith("--duration")]
        arguments[1:1] = ["--runs", os.environ["RUNS"]]
    arguments[1:1] = ["--backend", "simulated"]
sys.exit(main(arguments))
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed"),
]


@dataclass(frozen=True)
class Done:
    code: int
    printed: str
    summary: str
    outputs: dict[str, str]


def measure(folder: Path, hettop: str = HETTOP, **environment: str) -> Done:
    """Run the step that measures, with the action's own defaults for what is not named."""
    program = folder / "runner/hettop/bin/hettop"
    program.parent.mkdir(parents=True)
    program.write_text(hettop)
    program.chmod(0o755)
    names = {name: value.removeprefix("${{ inputs.").removesuffix(" }}") for name, value in MEASURE["env"].items()}
    defaults = {name: str(ACTION["inputs"][of].get("default", "")) for name, of in names.items()}
    assert not {"MODEL", "LIMITS", "BASELINE"} - set(defaults)
    files = {
        "RUNNER_TEMP": folder / "runner",
        "GITHUB_OUTPUT": folder / "outputs",
        "GITHUB_STEP_SUMMARY": folder / "summary.md",
    }
    for file in ("outputs", "summary.md"):
        (folder / file).touch()
    work = folder / "work"
    work.mkdir()
    environment = {**defaults, **{name: str(path) for name, path in files.items()}, **environment}
    done = subprocess.run(
        [*BASH, MEASURE["run"]],
        cwd=work,
        env=plain_environment(**environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.stderr == ""
    outputs = dict(line.split("=", 1) for line in (folder / "outputs").read_text().splitlines())
    return Done(done.returncode, done.stdout, (folder / "summary.md").read_text(), outputs)


SIMULATED = {"SIMULATE": "1", "MODEL": "mobilenetv2", "UNITS": "ane"}
PROVEN = {**SIMULATED, "RUNS": "2640"}
"""Samples in one stretch that are worth 24 independent ones: enough for P50, which needs 11 (20 to be missed)."""


def test_a_limit_that_is_met_passes_with_the_table_in_the_summary(tmp_path: Path) -> None:
    done = measure(tmp_path, **PROVEN, LIMITS="\n CPU_AND_NE.p50<10s \n\nane.p50<=20s")
    assert (done.code, done.printed, done.outputs) == (0, "", {"verdict": "met"})
    heading, _, rest = done.summary.partition("\n\n")
    assert heading == "# hettop: met"
    assert "SIMULATED" in rest
    assert "| CPU\\_AND\\_NE | 2,640 |" in rest
    results = tmp_path / "work/hettop-results"
    assert sorted(path.name for path in results.iterdir()) == ["model.jsonl", "report.md"]


def test_a_limit_that_is_missed_fails_with_the_evidence_in_the_summary(tmp_path: Path) -> None:
    done = measure(tmp_path, **PROVEN, LIMITS="ane.p50<1us")
    assert (done.code, done.outputs) == (1, {"verdict": "missed"})
    heading, evidence, *_ = done.summary.split("\n\n")
    assert heading == "# hettop: not met"
    assert evidence.startswith("    error: threshold not met: ane.p50<1us: p50 of CPU_AND_NE is 0.6")
    assert evidence.strip() in done.printed
    assert (tmp_path / "work/hettop-results/model.jsonl").stat().st_size > 0


@pytest.mark.parametrize(("require_proof", "code"), [("false", 0), ("true", 4)])
def test_what_is_undecided_warns_and_fails_only_where_a_proof_is_required(
    require_proof: str, code: int, tmp_path: Path
) -> None:
    done = measure(
        tmp_path, **SIMULATED, DURATION="100ms", LIMITS="ane.p90<10s", REQUIRE_PROOF=require_proof, RESULTS="a folder"
    )
    assert (done.code, done.outputs) == (code, {"verdict": "undecided"})
    assert done.summary.startswith("# hettop: undecided: more samples are needed\n\n    error: threshold undecided: ")
    assert ("::warning title=hettop::" in done.printed) is (code == 0)
    assert (tmp_path / "work/a folder/model.jsonl").exists()


def test_the_same_model_as_baseline_is_compared_in_rounds_and_leaves_a_junit_report(tmp_path: Path) -> None:
    """A simulation has no differences between its runs: the same is proven from three on each side."""
    done = measure(tmp_path, **SIMULATED, RUNS="100", BASELINE="mobilenetv2", ROUNDS="3")
    results = tmp_path / "work/hettop-results"
    junit = results / "compare.xml"
    assert (done.code, done.outputs) == (0, {"verdict": "met", "junit": str(junit)}), done.printed
    assert "## Compared with the baseline" in done.summary
    assert len(ET.parse(junit).getroot().findall(".//testcase")) == 1
    rounds = {f"{side}-{number}.jsonl" for side in ("baseline", "model") for number in (1, 2, 3)}
    assert rounds < {path.name for path in results.iterdir()}


EXITS = """#!/bin/sh
echo "$1" >>commands.txt
[ "$1" = compare ] && exit $COMPARE
case "$*" in *--assert*) exit $BENCH ;; esac
"""
"""Instead of hettop: exits with BENCH where limits are checked, with COMPARE for a comparison."""


@pytest.mark.parametrize(
    ("bench", "compare", "code", "verdict", "commands"),
    [
        (4, 1, 1, "missed", 8),  # a regression is more than an undecided limit
        (1, 4, 1, "missed", 8),
        (0, 4, 4, "undecided", 8),
        (4, 0, 4, "undecided", 8),
        (1, 2, 2, "failed", 8),  # what failed is not hidden by a limit that is missed
        (3, 0, 3, "failed", 1),
        (130, 0, 130, "failed", 1),
    ],
)
def test_of_several_exit_codes_the_one_that_counts_remains(
    bench: int, compare: int, code: int, verdict: str, commands: int, tmp_path: Path
) -> None:
    """One measurement for the limits, three of each model for the comparison, and the comparison."""
    inputs = {"MODEL": "a", "BASELINE": "b", "ROUNDS": "3", "LIMITS": "cpu.p50<1s", "REQUIRE_PROOF": "true"}
    done = measure(tmp_path, EXITS, **inputs, BENCH=str(bench), COMPARE=str(compare))
    assert (done.code, done.outputs["verdict"]) == (code, verdict)
    assert len((tmp_path / "work/commands.txt").read_text().splitlines()) == commands


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"MODEL": "missing.onnx"}, "missing.onnx"),
        ({"MODEL": "--help"}, "--help"),
        ({"UNITS": "--record=x"}, "--record=x"),
        ({"LIMITS": "ane.mean<3ms"}, "cannot be proven: ane.mean<3ms"),
        *(
            ({"BASELINE": "mobilenetv2", "ROUNDS": rounds, "RUNS": "9"}, "invalid number of rounds: ")
            for rounds in ("3\n::error::x", "08", "0", "2", "x", "100")
        ),
        ({"MODEL": "$(touch a)`touch b`;touch c\"'\ntouch d\n::error::x"}, "touch a"),
        ({"LIMITS": "$(touch a)`touch b`;touch c\"'"}, "invalid threshold"),
    ],
)
def test_wrong_inputs_fail_with_the_reason_and_are_never_run(
    environment: dict[str, str], words: str, tmp_path: Path
) -> None:
    done = measure(tmp_path, **{**SIMULATED, **environment})
    assert (done.code, done.outputs["verdict"]) == (2, "failed")
    assert done.summary.startswith("# hettop: failed with exit code 2\n\n    error: ")
    assert words in done.printed
    assert not [line for line in done.printed.splitlines() if line.lstrip().startswith("::")]
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["hettop-results"]


def test_hettop_is_installed_from_the_action_s_own_checkout_into_an_environment_of_its_own(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(
        '#!/bin/sh\nmkdir -p "$3/bin"\nprintf \'#!/bin/sh\\necho "$@"\\n\' >"$3/bin/pip"\nchmod +x "$3/bin/pip"\n'
    )
    python.chmod(0o755)
    environment = plain_environment(PYTHON=str(python), SOURCE="a checkout", RUNNER_TEMP=str(tmp_path / "runner"))
    done = subprocess.run([*BASH, INSTALL["run"]], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "install --quiet --disable-pip-version-check a checkout\n")


def test_no_input_stands_in_a_script_and_every_input_is_used() -> None:
    assert not any("${{" in step.get("run", "") for step in ACTION["runs"]["steps"])
    used = {value for step in (INSTALL, MEASURE) for value in step["env"].values()}
    used |= {KEEP["if"], *KEEP["with"].values()}
    assert all(any(f"inputs.{name}" in value for value in used) for name in ACTION["inputs"])
    assert "always()" in KEEP["if"], "the recordings of a failure, too"
