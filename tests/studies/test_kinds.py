"""Which studies there are, and how they are called."""

from __future__ import annotations

from hettop.measurement.arguments import model_arguments
from hettop.measurement.options import ModelOptions
from hettop.studies.kinds import Together, coexecution, kinds


def test_every_study_is_a_command_of_hettop_on_the_unit_that_is_looked_at() -> None:
    offered = {kind.name: kind.arguments for kind in kinds("ALL", ("CPU_ONLY", "ALL", "CPU_AND_NE"))}
    assert offered["layers"] == ("layers", "--units", "ALL")
    assert offered["sweep"][:3] == ("sweep", "--units", "ALL")
    assert offered["coexec"] == ("coexec", "--until-ended", "--units", "CPU_ONLY,CPU_AND_NE"), "the usual units, live"
    assert "coexec" not in {kind.name for kind in kinds("CPU_ONLY", ("CPU_ONLY",))}, "one unit has nobody to help it"


def test_the_model_is_named_as_the_user_named_it() -> None:
    model = ModelOptions("m.onnx", "onnxruntime", "main", ("x=1,3",), ("x=7", "y=a.png"), ("h=v",), 5)
    assert model_arguments(model) == [
        *("m.onnx", "--backend", "onnxruntime", "--function", "main", "--shape", "x=1,3"),
        *("--input", "x=7", "--input", "y=a.png", "--hint", "h=v", "--seed", "5"),
    ]
    assert model_arguments(ModelOptions()) == ["mobilenetv2"]


def test_units_co_execute_as_the_user_wants_in_blocks_that_power_fits_into() -> None:
    how = Together(("CPU_ONLY@1", "CPU_ONLY@1"), ("--depth", "8"), 2_000_000_000)
    (kind,) = coexecution(("CPU_ONLY",), how)
    assert kind.arguments == (
        *("coexec", "--until-ended", "--units", "CPU_ONLY@1,CPU_ONLY@1", "--block", "2000ms", "--depth", "8"),
    )
    assert kind.together == ("CPU_ONLY@1", "CPU_ONLY@1")
    assert coexecution(("CPU_ONLY", "ALL")) == (), "one kind of processor has nobody to help it"
    assert coexecution(("CPU_ONLY", "CPU_ONLY@1", "CPU_ONLY@2"))[0].together == ("CPU_ONLY@1", "CPU_ONLY@2")


def test_granularities_are_offered_where_they_can_be_compared() -> None:
    units = ("CPU_ONLY", "ALL")
    assert "granularities" in {kind.name for kind in kinds("ALL", units, backend="onnxruntime")}
    assert "granularities" in {kind.name for kind in kinds("ALL", units)}, "any backend will do"
    assert "granularities" not in {kind.name for kind in kinds("ALL", units, backend="coreml")}
