"""Files as they lie around in labs: what spreadsheets, exports and scripts leave behind."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from xml.sax.saxutils import escape

HEAD = "xl/workbook.xml"
TYPES = """<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/xl/workbook.xml"
 ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>
{sheets}<Override PartName="/xl/styles.xml"
 ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>"""
SHEET_TYPE = (
    '<Override PartName="/xl/worksheets/sheet{n}.xml"'
    ' ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
)
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STYLES = f"""<?xml version="1.0"?><styleSheet xmlns="{MAIN}"><fonts count="1"><font/></fonts>
<fills count="1"><fill/></fills><borders count="1"><border/></borders>
<cellStyleXfs count="1"><xf/></cellStyleXfs>
<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>"""


class ExcelDate(float):
    """A date as Excel has it: days since the end of 1899, shown by a format of dates."""


def write_workbook(sheets: dict[str, Sequence[Sequence[object]]]) -> bytes:
    """An .xlsx file (ECMA-376) with these sheets. Texts stand in their cells."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        numbers = range(1, len(sheets) + 1)
        archive.writestr("[Content_Types].xml", TYPES.format(sheets="".join(SHEET_TYPE.format(n=n) for n in numbers)))
        archive.writestr("_rels/.rels", relations([("officeDocument", HEAD)]))
        named = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, start=1))
        archive.writestr(HEAD, f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{named}</sheets></workbook>')
        parts = [("worksheet", f"worksheets/sheet{n}.xml") for n in numbers]
        archive.writestr("xl/_rels/workbook.xml.rels", relations([*parts, ("styles", "styles.xml")]))
        archive.writestr("xl/styles.xml", STYLES)
        for n, rows in enumerate(sheets.values(), start=1):
            inner = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
            archive.writestr(
                f"xl/worksheets/sheet{n}.xml", f'<worksheet xmlns="{MAIN}"><sheetData>{inner}</sheetData></worksheet>'
            )
    return packed.getvalue()


def relations(parts: Sequence[tuple[str, str]]) -> str:
    inner = "".join(
        f'<Relationship Id="r{n}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(parts, start=1)
    )
    return f'<?xml version="1.0"?><Relationships xmlns="{PACKAGE}">{inner}</Relationships>'


def cell(value: object) -> str:
    if value is None:
        return "<c/>"
    if isinstance(value, ExcelDate):
        return f'<c s="1"><v>{float(value):g}</v></c>'
    if isinstance(value, int | float):
        return f"<c><v>{value}</v></c>"
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(str(value))}</t></is></c>'


def semicolons() -> tuple[str, bytes]:
    """As a German Excel writes it: semicolons, and a semicolon inside a quoted cell."""
    text = 'Nr;Frage;Antwort A;Antwort B\n1;Wie spät?;"Drei; genau.";Vier.\n2;Wo?;Hier.;Dort.\n'
    return "antworten.csv", text.encode()


def byte_order_mark() -> tuple[str, bytes]:
    """As Excel writes "CSV UTF-8": the mark would otherwise be part of the first column's name."""
    return "export.csv", b"\xef\xbb\xbf" + "id,prompt,response\r\n1,Grüße?,Ja\r\n2,Zwei?,Nein\r\n".encode()


def utf_16() -> tuple[str, bytes]:
    """As Excel writes "Unicode text": UTF-16 with tabs."""
    return "unicode.txt", "id\tprompt\tresponse\r\n1\tÄpfel?\tJa, „gern“\r\n2\t苹果?\tNein\r\n".encode("utf-16")


def windows_1252() -> tuple[str, bytes]:
    """An old export of Western Europe."""
    return "alt.csv", "id,prompt,response\n1,Café?,Oui – 5 €\n2,Zwei?,Nein\n".encode("cp1252")


def duplicate_ids() -> tuple[str, bytes]:
    """The same row twice, an id with two texts, and an empty one."""
    rows = ["id,prompt,response", "a,One?,1", "a,One?,1", "b,Two?,2", "b,Two again?,2", "c,,3", "d,Four?,4"]
    return "twice.csv", "\n".join(rows).encode()


def ragged_rows() -> tuple[str, bytes]:
    """A row that ends early, one that is too long, and one whose excess is empty."""
    rows = ["id,prompt,response", "1,One?", "2,Two?,2,surplus", "3,Three?,3,,", "", "4,Four?,4"]
    return "ragged.csv", "\n".join(rows).encode()


def excel_dates() -> tuple[str, bytes]:
    """A workbook of two sheets with dates and whole numbers, which are floats in it."""
    rows = [
        ["ID", "Question", "Answer A", "Answer B", "Asked on"],
        [1, "Which day?", "Monday", "Tuesday", ExcelDate(45_658)],
        [2, "When?", "Now", "Later", ExcelDate(45_658.5)],
    ]
    return "ratings.xlsx", write_workbook({"Data": rows, "Notes": [["nothing here"]]})


def long_jsonl(n: int = 3000) -> tuple[str, bytes]:
    """Many lines of JSON."""
    turns = [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Hi. " * 20}]
    lines = (json.dumps({"uid": f"d{number}", "chat": turns, "score": number % 5}) for number in range(n))
    return "long.jsonl", "\n".join(lines).encode()


def nested_json() -> tuple[str, bytes]:
    """A document with its rows in a list, and what is wanted deep inside."""
    rows = [
        {
            "meta": {"ids": {"external": f"x{number}"}, "model": {"name": "m-1"}},
            "data": {"messages": [{"from": "human", "text": "Ask"}, {"from": "bot", "text": f"Answer {number}"}]},
        }
        for number in range(3)
    ]
    return "nested.json", json.dumps({"version": 2, "records": rows}).encode()


def empty_columns() -> tuple[str, bytes]:
    """Columns without a name, without a value, and two of the same name."""
    rows = ["id,prompt,,response,comment,prompt,,", "1,One?,,1,,again,,", "2,Two?,,2,,more,,"]
    return "columns.csv", "\n".join(rows).encode()


ALL = (
    semicolons,
    byte_order_mark,
    utf_16,
    windows_1252,
    duplicate_ids,
    ragged_rows,
    excel_dates,
    long_jsonl,
    nested_json,
    empty_columns,
)
