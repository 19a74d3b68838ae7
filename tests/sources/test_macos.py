"""The version of macOS is the kernel's, whatever SDK Python was built with."""

from __future__ import annotations

import os
import platform
import stat
import sys
from pathlib import Path

import pytest

from hettop.sources.engine.coreml.availability import this_host
from hettop.sources.host import describe_host
from hettop.sources.macos import is_virtual_machine, macos_version, sysctl
from hettop.sources.power import source


def unasked(name: str) -> str:
    raise AssertionError(f"asked for {name}")


@pytest.mark.parametrize(
    ("kernel", "reported"),
    [("25.1.0", "26.1"), ("24.6.0", "15.7.2"), ("23.4.0", "14.4"), ("20.6.0", "11.7.10"), ("19.6.0", "10.15.7")],
)
def test_a_version_that_fits_the_kernel_is_taken_without_asking(kernel: str, reported: str) -> None:
    assert macos_version("darwin", kernel, reported, unasked) == reported


@pytest.mark.parametrize(
    ("kernel", "reported", "true"),
    [("25.0.0", "16.0", "26.0.1"), ("25.2.0", "16.0", "26.2"), ("26.0.0", "16.0", "27.0"), ("24.1.0", "10.16", "15.1")],
)
def test_a_compatibility_version_is_replaced_by_the_true_one(kernel: str, reported: str, true: str) -> None:
    assert macos_version("darwin", kernel, reported, {"kern.osproductversion": true}.__getitem__) == true


@pytest.mark.parametrize("answer", ["", "16.0"])
def test_without_a_true_answer_the_major_version_is_the_kernels(answer: str) -> None:
    assert macos_version("darwin", "25.1.0", "16.0", lambda _name: answer) == "26"


def test_elsewhere_there_is_no_version_and_nothing_is_asked() -> None:
    assert macos_version("linux", "6.1.0", "", unasked) == ""
    assert not is_virtual_machine("linux", unasked)


@pytest.mark.parametrize(("answer", "virtual"), [("1", True), ("0", False), ("", False)])
def test_a_virtual_machine_is_what_the_kernel_says_it_is(answer: str, virtual: bool) -> None:
    assert is_virtual_machine("darwin", {"kern.hv_vmm_present": answer}.__getitem__) is virtual


class Tahoe:
    """What `os.uname` says on macOS 26.1."""

    machine, release = "arm64", "25.1.0"
    version = "Darwin Kernel Version 25.1.0: root:xnu-12377.41.6~2/RELEASE_ARM64_T8112"


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac answers with its own version")
def test_a_python_of_an_older_sdk_deceives_no_version_gate_and_no_recording(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "uname", Tahoe)
    monkeypatch.setattr(platform, "mac_ver", lambda: ("16.0", ("", "", ""), "arm64"))
    assert this_host("darwin").macos == (26,)
    assert describe_host("darwin", lambda _command: "").os == "macOS 26"
    monkeypatch.setattr(source, "macos_version", lambda: macos_version("darwin", ask=lambda _name: "26.1"))
    assert source.this_machine().release == "26.1"


def command(folder: Path, script: str) -> str:
    made = folder / "sysctl"
    made.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    made.chmod(made.stat().st_mode | stat.S_IXUSR)
    return str(made)


def test_the_command_is_asked_by_name_and_for_the_true_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYSTEM_VERSION_COMPAT", "1")
    made = command(tmp_path, 'echo "$* compat=$SYSTEM_VERSION_COMPAT"')
    assert sysctl("kern.osproductversion", made) == "-n kern.osproductversion compat=0"


def test_what_cannot_be_asked_is_unknown(tmp_path: Path) -> None:
    assert sysctl("kern.hv_vmm_present", str(tmp_path / "none")) == ""
    made = command(tmp_path, "echo 'sysctl: unknown oid' >&2; exit 1")
    assert sysctl("kern.hv_vmm_present", made) == ""
