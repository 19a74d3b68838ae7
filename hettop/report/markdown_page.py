"""A report as Markdown, for a pull request or an issue: the words and tables of the page, without its figures.

Knows pages, not sessions; what Markdown or HTML would take for markup is escaped.
"""

from __future__ import annotations

from hettop.report.grid import escaped, markdown
from hettop.report.page import Block, Facts, Figure, Items, Page, Paragraph, Section, Table
from hettop.text import clean
from hettop.version import __version__

TEXT_LIMIT = 400
MARK = "SIMULATED"


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
        case Paragraph(text, warning):
            return [f"**{_text(text)}**" if warning else _text(text)]
        case Items(texts, numbered):
            return [f"{f'{number}.' if numbered else '-'} {_text(text)}" for number, text in enumerate(texts, 1)]
        case Facts(pairs):
            return [f"- {_text(name)}: {_text(value)}" for name, value in pairs]
        case Table(heading, rows, left):
            return markdown(heading, [[clean(cell, TEXT_LIMIT) for cell in row] for row in rows], left=left)
        case Figure():
            return []


def _text(text: str) -> str:
    return escaped(clean(text, TEXT_LIMIT))
