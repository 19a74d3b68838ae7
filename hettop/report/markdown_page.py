"""A report as Markdown, for a pull request or an issue: words, tables, and plots drawn in characters.

Knows pages, not sessions; what Markdown or HTML would take for markup is escaped.
"""

from __future__ import annotations

from hettop.report.grid import escaped, markdown
from hettop.report.page import (
    Beside,
    Block,
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
    words_of,
)
from hettop.report.terminal.blocks import block_text
from hettop.text import safe
from hettop.version import __version__

MARK = "SIMULATED"
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
    lines = [f"{'#' * section.level} {_text(section.title)}", ""]
    for block in section.blocks:
        made = _block(block)
        lines += [*made, ""] if made else []
    return lines


def _block(block: Block) -> list[str]:
    match block:
        case Paragraph(text, _):
            return [f"**{_text(text)}**" if block.warning else _text(text)]
        case Items(texts, numbered):
            return [f"{f'{number}.' if numbered else '-'} {_text(text)}" for number, text in enumerate(texts, 1)]
        case Facts(pairs):
            return [f"- {_text(name)}: {_text(value)}" for name, value in pairs]
        case Table(heading, rows, left):
            names = [safe(name) for name in heading]
            return markdown(
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


def _text(text: str) -> str:
    """All of it: what came from outside was cut where it came in."""
    return escaped(safe(text))
