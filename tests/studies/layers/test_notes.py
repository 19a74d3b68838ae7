"""Notes on how layers were measured, and on what bounds rest on."""

from __future__ import annotations

from msgspec.structs import replace

from hettop.studies.layers.notes import bound_notes
from hettop.studies.layers.result import Kernel, LayerRow, Roofs
from tests.studies.layers.measured import CONV, DEPTHWISE, ROOFS, measured


def test_notes_state_the_sum_of_the_layers_against_a_whole_call() -> None:
    assert measured().notes == [
        "layers sum to 8.00 ms; a call without the profiler takes 10.0 ms end to end, 80% of it",
        "times are measured: mean of the middle half of 50 calls, calls with and without the profiler interleaved",
        "2 operations of the model are fused into others",
        "3 operations of the model do not run: the runtime folds or removes them at load",
        "a note",
    ]


def test_the_last_note_is_that_a_table_has_not_all_layers() -> None:
    assert measured(*[CONV] * 201).notes[-1] == "the table ends after 200 of 201 layers; --json has all"
    assert measured(*[CONV] * 200).notes[-1] == "a note"


def test_a_roof_that_half_of_its_calls_do_not_half_reach_is_said_to_be_disturbed() -> None:
    """49.7 of 201 is a quarter; a kernel that is no roof may differ as it likes."""
    kernels = [Kernel("conv 3x3", 201.0, 49.7), Kernel("GEMM", 90.0, 10.0)]
    notes = measured(roofs=Roofs.of_kernels(kernels, ROOFS.streaming)).notes
    note = (
        "roof of compute: the best call of conv 3x3 did 201 GFLOP/s, half of its calls less than 49.7: background "
        "activity interfered"
    )
    assert [each.startswith(note) for each in notes].count(True) == 1
    assert not any("GEMM" in each for each in notes)
    assert not any("background activity" in each for each in measured().notes)


def test_memory_that_was_disturbed_is_reported_in_its_own_unit() -> None:
    notes = measured(roofs=Roofs.of_kernels(ROOFS.compute, [Kernel("read", 20.0, 9.0)])).notes
    assert any("did 20.0 GB/s, half of its calls less than 9.00" in each for each in notes)


def told(*layers: LayerRow, roofs: Roofs = ROOFS) -> str:
    return "\n".join(bound_notes(measured(*layers, roofs=roofs)))


def test_bounds_rest_on_the_ridge_and_the_size_of_the_cache() -> None:
    assert told().splitlines() == [
        "bound: by the ridge of roofs measured here with as many threads: 100 GFLOP/s and 20.0 GB/s "
        "meet at 2.50 MACs/B",
        "2 of 4 layers fit in the last-level cache (1.0 MB) with all their data: memory may not limit them",
    ]


def test_an_unknown_cache_is_said_to_be_unknown() -> None:
    unknown = told(roofs=replace(ROOFS, cache_bytes=None))
    assert "sizes are not reported by the system" in unknown
    assert "fit in" not in unknown


def test_a_layer_near_the_ridge_is_said_to_be_with_the_intensities_between_which_it_may_lie() -> None:
    near = replace(DEPTHWISE, name="near", macs=5_200_000)  # 2.6 MACs per byte, and the ridge is at 2.5
    found = measured(CONV, DEPTHWISE, near)
    assert [(layer.bound, layer.near_ridge) for layer in found.layers] == [
        ("compute", False),
        ("memory", False),
        ("compute", True),
    ]
    assert "ridge: 1 layer too close to it (from 2.25 to 2.78 MACs/B) for either limit to be certain" in told(
        near, CONV
    )
    assert "too near" not in told()
