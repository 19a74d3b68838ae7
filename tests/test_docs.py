"""The docs are right: commands that are said to run do, links lead somewhere, generated pages are up to date."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import tools.pages
from hettop.cli.commands import COMMANDS, LIVE, options_of, parser_of
from tests.cli.running import hettop
from tests.processes.waiting import PACKAGE

REPOSITORY = Path(__file__).parents[1]
DOCS = REPOSITORY / "docs"
OWN = [DOCS / "guide/tutorial.md", DOCS / "guide/screen.md", *sorted((DOCS / "guide/questions").glob("*.md"))]
PAGES = [*REPOSITORY.glob("*.md"), *sorted(DOCS.rglob("*.md")), *(REPOSITORY / "recordings").glob("*.md")]
CHECKED = "<!-- checked -->\n```sh\n"
DRAWN = "──"  # boxes and arrows, no command
EXIT = re.compile(r"#\s*exit (\d)")
WARNING = re.compile(r"^(?:hettop:|warning:|! |⚠).*", flags=re.M)


def name_of(page: Path) -> str:
    return str(page.relative_to(PACKAGE.parent if PACKAGE in page.parents else REPOSITORY))


def commands_in(block: str) -> list[str]:
    return [line for line in block.splitlines() if line.startswith("hettop ")]


@pytest.mark.parametrize("page", OWN, ids=name_of)
def test_commands_that_are_marked_run(page: Path, tmp_path: Path) -> None:
    """All of a page in one folder and in their order: later ones read what earlier ones have written."""
    (tmp_path / "recordings").symlink_to(REPOSITORY / "recordings")
    blocks = page.read_text(encoding="utf-8").split(CHECKED)[1:]
    commands = [command for block in blocks for command in commands_in(block.partition("```")[0])]
    assert commands, "a page without a command that is checked"
    for command in commands:
        expected = EXIT.search(command)
        done = hettop(*shlex.split(command, comments=True)[1:], cwd=tmp_path)
        assert done.returncode == (int(expected[1]) if expected else 0), f"{command}\n{done.stdout}\n{done.stderr}"
        assert done.stdout.strip() or "-o" in command, command
        assert not WARNING.findall(done.stderr + done.stdout), command


def commands_in_blocks(page: Path) -> Iterator[str]:
    """As somebody would type them."""
    for block in re.findall(r"^```\w*\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.S | re.M):
        lines = (line.strip().removeprefix("$ ") for line in block.replace("\\\n", " ").splitlines())
        typed = (re.split(r" (?:\||>|&&) ", line)[0] for line in lines if line.startswith("hettop "))
        yield from (command for command in typed if DRAWN not in command)


def words_of(command: str) -> tuple[str, list[str]]:
    """The name of the command, and what follows it."""
    words = shlex.split(command.replace("…", ""), comments=True)[1:]
    return (words[0], words[1:]) if words and words[0] in COMMANDS else (LIVE, words)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_is_one_that_there_is(page: Path) -> None:
    for command in commands_in_blocks(page):
        name, words = words_of(command)
        if words[:1] not in (["--version"], ["--help"]):
            parser_of(name).parse_args(words)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_option_in_prose_is_one_that_there_is(page: Path) -> None:
    """Sentences leave out what a command needs: what they name has to be there."""
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    for command in re.findall(r"`(hettop [^`]+)`", prose):
        name, words = words_of(command)
        known = {flag for option in options_of(name) for flag in option.flags}
        flags = [word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)]
        assert set(flags) <= known | {"--help", "--version"}, command
        if name == LIVE and words:
            assert not re.fullmatch(r"[a-z]+", words[0]), f"a command that there is not: {command}"


@pytest.mark.parametrize("page", OWN[:1] + OWN[2:], ids=name_of)
def test_the_tutorial_and_every_question_have_a_picture(page: Path) -> None:
    assert re.search(r"^!\[.+\]\([^)]+\.svg\)$", page.read_text(encoding="utf-8"), flags=re.M)


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    ui_state = re.sub(r"[^\w\- ]", "", heading.strip().lower().replace("`", ""))
    return ui_state.replace(" ", "-")


def anchors(page: Path) -> set[str]:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    return {slug(found) for found in re.findall(r"^#+ (.*)$", text, flags=re.M)}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name_of(page)} links to {link}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{name_of(page)} links to {link}"


MENTIONED = re.compile(r"(?<![\w/.-])(?:docs|packaging|tools|benchmarks|hettop(?!/shipped)|tests)/[\w/.-]*\w")
TEXTS = [
    *PAGES,
    *(
        path
        for folder in (PACKAGE, *(REPOSITORY / name for name in ("tests", "benchmarks", "tools")))
        for path in folder.rglob("*.py")
    ),
    *(REPOSITORY / "packaging").iterdir(),
    *(REPOSITORY / path for path in (".ci/run", ".github/workflows/ci.yml", "pyproject.toml")),
]


def test_every_path_of_the_repository_that_is_mentioned_exists() -> None:
    """In pages, messages and comments alike; the changelog says what was where. The wheel alone has `shipped`."""
    missing = {
        f"{name_of(text)}: {path}"
        for text in TEXTS
        if text.name != "CHANGELOG.md"
        for path in MENTIONED.findall(text.read_text(encoding="utf-8"))
        if not ((PACKAGE.parent if path.startswith("hettop/") else REPOSITORY) / path).exists()
    }
    assert missing == set()


@pytest.mark.parametrize("page", tools.pages.PAGES)
def test_generated_pages_are_up_to_date(page: str) -> None:
    assert (REPOSITORY / page).read_text(encoding="utf-8") == tools.pages.PAGES[page](), "run: python tools/pages.py"


def test_the_example_of_settings_is_one() -> None:
    import tomllib

    from hettop.app.settings.resolve import resolve_settings, screen_keymap
    from hettop.toml import TomlFile

    text = (DOCS / "guide/screen.md").read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
    settings = resolve_settings(TomlFile(Path("config.toml"), text, tomllib.loads(text)), {})
    assert settings.faults == ()
    assert {value.source for value in settings.values.values()} == {"file"}
    assert screen_keymap(settings.keys).faults == {}


def test_every_test_that_the_page_of_faults_names_exists() -> None:
    lines = (DOCS / "reference/what-survives-what.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| what goes wrong")]
    assert rows
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row)
        assert named, row
        for path, test in named:
            assert re.search(rf"^(?:async )?def {test}\(", (REPOSITORY / path).read_text(), re.M), f"{path}::{test}"
