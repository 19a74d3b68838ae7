"""The screen in a browser: on this machine alone, for its own page alone, and in words where it is not installed."""

from __future__ import annotations

import argparse

import pytest

from hettop.cli.screen import Address, address, serve, without_serve
from hettop.errors import HettopError
from tests.cli.running import assert_refused, called


def test_without_an_address_it_is_loopback() -> None:
    assert address("8123") == Address("127.0.0.1", 8123)
    assert address("8123").is_loopback
    assert address("localhost:80").is_loopback
    assert not address("192.168.1.5:8000").is_loopback


@pytest.mark.parametrize(
    "text", ["", "0", "70000", "model.onnx", "example.org:80", "0.0.0.0:80", "1.2.3:80", "-1", "８"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        address(text)


def test_only_pages_from_here_are_taken_for_its_own() -> None:
    assert address("8123").origins == {"http://127.0.0.1:8123", "http://localhost:8123"}
    assert address("192.168.1.5:80").origins == {"http://192.168.1.5:80"}


@pytest.mark.parametrize(
    ("given", "left"),
    [
        (["--demo", "--serve", "8123", "--fps", "2"], ["--demo", "--fps", "2"]),
        (["--serve", "--demo"], ["--demo"]),
        (["--serve=8123", "model.onnx"], ["model.onnx"]),
        (["model.onnx", "--serve"], ["model.onnx"]),
    ],
)
def test_what_is_served_is_the_same_command_without_the_option(given: list[str], left: list[str]) -> None:
    assert without_serve(given) == left


def test_without_textual_serve_it_says_what_to_install() -> None:
    with pytest.raises(HettopError) as caught:
        serve([], Address(), find=lambda _: None)
    assert caught.value.kind == "missing"
    assert "hettop[serve]" in caught.value.hint


def test_a_model_in_the_place_of_the_port_is_distinguished() -> None:
    assert_refused(called("--serve", "model.onnx"), "hint: write --serve 8000, or put --serve last")
