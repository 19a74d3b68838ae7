"""A Core ML port becomes the engine's with every freedom its description leaves."""

from __future__ import annotations

from hettop.models.mil.ports import Port as Described
from hettop.models.package_ports import described, package_port
from hettop.models.ports import Port


def test_a_fixed_port_has_its_shape_and_no_proposal() -> None:
    port = package_port(Described("x", "array", "float32", (1, 4)))
    assert (port.shape, port.usual, port.kind, port.dtype) == ((1, 4), None, "array", "float32")


def test_a_range_leaves_only_those_axes_open_that_it_leaves_open() -> None:
    port = package_port(Described("x", "array", "float32", (3, 4), ((2, None), (4, 4))))
    assert (port.shape, port.usual, port.ranges) == ((None, 4), (3, 4), ((2, None), (4, 4)))


def test_listed_shapes_leave_those_axes_open_in_which_they_differ() -> None:
    port = package_port(Described("x", "array", "float32", (1, 16), choices=((1, 8), (1, 16))))
    assert (port.shape, port.usual, port.choices) == ((1, None), (1, 16), ((1, 8), (1, 16)))


def test_shapes_of_several_ranks_leave_every_axis_open() -> None:
    assert package_port(Described("x", "array", "float32", (8,), choices=((8,), (2, 8)))).shape == (None,)


def test_an_image_keeps_its_colours_and_an_optional_input_its_value() -> None:
    image = package_port(Described("x", "image", "uint8", (1, 3, 4, 6), color="BGR"))
    assert (image.kind, image.color) == ("image", "BGR")
    gain = package_port(Described("g", "array", "float32", (1,), optional=True, default=2.0))
    assert (gain.optional, gain.fill) == (True, 2.0)


def test_the_translations_type_and_names_of_axes_stay() -> None:
    translated = Port("x", "float32", (1, 3, "x_2", "x_3"))
    image = Described("x", "image", "uint8", (1, 3, 4, 6), choices=((1, 3, 4, 6), (1, 3, 8, 6)), color="RGB")
    port = described(translated, image)
    assert (port.dtype, port.shape, port.kind, port.usual) == ("float32", (1, 3, "x_2", 6), "image", (1, 3, 4, 6))


def test_a_description_of_another_rank_reports_nothing_of_the_shape() -> None:
    port = described(
        Port("x", "float32", ("n", 4)), Described("x", "array", "float32", (4,), optional=True, default=1.0)
    )
    assert (port.shape, port.usual, port.optional, port.fill) == (("n", 4), None, True, 1.0)
