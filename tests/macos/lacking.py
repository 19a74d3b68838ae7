"""Which names Python and psutil have on Linux and lack on macOS, by the sources that know.

For the standard library that is typeshed, as it comes with mypy; for psutil its own modules of either system.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

SITE = Path(__file__).parent / "site"
VARIABLE = "HETTOP_TESTS_MACOS"
"""Names the file that lists what `site/sitecustomize.py` hides."""

VERSIONS = ("3.11", "3.12", "3.13")

KEPT = {
    ("socket", "AF_PACKET"): "psutil's module for Linux reads it while it is imported",
    ("_socket", "AF_PACKET"): "socket has it from here",
}
"""What macOS lacks and cannot be hidden, and why."""

Version = tuple[int, int]
Names = set[tuple[str, str]]
"""Modules, and what is in them: `("os", "waitid")`, `("psutil", "Process.rlimit")`."""


def environment(version: str, folder: Path, inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
    """One in which every Python process, and those that it starts, lack what macOS's Python of `version` lacks.

    The list of names is written into `folder`. Raises ModuleNotFoundError where mypy is not installed.
    """
    major, minor = version.split(".")
    lines = [f"{module} {name}\n" for module, name in sorted(lacking((int(major), int(minor))))]
    (file := folder / version).write_text("".join(lines), encoding="ascii")
    path = os.pathsep.join(filter(None, (str(SITE), inherited.get("PYTHONPATH"))))
    return {**inherited, VARIABLE: str(file), "PYTHONPATH": path}


def lacking(version: Version, running: Version = sys.version_info[:2]) -> Names:
    """What to hide from a Python `running` on Linux so that it has what `version` has on macOS."""
    return linux_only(version, running) - KEPT.keys()


def linux_only(version: Version, running: Version = sys.version_info[:2]) -> Names:
    """What a Python `running` has on Linux and `version` lacks on macOS."""
    hidden = set(_psutil_lacking())
    for module, stub in _stubs():
        on_mac = _defined(stub.body, "darwin", version)
        for each in {version, running}:
            only_there = _defined(stub.body, "linux", each) - _defined(stub.body, "darwin", each)
            hidden |= {(module, name) for name in only_there - on_mac}
    return hidden


@cache
def _stubs() -> list[tuple[str, ast.Module]]:
    """Those of typeshed that distinguish systems."""
    mypy = find_spec("mypy")
    if mypy is None or mypy.origin is None:
        raise ModuleNotFoundError("mypy is not installed")
    root = Path(mypy.origin).parent / "typeshed" / "stdlib"
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.pyi"))}
    return [
        (".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"), ast.parse(text))
        for path, text in texts.items()
        if "sys.platform" in text
    ]


def _defined(body: Sequence[ast.stmt], platform: str, version: Version) -> set[str]:
    """The names that a stub's statements define on a system."""
    known = {"sys": SimpleNamespace(platform=platform, version_info=version), "TYPE_CHECKING": True}
    names = set()
    for statement in body:
        if isinstance(statement, ast.If):
            taken = statement.body if eval(ast.unparse(statement.test), known) else statement.orelse
            names |= _defined(taken, platform, version)
        else:
            names |= set(_named(statement))
    return names


def _named(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.Import(names=imported) | ast.ImportFrom(names=imported):
            yield from (each.asname or each.name for each in imported)


def _psutil_lacking() -> Iterator[tuple[str, str]]:
    """What psutil defines only where its module for the system has it, and that for macOS has not, or not always."""
    import psutil

    folder = Path(psutil.__file__).parent
    public, mac = (ast.parse((folder / name).read_text(encoding="utf-8")).body for name in ("__init__.py", "_psosx.py"))
    for prefix, ours, theirs in (("", public, mac), ("Process.", _process(public), _process(mac))):
        on_mac = {name for statement in theirs for name in _named(statement)}
        for statement in ours:
            match statement:
                case ast.If(test=ast.Call(func=ast.Name(id="hasattr"), args=[_, ast.Constant(value=wanted)])):
                    if wanted not in on_mac:
                        names = [name for each in statement.body for name in _named(each)]
                        yield from (("psutil", prefix + name) for name in names if not name.startswith("_"))
    constants = {*dir(psutil._psplatform), *dir(psutil._psplatform.cext)}  # where nothing is hidden
    yield from (("psutil", name) for name in constants if name.startswith(("IOPRIO_", "RLIM")))  # of `ionice`, `rlimit`


def _process(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    return next(each.body for each in body if isinstance(each, ast.ClassDef) and each.name == "Process")
