"""A plan in words is read back as slices, or refused with what is wrong with it."""

from __future__ import annotations

import pytest
from hypothesis import given

from hettop.errors import HettopError
from hettop.studies.plan.slicing.planner import Slice, notation, plan, read_plan
from tests.studies.plan.slicing.tables import Fields, fields, random_fields, table_of

TABLE = table_of(fields(6, "BN", e=[[10, 5]] * 5 + [[10, None]]))
FREQUENCIES = table_of(fields(3, "NN", D=["N^480", "CPU_ONLY@2"]))


def test_slices_go_up_to_where_the_next_begins() -> None:
    found = read_plan(TABLE, "N_1, B_3,N_4 , B_6")
    assert found.slices == (Slice(0, 1, 1), Slice(2, 2, 0), Slice(3, 4, 1), Slice(5, 5, 0))
    assert found.cost == 10 + 10 + 10 + 10


def test_names_with_underlines_and_frequencies_are_read_whole() -> None:
    assert read_plan(FREQUENCIES, "CPU_ONLY@2_1, N_2^480").slices == (Slice(0, 0, 1), Slice(1, 2, 0))


@given(random_fields())
def test_the_notation_of_a_plan_reads_as_that_plan(given_fields: Fields) -> None:
    table = table_of(given_fields)
    try:
        best = plan(table)
    except HettopError:
        return
    assert read_plan(table, notation(table, best.slices)) == best


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "invalid slice"),
        ("X_1", "invalid slice 'X_1' .devices: B, N"),
        ("N_0", "invalid slice"),
        ("N_2", "start at layer 1"),
        ("N_1, B_1", "increase"),
        ("N_1, B_3, N_2", "increase"),
        ("N_1, B_7", "up to layer 6"),
        ("B_1, N_5", "N cannot run layers 5 to 6"),
    ],
)
def test_what_is_no_plan_is_refused(text: str, words: str) -> None:
    with pytest.raises(HettopError, match=words) as refused:
        read_plan(TABLE, text)
    assert refused.value.kind == "usage"
