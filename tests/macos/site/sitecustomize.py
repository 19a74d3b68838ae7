"""Put on PYTHONPATH, this folder hides from any Python process what macOS lacks: see tests/macos/lacking.py.

Hidden are names of modules, from everybody, and `/proc`, `/sys` and the functions of the C library, from hettop alone:
psutil and other libraries cannot do without them here. `sys.platform` stays what it is. It is there in every process
of a test, so it imports only what an interpreter has loaded anyway.
"""

# ruff: noqa: PTH100, PTH113, PTH118, PTH120, PTH123
# (pathlib is one of those modules.)

from __future__ import annotations

import builtins
import io
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Change = Callable[[Any], None]

VARIABLE = "HETTOP_TESTS_MACOS"
SITE = os.path.dirname(os.path.abspath(__file__))
HETTOP = os.path.join(SITE.rpartition("/tests/")[0], "hettop", "")
STANDARD_LIBRARY = (os.path.join(os.path.dirname(os.__file__), ""), "<frozen ")
HIDDEN = ("/proc", "/sys")
LOOKING = ("access", "listdir", "lstat", "open", "readlink", "scandir", "stat", "statvfs")
"""What `os` looks at a path with."""


def hide_names(module: Any, names: set[str]) -> None:
    """As if its system had none of these; `Process.rlimit` is of a class in it."""
    for name in names:
        owner, _, attribute = name.rpartition(".")
        holder = getattr(module, owner) if owner else module
        if attribute in vars(holder):
            delattr(holder, attribute)
    if hasattr(module, "__all__"):
        module.__all__ = [name for name in module.__all__ if name not in names]


def hide_folders() -> None:
    """From hettop's own calls, be it by way of `pathlib` or the like."""
    for name in LOOKING:
        plain = getattr(os, name)
        setattr(os, name, unless_hidden(plain))
        for known in (os.supports_fd, os.supports_dir_fd, os.supports_effective_ids, os.supports_follow_symlinks):
            if plain in known:
                known.add(getattr(os, name))
    builtins.open = io.open = unless_hidden(io.open)


def unless_hidden(plain: Any) -> Callable[..., Any]:
    def look(*args: Any, **options: Any) -> Any:
        path = args[0] if args else options.get("path", options.get("file"))
        if is_hidden(path) and hettop_asks():
            raise FileNotFoundError(2, "No such file or directory", path)
        return plain(*args, **options)

    return look


def is_hidden(path: object) -> bool:
    if not isinstance(path, str | bytes | os.PathLike):
        return False
    text = os.fsdecode(path)
    return any(text == folder or text.startswith(folder + "/") for folder in HIDDEN)


def hettop_asks() -> bool:
    """Whether the nearest caller outside of the standard library is of hettop."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(HETTOP):
            return True
        if not file.startswith(STANDARD_LIBRARY) or "/site-packages/" in file:
            return False
        frame = frame.f_back
    return False


def hide_c_library(ctypes: Any) -> None:
    """No function of Linux' C library is taken for one of macOS: hettop calls those of macOS alone, on a Mac."""
    plain = ctypes.CDLL.__getitem__

    def get(self: Any, name: Any) -> Any:
        if (self._name is None or self._name.startswith("libc.")) and hettop_asks():
            raise AttributeError(f"dlsym(RTLD_DEFAULT, {name}): symbol not found")
        return plain(self, name)

    ctypes.CDLL.__getitem__ = get


def pass_on(subprocess: Any) -> None:
    """Whatever environment a process is started with, it finds this folder, too."""
    plain = subprocess.Popen.__init__

    def begin(self: Any, *args: Any, env: Mapping[str, str] | None = None, **options: Any) -> None:
        given = dict((os.environ if env is None else env).items())
        others = [folder for folder in given.get("PYTHONPATH", "").split(os.pathsep) if folder not in ("", SITE)]
        given["PYTHONPATH"] = os.pathsep.join([SITE, *others])
        plain(self, *args, env={VARIABLE: os.environ[VARIABLE], **given}, **options)

    subprocess.Popen.__init__ = begin


class AfterImport:
    """Changes modules as soon as they have run, found and loaded as usual."""

    def __init__(self, changes: Mapping[str, Change]) -> None:
        self._changes = changes

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in self._changes:
            return None
        finders: list[Any] = [finder for finder in sys.meta_path if finder is not self]
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in finders)), None)
        if spec is not None:
            spec.loader = Loader(spec.loader, self._changes[name])
        return spec


class Loader:
    def __init__(self, plain: Any, change: Change) -> None:
        self._plain, self._change = plain, change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plain, name)

    def exec_module(self, module: Any) -> None:
        module.__spec__.loader = module.__loader__ = self._plain
        self._plain.exec_module(module)
        self._change(module)


def run_next() -> None:
    """Another folder on the path may have a module of this name, too: it runs as if this one were not there."""
    path = [folder for folder in sys.path if folder != SITE]
    if any(os.path.isfile(os.path.join(folder, "sitecustomize.py")) for folder in path):
        ours, sys.path = sys.path, path
        del sys.modules["sitecustomize"]
        __import__("sitecustomize")
        sys.path = ours


def main() -> None:
    names: dict[str, set[str]] = {}
    with open(os.environ[VARIABLE], encoding="ascii") as lines:
        for line in lines:
            module, name = line.split()
            names.setdefault(module, set()).add(name)
    changes: dict[str, Change] = {"ctypes": hide_c_library, "subprocess": pass_on}
    changes |= {module: lambda module: hide_names(module, names[module.__name__]) for module in names}
    if hasattr(os, "process_cpu_count"):  # from Python 3.13 on it asks for the affinity where there is one
        os.process_cpu_count = os.cpu_count
    hide_folders()
    for name, change in changes.items():
        if name in sys.modules:
            change(sys.modules[name])
    sys.meta_path.insert(0, AfterImport({name: change for name, change in changes.items() if name not in sys.modules}))
    run_next()


if VARIABLE in os.environ:
    main()
