"""Every page of every study, through every renderer: lines fit, and no text that came from a file is markup."""

from __future__ import annotations

from xml.etree import ElementTree

import msgspec
import pytest

from hettop.report.explain import STATISTICS
from hettop.report.html_page import html_page
from hettop.report.markdown_page import markdown_page
from hettop.report.page import Beside, Block, Columns, Items, Page, Paragraph, Plot, Section, Stack
from hettop.report.terminal.blocks import block_lines, block_text
from hettop.report.terminal.glyphs import GLYPHS
from hettop.report.terminal.lines import INKS, text_of, width_of
from hettop.studies.registry import STUDIES
from hettop.studies.result import StudyResult
from tests.studies import coexecuted, inside, planned, started, swept
from tests.studies.predict import found as predicted

EVIL = "</svg><script>alert(1)</script>\x1b[31m\u202e`|x"


def _evil(name: str, found: StudyResult) -> StudyResult:
    """The same with an evil text wherever there is a text."""
    plain = msgspec.to_builtins(found)

    def spoiled(value: object) -> object:
        if isinstance(value, str):
            return f"{value[:20]}{EVIL}"
        if isinstance(value, list):
            return [spoiled(each) for each in value]
        if isinstance(value, dict):
            return {key: spoiled(each) if key not in KEPT else each for key, each in value.items()}
        return value

    return msgspec.convert(spoiled(plain), type(found))


KEPT = {"of", "bound", "axis"}
"""What a study's fields mean by these texts decides what is drawn."""

FOUND: list[tuple[str, StudyResult]] = [
    *(("sweep", found) for found in (swept.PLANTED, swept.FLAT, swept.TWO_UNITS, swept.SIZES, swept.ONE_POINT)),
    *(("sweep", found) for found in (swept.NOTHING, swept.LOADS, swept.HOSTILE_SWEEP, swept.HOSTILE_LOADS)),
    *(("variants", found) for found in (swept.VARIANTS, swept.UNCOMPARED, swept.NO_VARIANTS, swept.HOSTILE_VARIANTS)),
    *(("plan", found) for found in (planned.PLAN, planned.NOT_RUN, planned.ONE_DEVICE, planned.EMPTY_PLAN)),
    *(("plan", found) for found in (planned.TORN, planned.OF_A_FILE, planned.HOSTILE_PLAN)),
    *(("granularities", found) for found in (planned.WAYS, planned.ONE_WAY, planned.EMPTY_WAYS, planned.HOSTILE_WAYS)),
    *(("layers", found) for found in (inside.LAYERS, inside.ESTIMATED, inside.EMPTY, inside.ROOFLINE, inside.FULL)),
    *(("roofline", found) for found in (inside.ROOFLINE, inside.LAYERS, inside.EMPTY, inside.FULL)),
    *(("coexec", found) for found in (coexecuted.WELL, coexecuted.BEGUN, coexecuted.NOTHING, coexecuted.DIED)),
    *(("coexec", found) for found in (coexecuted.UNTRUE, coexecuted.POWERED, coexecuted.HOSTILE_ONE)),
    *(("cold", found) for found in (started.WELL, started.CACHED, started.IN_SIMULATION, started.UNSTEADY)),
    *(("predict", found) for found in (predicted.FOUND, predicted.FAILED, predicted.FEW, predicted.NOTHING)),
    *(("cold", found) for found in (started.ALL_FAILED, started.NOTHING, started.FULL, started.HOSTILE_ONE)),
]
NAMED = pytest.mark.parametrize(("name", "found"), [*FOUND, *((name, _evil(name, found)) for name, found in FOUND)])


@NAMED
def test_in_cells_no_line_is_too_long_and_none_holds_a_control_character(name: str, found: StudyResult) -> None:
    blocks = STUDIES[name].page(found)
    for width in (196, 76, 20, 1):
        lines = block_lines(blocks, width, 30)
        text = "\n".join(text_of(each) for each in lines)
        assert all(width_of(each) <= width for each in lines), width
        assert {ink for each in lines for _, ink in each} <= set(INKS)
        assert not any(character in text for character in "\x1b\u202e")


@NAMED
def test_as_html_and_markdown_no_text_is_markup(name: str, found: StudyResult) -> None:
    blocks = STUDIES[name].page(found)
    page = Page("a page", simulated=False, sections=[Section("Found", blocks)])
    html, markdown = html_page(page), markdown_page(page)
    assert "<script" not in html
    outside = "".join(markdown.split("```")[::2])  # in a block of code nothing is markup
    assert "<script" not in outside
    for text in (html, markdown):
        assert "\x1b" not in text
        assert "\u202e" not in text
    ElementTree.fromstring(html.partition("</style></head>")[2].removesuffix("</html>\n"))
    assert markdown.count("```") % 2 == 0


def test_a_sentence_is_shown_whole_however_long_it_is() -> None:
    """The method of a sweep has more than 400 characters; words are compared, for lines break where there is room."""
    sentence = f"{'a sentence of ours ' * 60}ends"
    blocks: list[Block] = [Paragraph(STATISTICS[1]), Items([sentence]), Paragraph(sentence, "warning")]
    page = Page("a page", simulated=False, sections=[Section("Found", blocks)])
    plain = ElementTree.fromstring(html_page(page).partition("</style></head>")[2].removesuffix("</html>\n"))
    for text in ("".join(plain.itertext()), markdown_page(page), block_text(blocks, 76)):
        words = " ".join(text.split())
        assert words.count("sentence of ours") == 120
        assert STATISTICS[1] in words


@pytest.mark.parametrize(("name", "found"), FOUND)
def test_drawings_are_made_of_glyphs_that_ascii_has_a_stand_in_for(name: str, found: StudyResult) -> None:
    drawn = [each for each in STUDIES[name].page(found) if isinstance(each, Plot | Beside | Stack | Columns)]
    for width in (196, 76):
        beyond = {letter for letter in block_text(drawn, width) if not letter.isascii()}
        assert beyond <= {*GLYPHS, *"漢字²"}
