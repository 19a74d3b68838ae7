"""The last check of files to be sent finds what names people and machines, and leaves alone what does not."""

from __future__ import annotations

import pytest

from hettop.report.anonymize import GONE, anonymous, anonymous_document
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


HEX = "0123456789abcdef0123456789abcdef"
SECRET_TEXTS = [
    ("to 192.168.1.10:11434", "192.168.1.10", "network address"),
    ("10.0.0.1_x.onnx", "10.0.0.1", "network address"),
    ("http://[2001:db8::1]:8080/v1", "db8", "network address"),
    ("from fe80::1ff:fe23:4567:890a: refused", "fe23", "network address"),
    ("2001:db8:0:0:0:0:0:1", "db8", "network address"),
    ("::ffff:10.0.0.1", "10.0.0.1", "network address"),
    (f"dop_v1_{HEX}{HEX}", "01234", "token"),
    (f"dapi{HEX}", "01234", "token"),
    (f"build_{HEX}", "01234", "id"),
    ("sk_live_abcdefgh", "abcdefgh", "token"),
    ("lin_api_abcdefghijklmnopqrst", "abcdefgh", "token"),
    ("glsa_abcdefghijklmnopqrst_0123abcd", "abcdefgh", "token"),
    ("acme_a1b2c3d4e5f6g7h8i9j0", "a1b2", "token"),
    ("Authorization: Basic dXNlcjpwYXNz", "dXNl", "token"),
    ('{"Authorization": "Basic dXNlcjpwYXNz"}', "dXNl", "token"),
    ("sent Basic dXNlcjpwYXNz", "dXNl", "token"),
    ("AWS_SECRET_ACCESS_KEY=hunter2", "hunter2", "token"),
    ("aws_access_key_id = hunter2", "hunter2", "token"),
    ("token: hunter2", "hunter2", "token"),
    ("PGPASS=hunter2", "hunter2", "token"),
    ("db_pw: hunter2", "hunter2", "token"),
    ("http://example.org/a?key=hunter2&x=1", "hunter2", "token"),
    ('password: "correct horse battery"', "horse", "token"),
    (r"{\"api_key\": \"hunter2\"}", "hunter2", "token"),
    ("http://box.tail1234.ts.net/v1", "box", "host of a private network"),
    *(
        (f"on box.acme.{ending}.", "box", "host of a private network")
        for ending in ("intranet", "internal", "lan", "local", "home.arpa", "corp", "private")
    ),
]


@pytest.mark.parametrize(("text", "secret", "kind"), SECRET_TEXTS)
def test_what_has_the_form_of_a_secret_is_found_and_removed(text: str, secret: str, kind: str) -> None:
    assert kind in kinds(text)
    removed = anonymous(text)
    assert secret not in removed
    assert kinds(removed) == []


@pytest.mark.parametrize(
    "text",
    [
        "at 00:13:05 and 2026-11-29T00:13:05Z",
        "std::vector, a::b, dead::beef and x[::2]",
        "max_tokens: 64, tokens: 1,512, first token: 12 ms, keys: quit, tokenizer: bpe",
        "basic operations, Basic Operations",
        "mobilenetv2_quantized_int8_static_per_channel.onnx",
        "model_mobilenet224quantized",
        "numpy 2.4.6, 1.2.3",
        "threading.local, config.local.toml, example.org",
        "keyboard: none",
        "100% of 20%",
    ],
)
def test_what_only_resembles_a_secret_stays(text: str) -> None:
    assert kinds(text) == []
    assert anonymous(text) == text


@pytest.mark.parametrize(
    ("text", "removed"),
    [
        ('File "/srv/client (acme)/secret/m.onnx", line 3', 'File "m.onnx", line 3'),
        (r"no '/srv/O\'Brien/m.onnx'", "no 'm.onnx'"),
        ("'/srv/a, b; c/x  y/m.onnx'", "'m.onnx'"),
        (r'"C:\acme (x)\m.onnx"', '"m.onnx"'),
        ('"~/acme (x)/m.onnx" and "/srv/b, c/n.onnx"', '"m.onnx" and "n.onnx"'),
        ('it\'s "/srv/acme" or "1/s"', 'it\'s "acme" or "1/s"'),
        ("/srv/acme/m.onnx, failed", "m.onnx, failed"),
    ],
)
def test_of_a_path_in_quotes_only_its_last_part_stays(text: str, removed: str) -> None:
    assert anonymous(text) == removed


@pytest.mark.parametrize(
    "text",
    ["Love\u00adlace", "Love\u200black", "%4cove%6Cace", r"L\u006fvelace", r"\x4covelace", "a%64a", "%2Fhome%2Fbob"],
)
def test_a_name_is_found_behind_escapes_and_invisible_characters(text: str) -> None:
    names = {"user name": ["lovelace", "lovelack", "ada"]}
    assert find_leaks({"a.txt": text.encode()}, names) != []


def test_an_invisible_character_does_not_keep_a_name_from_being_removed() -> None:
    assert anonymous("by a\u200bda", ["ada"]) == f"by {GONE}"


def test_a_field_that_is_called_like_a_secret_is_one_unless_it_is_hettop_s() -> None:
    document = {"api_key": "hunter2", "max_tokens": 64, "tokens": "many", "keys": {"quit": "q"}}
    assert anonymous_document(document) == {**document, "api_key": GONE}
    written = b'{"api_key": "hunter2"}'
    assert find_leaks({"r.json": written}, {}) == [Leak("r.json, a key", "token")]
    assert find_leaks({"r.json": written}, {}, frozenset({"api_key"})) == []


def test_a_word_behind_a_separator_is_found_only_there_and_whole() -> None:
    names = {"user name": ["/server", "\\server", "@server"]}
    assert find_leaks({"a.txt": b"server, servers, a/servers"}, names) == []
    for text in ("x/server/y", r"x\server", "bob@server"):
        assert find_leaks({"a.txt": text.encode()}, names) == [Leak("a.txt, line 1", "user name")]
        assert "server" not in anonymous(text, names["user name"])


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
