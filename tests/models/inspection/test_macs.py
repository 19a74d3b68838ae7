"""The counters give what one counts by hand."""

from __future__ import annotations

import pytest

from hettop.models.inspection import macs


def test_a_convolution_sums_over_one_filter_for_each_output_value() -> None:
    # MobileNetV2's first layer: 32 maps of 112 x 112, each value a sum over 3 x 3 x 3.
    assert macs.convolution((1, 32, 112, 112), (32, 3, 3, 3)) == 10_838_016


def test_a_depthwise_convolution_sums_over_its_own_channel() -> None:
    assert macs.convolution((1, 96, 56, 56), (96, 1, 3, 3)) == 2_709_504


def test_a_transposed_convolution_spreads_each_input_value() -> None:
    # 8 channels of 4 x 4 become 16 channels: each input value meets 16 x 2 x 2 weights.
    assert macs.transposed_convolution((1, 8, 4, 4), (8, 16, 2, 2)) == 8 * 16 * 16 * 4


def test_a_matrix_product_has_rows_times_columns_times_inner_length() -> None:
    assert macs.matrix_product((5, 2, 7), (5, 2, 3)) == 5 * 2 * 7 * 3
    assert macs.matrix_product((2, 7), (3, 2), transposed=True) == 2 * 7 * 3


def test_a_vector_times_a_matrix() -> None:
    assert macs.matrix_product((7,), (3,)) == 21
    assert macs.matrix_product((7,), (3,), transposed=True) == 21


@pytest.mark.parametrize(
    ("equation", "operands", "expected"),
    [
        ("ij,jk->ik", [(2, 3), (3, 5)], 30),
        ("bhid,bhjd->bhij", [(1, 4, 6, 8), (1, 4, 7, 8)], 4 * 6 * 7 * 8),
        (" i j , j k -> i k ", [(2, 3), (3, 5)], 30),
        ("...ij,...jk->...ik", [(4, 2, 3), (4, 3, 5)], 120),
        ("...ij,jk->...ik", [(9, 4, 2, 3), (3, 5)], 9 * 120),
        ("ij->ji", [(2, 3)], 0),
        ("ij,jk,kl->il", [(2, 3), (3, 5), (5, 7)], 2 * (2 * 3 * 5 * 7)),
    ],
)
def test_an_einsum_runs_over_all_its_indices(equation: str, operands: list[tuple[int, ...]], expected: int) -> None:
    assert macs.contraction(equation, operands) == expected


def test_a_length_that_one_operand_reports_need_not_be_reported_by_the_other() -> None:
    assert macs.contraction("ij,jk->ik", [(2, None), (3, 5)]) == 30


@pytest.mark.parametrize("equation", ["", "ij,jk,kl", "ijk,jk->i", "ij,...jkl->i", "...i->i"])
def test_an_einsum_that_does_not_fit_its_operands_is_unknown(equation: str) -> None:
    assert macs.contraction(equation, [(2, 3), (3, 5)]) is None


def test_a_recurrent_layer_has_two_matrices_per_gate() -> None:
    # 10 steps of a batch of 2: 4 gates of 16, each from 8 inputs and 16 of the last state, in both directions.
    counted = macs.recurrent(10, 2, inputs=8, hidden=16, gates=macs.LSTM_GATES, directions=2)
    assert counted == 10 * 2 * 2 * (4 * 16) * (8 + 16)


def test_attention_has_two_products() -> None:
    assert macs.attention((1, 4, 6, 8), (1, 4, 7, 8), (1, 4, 7, 5)) == 4 * 6 * 7 * 8 + 4 * 6 * 7 * 5


def test_what_needs_an_unknown_length_is_unknown() -> None:
    assert macs.convolution((None, 32, 112, 112), (32, 3, 3, 3)) is None
    assert macs.convolution(None, (32, 3, 3, 3)) is None
    assert macs.transposed_convolution((1, None, 4, 4), (8, 16, 2, 2)) is None
    assert macs.matrix_product((2, 7), (2, None)) is None
    assert macs.matrix_product((2, 7), None) is None
    assert macs.contraction("ij,jk->ik", [(None, 3), (3, 5)]) is None
    assert macs.recurrent(None, 1, inputs=1, hidden=1, gates=1, directions=1) is None
    assert macs.attention((1, 4), None, (1, 4)) is None
    assert macs.attention((4,), (4,), (4,)) is None
