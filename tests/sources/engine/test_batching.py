"""Shapes for other batches and sizes, from what a model's file says of its inputs."""

from __future__ import annotations

import pytest

from hettop.errors import HettopError
from hettop.models.ports import Port
from hettop.sources.engine.batching import Scale, batch_axes, check_batch_axes, scaled, usual_batch

FREE = Port("image", "float32", ("n", 3, "h", "w"))
FIXED = Port("image", "float32", (1, 3, 224, 224))


def test_a_dynamic_first_axis_takes_the_batch_and_the_other_axes_stay() -> None:
    port = Port("image", "float32", ("n", 3, 224, 224))
    assert scaled([port], {}, Scale(batch=8)) == {"image": (8, 3, 224, 224)}


def test_batch_and_size_together() -> None:
    assert scaled([FREE], {}, Scale(4, 320, 448)) == {"image": (4, 3, 320, 448)}


def test_the_users_shape_is_what_a_batch_starts_from() -> None:
    assert scaled([FREE], {"image": (1, 3, 96, 64)}, Scale(batch=2)) == {"image": (2, 3, 96, 64)}


def test_channels_last_are_seen() -> None:
    port = Port("image", "uint8", (None, None, None, 3))
    assert scaled([port], {}, Scale(None, 224, 160)) == {"image": (1, 224, 160, 3)}


def test_all_inputs_with_a_batch_take_it_and_scalars_do_not() -> None:
    ports = [
        Port("ids", "int64", ("batch", 128)),
        Port("mask", "int64", ("batch", 128)),
        Port("lengths", "int64", ("batch",)),
        Port("threshold", "float32", (1,)),
        Port("temperature", "float32", (), kind="scalar"),
    ]
    assert scaled(ports, {}, Scale(batch=3)) == {"ids": (3, 128), "mask": (3, 128), "lengths": (3,)}


def test_a_fixed_batch_is_refused_by_name_and_the_batch_it_has_is_not() -> None:
    with pytest.raises(HettopError, match=r"image float32\[1,3,224,224\] cannot be \[2,3,224,224\]") as refused:
        scaled([FIXED], {}, Scale(batch=2))
    assert refused.value.kind == "input"
    assert "dynamic first axis" in refused.value.hint
    assert scaled([FIXED], {}, Scale(batch=1)) == {"image": (1, 3, 224, 224)}
    assert usual_batch([FIXED]) == 1
    assert usual_batch([FREE]) is None


def test_a_fixed_size_is_refused() -> None:
    with pytest.raises(HettopError, match=r"cannot be \[1,3,320,320\]") as refused:
        scaled([FIXED], {}, Scale(None, 320, 320))
    assert "dynamic height and width" in refused.value.hint


def test_core_mls_flexible_sizes_and_its_images_without_a_batch() -> None:
    image = Port(
        "image",
        "uint8",
        (1, 3, None, None),
        kind="image",
        usual=(1, 3, 224, 224),
        choices=((1, 3, 224, 224), (1, 3, 320, 320)),
    )
    assert scaled([image], {}, Scale(None, 320, 320)) == {"image": (1, 3, 320, 320)}
    with pytest.raises(HettopError, match=r"cannot be \[1,3,448,448\]"):
        scaled([image], {}, Scale(None, 448, 448))
    with pytest.raises(HettopError, match="images have no batch"):
        scaled([image], {}, Scale(batch=2))


def test_a_range_of_batches_is_kept_to() -> None:
    port = Port("x", "float32", (None, 10), usual=(1, 10), ranges=((1, 8), (10, 10)))
    assert scaled([port], {}, Scale(batch=8)) == {"x": (8, 10)}
    with pytest.raises(HettopError, match=r"cannot be \[16,10\]"):
        scaled([port], {}, Scale(batch=16))


def test_what_is_no_image_has_no_size() -> None:
    with pytest.raises(HettopError, match="no image input"):
        scaled([Port("ids", "int64", ("n", 128))], {}, Scale(None, 224, 224))


STATE = Port("state", "float32", (2, "batch", 128))


def test_the_axis_that_is_named_so_is_the_batch_wherever_it_stands() -> None:
    ports = [Port("frames", "float32", ("batch", 10, 8)), STATE, Port("table", "float32", (100, 4))]
    assert scaled(ports, {}, Scale(batch=3)) == {"frames": (3, 10, 8), "state": (2, 3, 128)}


def test_a_name_that_all_inputs_share_is_the_batch() -> None:
    ports = [Port("x", "float32", ("time", "s0", 8)), Port("h", "float32", (1, "s0", 16))]
    assert batch_axes(ports, {}) == {"x": 1, "h": 1}


def test_where_no_name_tells_the_user_is_asked() -> None:
    ports = [Port("input", "float32", (None, None)), Port("state", "float32", (2, None, 128))]
    with pytest.raises(HettopError, match="cannot determine which axis is the batch: state") as refused:
        scaled(ports, {}, Scale(batch=4))
    assert "--batch-axis state=1" in refused.value.hint
    assert scaled(ports, {}, Scale(batch=4), {"state": 1}) == {"input": (4, 1), "state": (2, 4, 128)}
    assert scaled(ports, {"state": (2, 1, 128)}, Scale(batch=1)) == {"state": (2, 1, 128)}, "the model as it is"


def test_an_axis_that_an_input_does_not_have_is_refused() -> None:
    for asked, words in (({"state": 3}, "no axis 3"), ({"other": 0}, "no input 'other'")):
        with pytest.raises(HettopError, match=words):
            check_batch_axes([STATE], asked)


def test_a_fixed_batch_behind_the_first_axis_is_refused_with_what_to_do() -> None:
    port = Port("state", "float32", (2, 1, 128))
    with pytest.raises(HettopError, match=r"cannot be \[2,4,128\]") as refused:
        scaled([port], {}, Scale(batch=4), {"state": 1})
    assert refused.value.hint == "export the model with a dynamic batch axis"
