"""`hettop compare` with several recordings a side, and its exit codes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from tests.analysis.material import stream_of, write
from tests.cli.running import assert_refused, called, one_document
from tests.streams import header

SOME = np.random.default_rng(1).permutation(np.linspace(9.0, 11.0, 60))


def recorded(folder: Path, side: str, *factors: float) -> list[str]:
    """A recording for each factor, of one unit."""
    found = []
    for number, factor in enumerate(factors, start=1):
        name = f"{side}-{number}"
        opening = msgspec.structs.replace(header(), id=name)
        found.append(str(write(folder / f"{name}.jsonl", stream_of({"CPU_ONLY": factor * SOME}), opening=opening)))
    return found


def arguments(a: list[str], b: list[str], *more: str) -> list[str]:
    return ["compare", a[0], b[0], "--before", *a, "--after", *b, *more]


@pytest.mark.parametrize(
    ("factor", "spread", "plain", "with_proof"),
    [(1.0, 0.001, 0, 0), (1.5, 0.001, 1, 1), (0.5, 0.001, 0, 0), (1.5, 0.3, 0, 4), (1.0, 0.3, 0, 4)],
)
def test_exit_codes_of_several_runs(tmp_path: Path, factor: float, spread: float, plain: int, with_proof: int) -> None:
    factors = np.array([1 - spread, 1.0, 1 + spread])
    a, b = recorded(tmp_path, "a", *factors), recorded(tmp_path, "b", *(factor * factors))
    assert called(*arguments(a, b)).returncode == plain
    done = called(*arguments(a, b, "--require-proof", "--json"))
    assert done.returncode == with_proof
    document = one_document(done.stdout)
    assert document["runs"] == {"a": 3, "b": 3}, "the first file of each side is named twice and counts once"
    assert document["proven"] == (with_proof != 4)
    assert document["equivalent"] == (factor == 1.0 and with_proof == 0)
    assert document["conditions"][0]["n"] == [180, 180]


@pytest.mark.parametrize("factor", [1.0, 1.5])
def test_one_run_a_side_is_never_called_proven(tmp_path: Path, factor: float) -> None:
    (a,), (b,) = recorded(tmp_path, "a", 1.0), recorded(tmp_path, "b", factor)
    done = called("compare", a, b)
    assert done.returncode == (factor > 1)
    assert "proven" not in done.stdout
    assert "one run a side" in done.stdout
    assert called("compare", a, b, "--require-proof").returncode == 4


def test_several_runs_say_what_is_proven(tmp_path: Path) -> None:
    a = recorded(tmp_path, "a", 1.0, 1.001, 1.002)
    same = " ".join(called(*arguments(a, recorded(tmp_path, "b", 1.001, 1.0, 1.002))).stdout.split())
    assert "and 2 more runs" in same
    assert "the same within ±5.0%, proven" in same
    assert "the same, proven" in same
    slow = " ".join(called(*arguments(a, recorded(tmp_path, "c", 1.5, 1.501, 1.502))).stdout.split())
    assert "1 regression: proven slower by more than 5.0%, or failed" in slow
    assert "REGRESSION, proven" in slow


def test_too_few_runs_and_copies_of_a_run_are_refused(tmp_path: Path) -> None:
    a, b = recorded(tmp_path, "a", 1.0, 1.01, 1.02), recorded(tmp_path, "b", 1.0, 1.01, 1.02)
    assert_refused(called(*arguments(a, b[:1])), "too few runs of B: 1")
    assert_refused(called(*arguments(a[:2], b[:2])), "too few runs of A: 2")
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(Path(a[0]).read_bytes())
    assert_refused(called(*arguments([*a[:2], str(copy)], b)), "the same recording twice")
    assert_refused(called(*arguments(a, [*b[:2], a[0]])), "the same recording twice")
    assert_refused(called(*arguments(a, [*b, str(tmp_path / "missing.jsonl")])), "missing.jsonl")
    assert called("compare", a[0], a[0]).returncode == 0, "a run may be compared with itself"


def test_a_comparison_of_too_few_samples_claims_nothing(tmp_path: Path) -> None:
    few = [
        str(write(tmp_path / f"{name}.jsonl", stream_of({"CPU_ONLY": [1.0, 2.0]}), opening=header())) for name in "ab"
    ]
    done = called("compare", *few)
    assert "not compared: insufficient data" in done.stdout
    assert "no regression" not in done.stdout
    assert (done.returncode, called("compare", *few, "--require-proof").returncode) == (0, 4)


def test_options_may_stand_between_the_two_recordings(tmp_path: Path) -> None:
    (a,), (b,) = recorded(tmp_path, "a", 1.0), recorded(tmp_path, "b", 1.5)
    assert called("compare", a, "--tolerance", "60%", b).returncode == 0
    assert called("compare", "--tolerance", "5%", a, b).returncode == 1
