from __future__ import annotations

from dataclasses import dataclass

from hettop.report.doctor import doctor_document, doctor_page


@dataclass(frozen=True)
class Found:
    what: str
    works: bool | None
    words: str = ""
    fix: str = ""


GROUPS = {
    "power": [Found("macmon", False, "not installed", "brew install macmon"), Found("rapl", True, fix="never shown")],
    "machine": [Found("chip", None, "M2\x1b[31m")],
}


def test_each_finding_has_a_line_and_what_repairs_it_below() -> None:
    assert doctor_page(GROUPS) == (
        "power\n  ✗ macmon: not installed\n      brew install macmon\n  ✓ rapl\n\nmachine\n  · chip: M2\ufffd[31m\n"
        "\n✓ works   ✗ broken or denied   · absent, or for information\n"
    )


def test_what_is_not_there_has_a_mark_of_its_own_and_what_adds_it() -> None:
    page = doctor_page({"optional parts": [Found("Parquet exports", None, "not installed", "pip install pyarrow")]})
    assert page.startswith("optional parts\n  · Parquet exports: not installed\n      pip install pyarrow\n")


def test_ascii_marks() -> None:
    assert doctor_page({"a": [Found("x", True), Found("y", False)]}, ascii_only=True) == (
        "a\n  + x\n  x y\n\n+ works   x broken or denied   . absent, or for information\n"
    )


def test_the_page_is_as_wide_as_asked() -> None:
    long = Found("onnxruntime: CPU_ONLY", False, "one reason and another " * 12, "do this, and if that fails do " * 9)
    for width in (40, 80, 132):
        page = doctor_page({"units": [long]}, width=width)
        assert width - 12 < max(map(len, page.splitlines())) <= width
        assert all(line.startswith("  ") for line in page.split("\n\n")[0].splitlines()[1:])


def test_the_document_has_all_of_it() -> None:
    document = doctor_document({"a": [Found("x", None, "w", "f")]}, measures=True)
    assert document.pop("schema") == "hettop.doctor/1"
    assert document.pop("hettop")
    assert document == {
        "measures": True,
        "findings": {"a": [{"what": "x", "works": None, "words": "w", "fix": "f"}]},
    }
