"""The Homebrew formula that is made for a release: it names the sdist, and a wheel for Macs of each requirement."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hettop.cli.completions import SHELLS
from tests.processes.waiting import PATIENCE_S
from tools.formula import TEMPLATE, best_wheel, formula, main, supported

REPOSITORY = Path(__file__).parents[2]
AT = "https://example.org/files"


def locked(name: str, *wheels: str) -> dict[str, Any]:
    found = [{"url": f"{AT}/{wheel}", "hashes": {"sha256": f"{n}" * 64}} for n, wheel in enumerate(wheels)]
    return {"name": name, "version": "1.0", "wheels": found}


NUMPY = locked(
    "numpy",
    "numpy-1.0-cp313-cp313-manylinux_2_28_x86_64.whl",
    "numpy-1.0-cp313-cp313-macosx_11_0_arm64.whl",
    "numpy-1.0-cp313-cp313-macosx_14_0_arm64.whl",
    "numpy-1.0-cp313-cp313-macosx_15_0_arm64.whl",
    "numpy-1.0-cp312-cp312-macosx_14_0_arm64.whl",
    "numpy-1.0-cp313-cp313-macosx_14_0_x86_64.whl",
)
PURE = locked("attrs", "attrs-1.0-py3-none-any.whl")


def test_the_wheel_of_a_requirement_is_the_most_specific_that_runs_there() -> None:
    assert best_wheel(NUMPY, supported())["url"] == f"{AT}/numpy-1.0-cp313-cp313-macosx_14_0_arm64.whl"
    assert best_wheel(PURE, supported())["url"] == f"{AT}/attrs-1.0-py3-none-any.whl"
    abi3 = locked(
        "psutil", "psutil-1.0-cp36-abi3-macosx_11_0_arm64.whl", "psutil-1.0-cp313-cp313t-macosx_11_0_arm64.whl"
    )
    assert best_wheel(abi3, supported())["url"].endswith("cp36-abi3-macosx_11_0_arm64.whl")


def test_a_requirement_without_one_is_refused() -> None:
    with pytest.raises(ValueError, match=r"onnx .* has no wheel"):
        best_wheel(locked("onnx", "onnx-1.0-cp313-cp313-manylinux_2_28_x86_64.whl"), supported())


def test_the_formula_names_the_sdist_and_all_requirements(tmp_path: Path) -> None:
    (tmp_path / "hettop-0.2.0.tar.gz").write_bytes(b"archive")
    text = formula(
        tmp_path / "hettop-0.2.0.tar.gz",
        {"packages": [NUMPY, PURE]},
        homepage="https://example.org",
        url=f"{AT}/hettop-0.2.0.tar.gz",
    )
    assert f'url "{AT}/hettop-0.2.0.tar.gz"\n  sha256 "{hashlib.sha256(b"archive").hexdigest()}"' in text
    assert re.findall(
        r'resource "(\w+)" do\n    url "\S+/([\w.-]+)", using: :nounzip\n    sha256 "(\w)\3{63}"', text
    ) == [
        ("attrs", "attrs-1.0-py3-none-any.whl", "0"),
        ("numpy", "numpy-1.0-cp313-cp313-macosx_14_0_arm64.whl", "2"),
    ]
    assert re.findall(r"DRAFT|HOMEPAGE|URL|SHA256|RESOURCES", text) == []
    is_ruby(text, tmp_path)


def test_it_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sdist").write_bytes(b"")
    (tmp_path / "lock").write_text(
        '[[packages]]\nname = "a"\nversion = "1"\nwheels = [{url = "x/a-1-py3-none-any.whl", hashes = {sha256 = "0"}}]'
    )
    main([str(tmp_path / "sdist"), str(tmp_path / "lock"), "--homepage", "h", "--url", "u"])
    assert 'resource "a" do' in capsys.readouterr().out


def test_the_template_says_that_it_is_a_draft_and_installs_files_that_are_here(tmp_path: Path) -> None:
    text = TEMPLATE.read_text(encoding="utf-8")
    assert text.startswith("# A DRAFT")
    assert set(re.findall(r":(bash|zsh|fish)\b", text)) == set(SHELLS)
    assert all((REPOSITORY / path).is_file() for path in re.findall(r'man1\.install "([^"]+)"', text))
    is_ruby(text, tmp_path)


def is_ruby(text: str, folder: Path) -> None:
    """Nobody has run it: what is checked is that it can be read, where Ruby is installed."""
    if shutil.which("ruby") is None:
        return
    (folder / "hettop.rb").write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["ruby", "-wc", folder / "hettop.rb"], capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "Syntax OK\n", "")
