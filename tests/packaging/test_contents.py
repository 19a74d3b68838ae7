"""What the wheel and the sdist contain, and what they declare.

HETTOP_TEST_DIST names a folder with both; without it they are built here, by the build backend that is installed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path, PurePosixPath

import pytest
from packaging.requirements import Requirement

from hettop.version import __version__

REPOSITORY = Path(__file__).parents[2]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LICENSES = ("LICENSE", "THIRD-PARTY.md")


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if "HETTOP_TEST_DIST" in os.environ:
        return Path(os.environ["HETTOP_TEST_DIST"])
    if not (REPOSITORY / "hettop").is_dir():
        pytest.skip("the package's source is not here, and HETTOP_TEST_DIST names no folder")
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, timeout=240)
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> dict[str, bytes]:
    """The files of the wheel."""
    with zipfile.ZipFile(dist / f"hettop-{__version__}-py3-none-any.whl") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def sdist(dist: Path) -> dict[str, bytes]:
    """The files of the sdist, without its top folder."""
    with tarfile.open(dist / f"hettop-{__version__}.tar.gz") as archive:
        files = {member.name: archive.extractfile(member) for member in archive.getmembers() if member.isfile()}
        read = {name.partition("/")[2]: file.read() for name, file in files.items() if file is not None}
    assert {name.partition("/")[0] for name in files} == {f"hettop-{__version__}"}
    return read


def metadata(files: dict[str, bytes]) -> Message:
    (text,) = [
        data for name, data in files.items() if re.fullmatch(r"(hettop-[^/]+\.dist-info/METADATA|PKG-INFO)", name)
    ]
    return message_from_string(text.decode())


def sources(*folders: str) -> set[str]:
    """The files in these folders of the repository, as Git would list them."""
    found = (path for folder in folders for path in (REPOSITORY / folder).rglob("*") if path.is_file())
    return {path.relative_to(REPOSITORY).as_posix() for path in found if "__pycache__" not in path.parts}


def test_the_wheel_has_the_package_what_comes_with_it_and_nothing_else(wheel: dict[str, bytes]) -> None:
    info = f"hettop-{__version__}.dist-info"
    shipped = {f"hettop/shipped/{name}" for name in sources("themes", "recordings")}
    about = {f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")}
    licenses = {f"{info}/licenses/{name}" for name in LICENSES}
    assert shipped | about | licenses | {"hettop/py.typed", "hettop/models/mil/coreml_schema.binpb"} <= set(wheel)
    package = set(wheel) - shipped - about - licenses
    assert {PurePosixPath(name).parts[0] for name in package} == {"hettop"}
    if (REPOSITORY / "hettop").is_dir():
        assert package == sources("hettop")
    for name in LICENSES:
        assert wheel[f"{info}/licenses/{name}"] == (REPOSITORY / name).read_bytes()


def test_the_sdist_has_what_is_needed_to_build_and_to_test(sdist: dict[str, bytes]) -> None:
    folders = ("hettop", "themes", "recordings", "tests", "benchmarks", "tools", "docs", "packaging", ".ci")
    wanted = sources(*(folder for folder in folders if (REPOSITORY / folder).is_dir()))
    pages = {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CITATION.cff"}
    files = {"pyproject.toml", "action.yml", *pages, *LICENSES}
    assert wanted | files <= set(sdist)
    top = {PurePosixPath(name).parts[0] for name in set(sdist)}
    assert top == {*folders, ".github", *files, "PKG-INFO", ".gitignore"}


def test_both_declare_what_pyproject_declares(wheel: dict[str, bytes], sdist: dict[str, bytes]) -> None:
    for found in map(metadata, (wheel, sdist)):
        assert found["Name"] == "hettop"
        assert found["Version"] == __version__
        assert found["License-Expression"] == PROJECT["license"] == "MIT"
        assert found.get_all("License-File") == list(LICENSES)
        assert found["Requires-Python"] == PROJECT["requires-python"]
        assert found["Summary"] == PROJECT["description"]
        assert set(found.get_all("Provides-Extra", ())) == set(PROJECT["optional-dependencies"])
        required = {str(Requirement(line)) for line in found.get_all("Requires-Dist", ()) if "extra ==" not in line}
        assert required == {str(Requirement(line)) for line in PROJECT["dependencies"]}
        assert "# hettop" in found.get_payload()


def test_the_command_is_installed(wheel: dict[str, bytes]) -> None:
    assert b"hettop = hettop.__main__:main" in wheel[f"hettop-{__version__}.dist-info/entry_points.txt"]


def test_the_version_is_in_one_place(sdist: dict[str, bytes]) -> None:
    """Of what is written by hand; pages and goldens that name it are generated."""
    assigned = re.compile(rb"""^(__version__|version) = ["'](\d[^"']*)["']""", flags=re.M)
    files = {name: data for name, data in sdist.items() if name.startswith(("hettop/", "pyproject.toml"))}
    found = {name: match[2].decode() for name, data in files.items() if (match := assigned.search(data))}
    assert found == {"hettop/version.py": __version__}
