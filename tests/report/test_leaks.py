"""The last check of files to be sent finds what names people and machines, and leaves alone what does not."""

from __future__ import annotations

import pytest

from hettop.report.leaks import Leak, find_leaks

NAMES = {"user name": ["ada", "Ada Lovelace"], "host name": ["lovelace-mbp"], "home folder": ["/home/me", "me"]}


def kinds(text: str, name: str = "a.txt") -> list[str]:
    return [leak.kind for leak in find_leaks({name: text.encode()}, NAMES)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("by ADA.", "user name"),
        ("ada2 and my_ada", "user name"),
        ("Ada  LOVELACE", "user name"),
        ("on xLovelace-MBPx", "host name"),
        ("x/home/metoo", "home folder"),
        ("/Users/bob", "path of a home folder"),
        (r"C:\Users\bob", "path of a home folder"),
        ("serial C02XL0GTJGH5", "serial number"),
        ("a4:83:e7:00:11:2f", "network address"),
        ("0123456789abcdef", "id"),
        ("bob@example.org", "mail address"),
        ("http://bob:x@example.org", "URL of a local host"),
        ("ghp_abcdefghijklmnopqrst", "token"),
        ("HETTOP_API_KEY = hunter2", "token"),
        ("key dGhpcyBpcyBhIHNlY3JldCBrZXkgMTIz4x5y", "text like a token"),
    ],
)
def test_it_finds(text: str, kind: str) -> None:
    assert kind in kinds(text)


@pytest.mark.parametrize(
    "text",
    [
        "metadata, Canada and me",
        "Linux-5.15.90.1-microsoft-standard-WSL2-x86_64-with-glibc2.36",
        "macOS-14.5-arm64-arm-64bit, Intel(R) Xeon(R) Processor @ 2.80GHz, RTX4090",
        "MLComputeUnitsCpuAndNeuralEngine, CPU_AND_NE~prefill@2, 2ms@p99",
        "https://example.org/a, http://localhost:8000/v1",
        "/usr/lib/python3.11/site-packages",
        "HETTOP_API_KEY… and http://…/v1",
    ],
)
def test_it_leaves_alone(text: str) -> None:
    assert kinds(text) == []


def test_a_machine_called_like_a_unit_or_a_version_s_part_is_found_elsewhere_only() -> None:
    names = {"host name": ["gpu", "dev"]}
    assert find_leaks({"a.txt": b"CPU_AND_GPU by hettop 0.2.0.dev0"}, names) == []
    assert len(find_leaks({"a.txt": b"on gpu"}, names)) == len(find_leaks({"a.txt": b"by dev"}, names)) == 1


def test_a_name_is_found_over_a_line_break_and_in_another_form_of_unicode() -> None:
    text = "first\nby ada\n"
    assert find_leaks({"a.txt": text.encode()}, NAMES)[0] == Leak("a.txt, line 2", "user name")
    broken = {"user name": ["Zoë Lovelace"]}
    assert find_leaks({"a.txt": "Zoe\u0308\nLovelace".encode()}, broken) == [Leak("a.txt, line 2", "user name")]


def test_json_is_read_as_what_it_says_and_only_unknown_keys_are_texts() -> None:
    document = b'{"mark": {"x": ["a", "Zo\\u00eb"]}, "note": "Zo\\u00eb", "n": 1}'
    names = {"user name": ["zoë", "mark"]}
    found = find_leaks({"r.json": document}, names, frozenset({"mark", "note", "n", "x"}))
    assert found == [Leak("r.json, mark, x[1]", "user name"), Leak("r.json, note", "user name")]
    assert Leak("r.json, a key", "user name") in find_leaks({"r.json": document}, names, frozenset({"note"}))


def test_each_line_of_a_log_is_json_and_one_that_is_not_is_a_text() -> None:
    lines = b'{"k":"mark","text":"ada"}\nby ada\n'
    found = find_leaks({"log.jsonl": lines}, NAMES, frozenset({"k", "text"}))
    assert found == [Leak("log.jsonl, line 1, text", "user name"), Leak("log.jsonl, line 2", "user name")]
