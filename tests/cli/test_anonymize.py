"""What names this user and this machine is known before it is removed."""

from __future__ import annotations

import pwd
from pathlib import Path
from types import SimpleNamespace

import pytest

from hettop.cli import anonymize
from hettop.cli.anonymize import identity_here, names_here, serial_numbers


def test_serial_numbers_are_read_where_the_system_has_them(tmp_path: Path) -> None:
    (tmp_path / "id").write_text("0123abcd\n")
    (tmp_path / "none").write_text("To be filled by O.E.M.\n")
    files = [str(tmp_path / name) for name in ("id", "none", "missing")]
    assert serial_numbers("linux", files=files) == ["0123abcd"]
    printed = '  "IOPlatformUUID" = "A1-B2"\n  "IOPlatformSerialNumber" = "XK2V9H4QJL"\n  "model" = <"Mac14,2">\n'
    assert serial_numbers("darwin", lambda _: printed) == ["A1-B2", "XK2V9H4QJL"]


ENTRY = SimpleNamespace(pw_gecos="Ada Lovelace,Room 7,,", pw_name="alovelace", pw_dir="/home/lovelace")


def test_names_are_those_of_the_user_and_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/Users/ada")
    monkeypatch.setenv("LOGNAME", "ada")
    monkeypatch.setenv("USER", "ada2")
    monkeypatch.setenv("SUDO_USER", "bob")
    monkeypatch.setattr(pwd, "getpwuid", lambda _: ENTRY)
    monkeypatch.setattr("socket.gethostname", lambda: "adas-mbp.local")
    monkeypatch.setattr(anonymize, "serial_numbers", lambda _: ["XK2V9H4QJL"])
    assert identity_here() == {
        "home folder": ["/Users/ada", "ada", "/home/lovelace", "lovelace"],
        "host name": ["adas-mbp.local", "adas-mbp"],
        "user name": ["ada", "ada2", "bob", "alovelace", "Ada Lovelace"],
        "serial number": ["XK2V9H4QJL"],
    }
    lengths = [len(name) for name in names_here()]
    assert lengths == sorted(lengths, reverse=True)


def test_a_user_without_an_entry_has_no_full_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(_: int) -> None:
        raise KeyError

    monkeypatch.setenv("LOGNAME", "ada")
    monkeypatch.delenv("USER", raising=False)
    monkeypatch.delenv("SUDO_USER", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    assert identity_here()["user name"] == ["ada"]
