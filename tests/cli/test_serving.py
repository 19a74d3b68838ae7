"""The screen in a browser: on this machine alone, for its own page alone, and in words where it is not installed."""

from __future__ import annotations

import argparse
import json
import os
import re
import select
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hettop.cli.screen import Address, address, serve, served_line, without_serve
from hettop.errors import HettopError
from hettop.processes.child_process import module_command
from tests.cli.running import assert_refused, called, plain_environment
from tests.processes.waiting import PATIENCE_S


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


def test_what_is_served_is_searched_for_where_hettop_is() -> None:
    line = shlex.split(served_line(["--demo", "--serve", "my model.onnx"]))
    assert line == [*module_command("hettop"), "--demo"]
    assert "-P" in line


@pytest.fixture
def page(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The demo as textual-serve starts it, with what it draws read up to its first words."""
    folder = tmp_path / "hostile"
    (folder / "hettop").mkdir(parents=True)
    for name in ("hettop/__init__.py", "msgspec.py"):
        (folder / name).write_text("raise SystemExit('a module of the current folder ran')")
    environment = plain_environment(TEXTUAL_DRIVER="textual.drivers.web_driver:WebDriver", COLUMNS="100", ROWS="30")
    pipe = subprocess.PIPE
    with subprocess.Popen(
        shlex.split(served_line(["--demo"])), stdin=pipe, stdout=pipe, env=environment, cwd=folder
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"__GANGLION__\n"
        yield process
        process.kill()


def test_a_page_ends_with_the_server_and_is_never_larger_than_a_screen(page: subprocess.Popen[bytes]) -> None:
    assert page.stdin is not None
    size = json.dumps({"type": "resize", "width": 10**6, "height": 10**6}).encode()
    page.stdin.write(b"M" + len(size).to_bytes(4, "big") + size)
    page.stdin.flush()
    # 800 x 300 are drawn: the cursor is put into the last row, and into none below it.
    drawn = read_until(page, rb"\x1b\[300;")
    assert max(int(row) for row in re.findall(rb"\x1b\[(\d+);\d+H", drawn)) == 300
    page.stdin.close()  # as the system does for a server that was killed
    read_until(page, rb"$.^")
    assert page.wait(PATIENCE_S) == 0


def read_until(page: subprocess.Popen[bytes], pattern: bytes) -> bytes:
    """What is drawn until it contains `pattern`, or until its end."""
    assert page.stdout is not None
    drawn = b""
    while not re.search(pattern, drawn):
        assert select.select([page.stdout], [], [], PATIENCE_S)[0], "nothing more is drawn"
        more = os.read(page.stdout.fileno(), 1 << 16)
        if not more:
            break
        drawn += more
    return drawn
