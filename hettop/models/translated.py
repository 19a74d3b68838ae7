"""ML Programs as ONNX files: translated once, cached by the content of the package and of the translator."""

from __future__ import annotations

import hashlib
from pathlib import Path

from hettop.models.cache import ModelCache
from hettop.models.content import content_sha256

NOTES_KEY = "hettop.notes"
"""The entry of the ONNX file's metadata that holds the translator's remarks, one a line."""


def translated_file(package: Path, function: str | None, cache: ModelCache) -> Path:
    """The ONNX file of one function (None: the default one) of an ML Program, translated if it was not before.

    Raises HettopError: as `mil.package.open_package` and `mil.translate.translate` do; `io`.
    """

    def build(path: Path) -> None:
        from hettop.models.mil.package import open_package
        from hettop.models.mil.translate import translate

        translation = translate(open_package(package), function)
        entry = translation.model.metadata_props.add()
        entry.key, entry.value = NOTES_KEY, "\n".join(translation.notes)
        path.write_bytes(translation.model.SerializeToString())

    return cache.file(f"translated-{_identity(package, function)}.onnx", build)


def _identity(package: Path, function: str | None) -> str:
    parts = (content_sha256(package), _translator_sha256(), "" if function is None else f"={function}")
    return hashlib.sha256("\n".join(parts).encode(errors="surrogateescape")).hexdigest()[:32]


def _translator_sha256() -> str:
    """Of the translator's own sources: a translation must not outlive the program that made it."""
    import hettop.models.mil

    folder = Path(hettop.models.mil.__file__).parent
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        whole.update(f"{path.relative_to(folder).as_posix()}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()
