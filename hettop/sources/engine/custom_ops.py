"""Libraries of custom operators, as ONNX Runtime loads them into a session."""

from __future__ import annotations

import importlib.util
import mmap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hettop.errors import HettopError
from hettop.processes.framework_errors import reason
from hettop.text import clean

EXTENSIONS = "onnxruntime_extensions"
EXTENSIONS_DOMAIN = "ai.onnx.contrib"
"""The domain of that package's operators."""

INSTALL_EXTENSIONS = "pip install 'hettop[ops]'"


def check_libraries(paths: Sequence[str]) -> tuple[str, ...]:
    """The libraries by absolute paths, as every process finds them. Raises HettopError: `missing`."""
    for path in paths:
        if not Path(path).is_file():
            raise HettopError("missing", f"no such library of custom operators: {clean(path)}", "check --custom-ops")
    return tuple(str(Path(path).absolute()) for path in paths)


def register_custom_ops(options: Any, file: Path, libraries: Sequence[str] = ()) -> None:
    """Adds the libraries to a session's options, and onnxruntime-extensions if the model names its domain.

    Raises HettopError: `load` for a file that is not such a library.
    """
    for library in (*libraries, *_extensions(file)):
        try:
            options.register_custom_ops_library(library)
        except Exception as error:
            message = f"cannot load the custom operators of {clean(Path(library).name)}: {reason(error)}"
            raise HettopError("load", message, "pass a shared library that exports RegisterCustomOps") from error


def _extensions(file: Path) -> list[str]:
    """The library of onnxruntime-extensions, if it is installed and the model needs it."""
    with Path(file).open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if content.find(EXTENSIONS_DOMAIN.encode()) < 0:
            return []
    found = importlib.util.find_spec(EXTENSIONS)
    folder = Path(found.origin).parent if found is not None and found.origin else None
    return [] if folder is None else [str(each) for each in sorted(folder.glob("_extensions_pydll*"))[:1]]
