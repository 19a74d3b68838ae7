"""A report as Markdown, for a pull request or an issue: words, tables, and plots drawn in characters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hettop.report.page import (
    Beside,
    Block,
    Code,
    Columns,
    Facts,
    Figure,
    Items,
    Page,
    Paragraph,
    Plot,
    Section,
    Stack,
    Table,
    Toned,
    words_of,
)
from hettop.report.terminal.blocks import block_text
from hettop.text import safe
from hettop.version import __version__

MARK = "SIMULATED"
WARNING = "⚠️"
DRAWING_WIDTH = 76


def markdown_page(page: Page) -> str:
    """The whole text, ending with a line feed."""
    said = f"{MARK}: " if page.simulated else ""
    lines = [f"# {said}{_text(page.title)}", ""]
    if page.simulated:
        lines += [f"**{MARK}: these latencies were drawn by a model of a machine; nothing was measured.**", ""]
    for section in page.sections:
        lines += _section(section)
    lines.append(f"<sub>{said}made by hettop {__version__} from recordings alone</sub>")
    return "\n".join(lines) + "\n"


def _section(section: Section) -> list[str]:
    return [f"{'#' * section.level} {_text(section.title)}", "", *markdown_blocks(section.blocks)]


def markdown_blocks(blocks: Iterable[Block]) -> list[str]:
    """Lines of the blocks, an empty one after each."""
    return [line for block in blocks for made in [_block(block)] if made for line in (*made, "")]


def _block(block: Block) -> list[str]:  # noqa: PLR0911 - one for each kind of block
    match block:
        case Paragraph(text, _):
            return [f"{WARNING} {_text(text)}" if block.warning else _text(text)]
        case Items(texts, numbered):
            return [f"{f'{number}.' if numbered else '-'} {_text(text)}" for number, text in enumerate(texts, 1)]
        case Facts(pairs):
            return [f"- {_name(name)}: {_text(value)}" for name, value in pairs]
        case Code(text, language):
            return [f"```{language}", *text.replace("`", "'").strip("\n").split("\n"), "```"]
        case Table(heading, rows, left):
            names = [safe(name) for name in heading]
            return _table(
                names,
                [[safe(words_of(cell)) for cell in row] for row in rows],
                left=[safe(name) for name in left],
            )
        case Plot() | Beside() | Stack() | Columns():
            return _drawn(block)
        case Figure():
            return []


def _drawn(block: Block) -> list[str]:
    """In characters, in a block of code: a backtick in a name would end it."""
    text = block_text([block], DRAWING_WIDTH).replace("`", "'").rstrip("\n")
    return ["```text", *text.split("\n"), "```"] if text else []


def _name(name: str | Toned) -> str:
    return f"**{_text(' '.join(name.text.split()))}**" if isinstance(name, Toned) else _text(name)


def _text(text: str) -> str:
    """All of it: what came from outside was cut where it came in."""
    return _escaped(safe(text))


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]], *, left: Sequence[str] = ()) -> list[str]:
    """Lines of a Markdown table; cells are data, so what Markdown or HTML would take for markup is escaped."""
    kept = [index for index, _ in enumerate(heading) if not rows or any(row[index] for row in rows)]
    return [
        "| " + " | ".join(_escaped(heading[index]) for index in kept) + " |",
        "|" + "|".join("---" if heading[index] in left else "--:" for index in kept) + "|",
        *("| " + " | ".join(_escaped(row[index]) for index in kept) + " |" for row in rows),
    ]


def _escaped(text: str) -> str:
    """Text as Markdown that shows it."""
    for mark in ("\\", "`", "*", "_", "[", "]", "|", "#", "~"):
        text = text.replace(mark, f"\\{mark}")
    # A zero-width joint would hide in the text, so mentions are kept from pinging people by an entity.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
