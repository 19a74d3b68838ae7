"""A report as one HTML file: no script, no network, readable on a phone, in the dark and on paper.

Every text is escaped here; figures alone are markup, made by `figures`.
"""

from __future__ import annotations

from html import escape

from hettop.format import percent
from hettop.report.page import (
    Bar,
    Beside,
    Block,
    Cell,
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
from hettop.report.svg.plot import columns_svg, plot_svg, stack_svg
from hettop.text import safe
from hettop.version import __version__

MARK = "SIMULATED"
# Nothing may be loaded, whatever a text that came from a file holds.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"

STYLE = """\
:root{color-scheme:light dark;--ink:#1a1c20;--soft:#5c626b;--rule:#d5d9df;--paper:#fff;--warn:#a33b00;
--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#b58900;--c5:#56b4e9;--c6:#7a7a7a}
@media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#a2a8b0;--rule:#3a3f46;--paper:#15171a;--warn:#ff9d66;
--c0:#56a9e0;--c1:#f08c4b;--c2:#3cc79b;--c3:#e0a0c4;--c4:#e0b83c;--c5:#8fd0f5;--c6:#a8a8a8}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:64rem;padding:1rem 1rem 4rem;color:var(--ink);background:var(--paper);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0}
h2{font-size:1.25rem;margin:2.2rem 0 .6rem;border-bottom:1px solid var(--rule);padding-bottom:.2rem}
h3{font-size:1.05rem;margin:1.6rem 0 .4rem}
p{margin:.5rem 0;max-width:46rem}
.warning{color:var(--warn)}
.mark{display:inline-block;background:var(--warn);color:var(--paper);font-weight:700;letter-spacing:.06em;
border-radius:.25rem;padding:0 .5rem;margin-right:.5rem}
.scroll{overflow-x:auto;margin:.6rem 0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}
th,td{padding:.25rem .6rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--rule)}
th{color:var(--soft);font-weight:600}
th.word,td.word{text-align:left}
td .bar{display:inline-block;height:.7em;background:var(--c0)}
td .bar.good{background:var(--c2)}td .bar.mid{background:var(--c1)}
td .bar.high,td .bar.warning,td .bar.error{background:var(--warn)}
td .error,td .warning,dt .error{color:var(--warn)}td .muted{color:var(--soft)}td .strong,dt .strong{font-weight:600}
dt .strong{color:var(--ink)}pre{overflow-x:auto;margin:.5rem 0;font-size:.9rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.6rem 0;font-size:.95rem}
dt{color:var(--soft)}dd{margin:0}
figure{margin:1rem 0;break-inside:avoid;overflow-x:auto}
figure svg{width:100%;height:auto;display:block}
figcaption{color:var(--soft);font-size:.9rem}
svg text{fill:var(--ink);font:12px system-ui,-apple-system,sans-serif}
svg .axis{stroke:var(--rule)}svg .soft{fill:var(--soft)}
ol,ul{padding-left:1.6rem;margin:.5rem 0}
footer{margin-top:3rem;color:var(--soft);font-size:.85rem}
@media(max-width:36rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.4rem}figure svg{min-width:44rem}}
@media print{body{max-width:none;font-size:11pt}.scroll{overflow:visible}table{font-size:8pt}h2,h3{break-after:avoid}}
"""


def html_page(page: Page) -> str:
    """The whole file, ending with a line feed."""
    mark = f'<span class="mark">{MARK}</span>' if page.simulated else ""
    said = f"{MARK}: " if page.simulated else ""
    lines = [
        "<!doctype html>",
        f"<!-- hettop {__version__} report -->",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        f"<title>{said}{_text(page.title)}</title>",
        f"<style>\n{STYLE}</style></head><body>",
        f"<h1>{mark}{_text(page.title)}</h1>",
    ]
    if page.simulated:
        lines.append(
            f'<p class="warning">{MARK}: these latencies were drawn by a model of a machine; nothing was measured.</p>'
        )
    for section in page.sections:
        lines += _section(section, page.simulated)
    lines.append(f"<footer>{said}made by hettop {__version__} from recordings alone</footer></body></html>")
    return "\n".join(lines) + "\n"


def _section(section: Section, simulated: bool) -> list[str]:
    tag = f"h{section.level}"
    title = f"<section><{tag}>{_text(section.title)}</{tag}>"
    return [title, *(_block(block, simulated) for block in section.blocks), "</section>"]


def _block(block: Block, simulated: bool) -> str:  # noqa: PLR0911 - one for each kind of block
    match block:
        case Paragraph(text, _):
            kind = ' class="warning"' if block.warning else ""
            return f"<p{kind}>{_text(text)}</p>"
        case Items(texts, numbered):
            tag = "ol" if numbered else "ul"
            return f"<{tag}>{''.join(f'<li>{_text(text)}</li>' for text in texts)}</{tag}>"
        case Facts(pairs):
            return f"<dl>{''.join(f'<dt>{_name(name)}</dt><dd>{_text(value)}</dd>' for name, value in pairs)}</dl>"
        case Code(text, language):
            return f'<pre><code class="language-{language}">{escape(text)}</code></pre>'
        case Table():
            return _table(block)
        case Plot():
            return _figure(plot_svg(block), block.caption, simulated)
        case Beside(left, right):
            return _block(left, simulated) + _block(right, simulated)
        case Stack():
            return _figure(stack_svg(block), block.caption, simulated)
        case Columns():
            return _figure(columns_svg(block), block.caption, simulated)
        case Figure(svg, caption):
            return _figure(svg, caption, simulated)


def _name(name: str | Toned) -> str:
    return f'<span class="{name.tone}">{_text(name.text)}</span>' if isinstance(name, Toned) else _text(name)


def _figure(svg: str, caption: str, simulated: bool) -> str:
    said = f"{MARK}: " if simulated else ""
    return f"<figure>{svg}<figcaption>{said}{_text(caption)}</figcaption></figure>" if svg else ""


def _table(table: Table) -> str:
    table = table.shown()
    kinds = [' class="word"' if name in table.left else "" for name in table.heading]
    head = "".join(f"<th{kind}>{_text(name)}</th>" for kind, name in zip(kinds, table.heading, strict=True))
    rows = "".join(
        f"<tr>{''.join(_cell(cell, kind) for kind, cell in zip(kinds, row, strict=True))}</tr>\n" for row in table.rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>'


def _cell(cell: Cell, kind: str) -> str:
    match cell:
        case Bar(share, tone, _):
            width = percent(min(1.0, max(0.0, share)))
            return f'<td class="word"><span class="bar {tone}" style="width:calc({width} * .08em)"></span></td>'
        case Toned(text, tone):
            return f'<td{kind}><span class="{tone}">{_text(text)}</span></td>'
    return f"<td{kind}>{_text(words_of(cell))}</td>"


def _text(text: str) -> str:
    """All of it: what came from outside was cut where it came in."""
    return escape(safe(text))
