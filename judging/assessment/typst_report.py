"""A report as a Typst document, to be set as PDF: a summary, then methods, figures, tables and references (pure).

Whatever comes from data is written as a string, in which Typst reads no markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from judging.assessment.latex import list_notices
from judging.assessment.report_tables import Table, list_tables
from judging.assessment.report_types import ReportDocument

PREAMBLE = """#set page(paper: "a4", margin: 20mm, numbering: "1 / 1")
#set text(size: 9.5pt, lang: "en", font: "Libertinus Serif")
#set par(justify: true)
#set table(stroke: none, inset: (x: 3pt, y: 2.5pt), align: left)
#set table.hline(stroke: 0.4pt)
#show table: set par(justify: false)
#show table: set text(size: 8pt)
#show figure.where(kind: table): set figure.caption(position: top)
#show figure.caption: set align(left)
#show heading: set block(above: 1.4em, below: 0.8em)
"""

WHOLE = 30
"""Rows of a table that may not be torn apart; a longer one begins where it stands."""

SCALE, FRONT_SCALE = 60, 50
"""Percent of its own size at which a figure is printed, its texts as large as a table's; and one on the first page."""

FRONT = ("people", "judges")
"""Labels of the tables on the first page."""


def quote(text: object) -> str:
    """A text as a string of Typst, on one line."""
    inner = " ".join(str(text).split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inner}"'


def write(document: ReportDocument, figures: Sequence[tuple[str, str]]) -> str:
    """The whole document; figures are file names without their ending, with their captions."""
    return PREAMBLE + "\n".join(_list_parts(document, figures)) + "\n"


def _list_parts(document: ReportDocument, figures: Sequence[tuple[str, str]]) -> Iterator[str]:
    study, tables = document["study"], list_tables(document)
    yield f"#set document(title: {quote(study['name'])})"
    yield f"#text(size: 17pt, weight: 600)[#{quote(study['name'])}]"
    yield _paragraph(f"{study['n_items']:,} items. {study['description']}")
    for notice in list_notices(document):
        yield f"#strong[#{quote(notice)}]\n"
    yield from (_table(table) for table in tables if table.label in FRONT)
    yield from (_figure(*one, scale=FRONT_SCALE) for one in figures[:1])
    yield _paragraph(f"Computed {document['generated_at']} by Concord {document['code_version']}.")
    yield "#pagebreak()\n= Methods"
    yield _paragraph(document["methods"]["text"])
    yield "= Figures"
    yield from (_figure(*one) for one in figures[1:])
    yield "= Tables"
    yield from (_table(table) for table in tables if table.label not in FRONT)
    yield "= References"
    yield from (f"+ #{quote(reference)}" for reference in document["methods"]["references"])


def _paragraph(text: str) -> str:
    return f"#par[#{quote(text)}]\n"


def _table(table: Table) -> str:
    head = ", ".join(f"strong[#{quote(name)}]" for name in table.header)
    rows = "\n".join(f"    {', '.join(map(quote, row))}," for row in table.rows)
    torn = "#show figure: set block(breakable: true)\n" if len(table.rows) > WHOLE else ""
    return (
        f"#[{torn}#figure(kind: table, caption: [#{quote(table.caption)}], table(\n  columns: {len(table.header)},\n"
        f"  table.hline(), table.header({head}), table.hline(),\n{rows}\n  table.hline(),\n))]\n"
    )


def _figure(name: str, caption: str, *, scale: int = SCALE) -> str:
    drawn = f'scale({scale}%, reflow: true, image("figures/{name}.pdf"))'
    return f"#figure({drawn}, caption: [#{quote(caption)}])\n"
