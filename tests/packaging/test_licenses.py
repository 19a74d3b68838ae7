"""Licenses of everything that installing hettop brings along, as each installed package declares its own.

Requirements are followed from pyproject.toml through all extras; what is not installed here is left out.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Set
from contextlib import suppress
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY = Path(__file__).parents[2]
NOTICES = (REPOSITORY / "THIRD-PARTY.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
FOR_DEVELOPERS = frozenset({"test", "dev"})
FAMILIES = {
    "AGPL": r"\bAGPL|Affero",
    "LGPL": r"\bLGPL|Lesser General Public|Library or Lesser",
    "GPL": r"\bGPL|(?<!Lesser )(?<!Affero )General Public License",
    "MPL-2.0": r"\bMPL|Mozilla Public License",
    "Apache-2.0": r"Apache",
    "BSD": r"BSD|^New BSD",
    "MIT": r"\bMIT\b|\bHPND\b",
    "PSF-2.0": r"\bPSF|Python Software Foundation",
    "ISC": r"\bISC\b",
    "public domain": r"Public Domain|\b0BSD\b|\bCC0\b|Unlicense|WTFPL",
    "Zlib": r"\bZlib\b",
}
REFUSED = frozenset({"AGPL", "GPL"})


def families(declared: str) -> set[str]:
    """The families of licenses in a declaration; of alternatives (`A OR B`), the ones that are not refused."""
    every: set[str] = set()
    for part in re.split(r"\bAND\b", declared):
        options = [option for option in re.split(r"\bOR\b", part) if not _named(option) & REFUSED]
        every |= _named(" ".join(options or [part]))
    return every


def _named(text: str) -> set[str]:
    return {family for family, pattern in FAMILIES.items() if re.search(pattern, text, flags=re.I)}


def declared(package: Distribution) -> str:
    """The license of a package: its expression, else its classifiers, else the first line of the older field.

    Only the first line: some packages have whole texts there, with those of libraries that they contain.
    """
    metadata = package.metadata
    classifiers = [c.rpartition(" :: ")[2] for c in metadata.get_all("Classifier", ()) if c.startswith("License :: ")]
    expression, older = (" ".join(metadata.get_all(name, ())) for name in ("License-Expression", "License"))
    return expression or " AND ".join(classifiers) or older.strip().partition("\n")[0]


def applicable(lines: Iterable[str], extras: Set[str] = frozenset()) -> Iterator[Requirement]:
    """The requirements that hold on this system, with these extras of the package that has them."""
    for requirement in map(Requirement, lines):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement


def tree(extras: Iterable[str]) -> dict[str, Distribution]:
    """The installed packages that hettop with these extras needs, directly or not, by their normalized names."""
    wanted = list(applicable([*PROJECT["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]))
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    while wanted:
        requirement = wanted.pop()
        name, own_extras = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if name == "hettop" or (name, own_extras) in seen:
            continue
        seen.add((name, own_extras))
        with suppress(PackageNotFoundError):
            found[name] = distribution(name)
            wanted += applicable(found[name].requires or (), own_extras)
    return found


EVERYTHING = tree(EXTRAS)
FOR_USERS = tree(EXTRAS.keys() - FOR_DEVELOPERS)


def test_the_tree_has_what_is_required_of_what_is_required() -> None:
    assert {"numpy", "onnxruntime", "textual", "markdown-it-py", "mdurl", "pytest", "pluggy"} <= set(EVERYTHING)
    assert "pytest" not in FOR_USERS


@pytest.mark.parametrize("name", sorted(EVERYTHING))
def test_no_package_is_under_the_gpl_and_each_declares_a_known_license(name: str) -> None:
    license_ = declared(EVERYTHING[name])
    assert families(license_), f"{name} has an unknown license: {license_!r}"
    assert not families(license_) & REFUSED, f"{name}: {license_}"


@pytest.mark.parametrize("name", sorted(FOR_USERS))
def test_the_notices_name_each_package_and_its_license(name: str) -> None:
    row = re.search(rf"^\| {re.escape(name)} \| ([^|]+) \|", NOTICES, flags=re.M)
    assert row is not None, f"THIRD-PARTY.md lacks {name}: {declared(FOR_USERS[name])}"
    assert families(row[1].replace(", ", " AND ")) >= families(declared(FOR_USERS[name])), name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GPLv2+", {"GPL"}),
        ("GNU General Public License v3 (GPLv3)", {"GPL"}),
        ("AGPL-3.0-only", {"AGPL"}),
        ("GNU Affero General Public License v3", {"AGPL"}),
        ("GNU Lesser General Public License v3 (LGPLv3)", {"LGPL"}),
        ("LGPL-2.1-or-later", {"LGPL"}),
        ("MIT OR GPL-3.0-only", {"MIT"}),
        ("BSD-3-Clause AND GPL-2.0-only", {"BSD", "GPL"}),
        ("MPL-2.0 AND MIT", {"MPL-2.0", "MIT"}),
        ("Mozilla Public License 2.0 (MPL 2.0)", {"MPL-2.0"}),
        ("3-Clause BSD License", {"BSD"}),
        ("All rights reserved", set()),
    ],
)
def test_families_are_read_from_every_way_of_writing_them(text: str, expected: set[str]) -> None:
    assert families(text) == expected
