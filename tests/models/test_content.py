"""A model is known by its content, wherever it lies and in whichever order a disk lists its files."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.models.content import check_unchanged, content_sha256


def package(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(name.encode())
    return folder


def test_a_file_is_known_by_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(b"whatever")
    assert content_sha256(tmp_path / "m") == hashlib.sha256(b"whatever").hexdigest()


def test_a_package_is_known_by_the_names_and_contents_of_its_files_in_order(tmp_path: Path) -> None:
    names = [f"{folder}{letter}" for folder in ("", "x/", "y/") for letter in "abcdefgh"]
    lines = "".join(f"{name}\0{hashlib.sha256(name.encode()).hexdigest()}\n" for name in sorted(names))
    expected = hashlib.sha256(lines.encode()).hexdigest()
    assert content_sha256(package(tmp_path / "p", *reversed(names))) == expected


def test_a_copy_is_the_same_and_any_change_is_not(tmp_path: Path) -> None:
    first = content_sha256(package(tmp_path / "p", "a", "d/b"))
    assert content_sha256(package(tmp_path / "q", "d/b", "a")) == first
    (tmp_path / "q" / "a").write_bytes(b"another")
    assert content_sha256(tmp_path / "q") != first
    assert content_sha256(package(tmp_path / "r", "a", "d/c")) != first
    assert content_sha256(package(tmp_path / "s", "a", "d/b", "e")) != first


def test_what_is_no_regular_file_in_a_package_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    package(tmp_path / "p", "a")
    os.mkfifo(tmp_path / "p" / "pipe")
    with pytest.raises(HettopError, match="pipe is not a regular file") as caught:
        content_sha256(tmp_path / "p")
    assert caught.value.kind == "format"


def test_a_link_that_leads_round_is_not_followed(tmp_path: Path) -> None:
    package(tmp_path / "p", "d/a")
    first = content_sha256(tmp_path / "p")
    (tmp_path / "p" / "d" / "round").symlink_to(tmp_path / "p", target_is_directory=True)
    assert content_sha256(tmp_path / "p") == first


def test_a_folder_that_is_not_there_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(HettopError) as caught:
        content_sha256(tmp_path / "nowhere")
    assert caught.value.kind == "io"


def test_a_file_that_was_replaced_or_removed_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    file.write_bytes(b"one")
    sha256 = content_sha256(file)
    check_unchanged(file, sha256)
    file.write_bytes(b"two")
    with pytest.raises(HettopError, match=r"m\.onnx: the file changed"):
        check_unchanged(file, sha256)
    file.unlink()
    with pytest.raises(HettopError, match="the file changed"):
        check_unchanged(file, sha256)
