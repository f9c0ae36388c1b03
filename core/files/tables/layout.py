"""How a file of rows is laid out: its form, encoding, separator, sheet, and where in a document its rows stand."""

from __future__ import annotations

import codecs
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic_core import from_json

from core.files.input_files import MEGABYTE, InputFile, unreadable

UTF_8 = "utf-8"
ENCODINGS = {
    UTF_8: "UTF-8",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16, little-endian",
    "utf-16-be": "UTF-16, big-endian",
    "cp1252": "Windows-1252 (Western European)",
    "cp1250": "Windows-1250 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "iso-8859-15": "ISO 8859-15 (Western European)",
    "gb18030": "GB 18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "shift_jis": "Shift JIS (Japanese)",
    "euc_kr": "EUC-KR (Korean)",
}
"""The encodings that can be chosen, by the names of Python's codecs."""

LOOKED_AT = 64 * MEGABYTE
"""So much of a file is read to find its encoding. A byte further on that does not fit is an error of its line."""
CHUNK = 2**20


def detect_encoding(file: InputFile) -> str:
    """Return the encoding of a text file: by its byte order mark, by its zero bytes, UTF-8 where it is, else
    Windows-1252, in which every old export of Western Europe can be read. InputError where it cannot be read."""
    try:
        with file.path.open("rb") as stream:
            head = stream.read(4096)
            if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                return "utf-16"
            if wide := detect_wide(head):
                return wide
            stream.seek(0)
            decoder = codecs.getincrementaldecoder(UTF_8)()
            for _ in range(LOOKED_AT // CHUNK):
                if not (chunk := stream.read(CHUNK)):
                    decoder.decode(b"", final=True)
                    break
                decoder.decode(chunk)
    except UnicodeDecodeError:
        if b"\0" in head:
            raise file.error("is not text; a table is CSV, TSV, Excel, JSON, JSON Lines or Parquet") from None
        return "cp1252"
    except OSError as error:
        raise unreadable(file, error) from error
    return UTF_8


def detect_wide(head: bytes) -> str:
    """UTF-16 without a mark: where most characters are Latin, every second byte is zero, and no other."""
    first, second = head[::2], head[1::2]
    for name, zeros, others in (("utf-16-le", second, first), ("utf-16-be", first, second)):
        if len(zeros) > 1 and zeros.count(0) > len(zeros) * 0.4 and 0 not in others:
            return name
    return ""


def has_mark(file: InputFile) -> bool:
    """Whether the file begins with a byte order mark."""
    with file.path.open("rb") as stream:
        return stream.read(3).startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


@contextmanager
def open_utf8(file: InputFile, encoding: str) -> Iterator[InputFile]:
    """Give the file in UTF-8: itself, or a copy that is written a piece at a time and removed afterwards."""
    if encoding == UTF_8:
        yield file
        return
    with TemporaryDirectory(prefix="concord-utf8-") as folder:
        copy = Path(folder) / "copy"
        write_utf8(file, encoding, copy)
        yield InputFile(copy, file.name)


def write_utf8(file: InputFile, encoding: str, copy: Path) -> None:
    """Write the file anew in UTF-8. InputError with the line whose bytes are not of that encoding."""
    line = 1
    try:
        with (
            file.path.open(encoding=encoding, newline="") as source,
            copy.open("w", encoding=UTF_8, newline="") as sink,
        ):
            while text := source.read(CHUNK):
                sink.write(text)
                line += text.count("\n")
    except UnicodeError as error:
        raise file.error(
            "is not {encoding} from line {first} on; choose another encoding",
            field="encoding",
            encoding=ENCODINGS.get(encoding, encoding),
            first=line,
        ) from error
    except OSError as error:
        raise unreadable(file, error) from error


CSV, XLSX, JSONL, JSON, PARQUET, FOLDER = "csv", "xlsx", "jsonl", "json", "parquet", "folder"
FORMS = {
    CSV: "text with separators (CSV, TSV)",
    XLSX: "Excel workbook",
    JSONL: "JSON Lines",
    JSON: "JSON",
    PARQUET: "Parquet",
    FOLDER: "folder of Hugging Face datasets",
}
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
HEAD = 65_536
"""So many bytes tell what a file is."""
EXCEL_HINT = "sep="
"""Excel's own first line, which names the separator."""


@dataclass(frozen=True)
class Layout:
    """How to read a file. Empty is: find it out.

    Attributes
    ----------
    form
        A key of FORMS.
    encoding
        A key of ENCODINGS, of text.
    separator
        A key of SEPARATORS, of CSV.
    sheet
        Name of a sheet of a workbook.
    at
        Dotted path of the list of rows inside a JSON document.
    is_marked
        Whether text begins with a byte order mark.
    """

    form: str = ""
    encoding: str = ""
    separator: str = ""
    sheet: str = ""
    at: str = ""
    is_marked: bool = False

    @property
    def is_text(self) -> bool:
        return self.form in (CSV, JSONL, JSON)

    def describe(self) -> str:
        """The layout in words: `text with separators (CSV, TSV), separator semicolon, UTF-8`."""
        said = [FORMS[self.form]]
        if self.form == CSV:
            said.append(f"separator {SEPARATORS[self.separator]}")
        if self.is_text:
            said.append(ENCODINGS[self.encoding] + (" with a byte order mark" if self.is_marked else ""))
        if self.sheet:
            said.append(f"sheet {self.sheet}")
        if self.at:
            said.append(f"rows in {self.at}")
        return ", ".join(said)


def complete_layout(file: InputFile, given: Layout | None = None) -> Layout:
    """Return the layout with all that was left open found from the file. InputError where that cannot be."""
    found = given or Layout()
    form = found.form or detect_form(file)
    found = replace(found, form=form)
    if not found.is_text:
        return replace(found, encoding="", separator="")
    return replace(found, encoding=found.encoding or detect_encoding(file), is_marked=has_mark(file))


def detect_form(file: InputFile) -> str:
    """Return what kind of file it is, by its first bytes and then by its ending."""
    if file.path.is_dir():
        return FOLDER
    ending = Path(file.name).suffix.lower()
    try:
        with file.path.open("rb") as stream:
            head = stream.read(HEAD)
    except OSError as error:
        raise unreadable(file, error) from error
    if not head.strip(b"\xef\xbb\xbf \t\r\n"):
        raise file.error("is empty")
    if head.startswith(b"PAR1"):
        return PARQUET
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")) or ending == ".arrow":
        return FOLDER
    if head.startswith(b"PK"):
        return detect_packed(file)
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise file.error("is an Excel file of before 2007 (.xls), or is protected by a password; save it as .xlsx")
    if head.startswith(b"%PDF"):
        raise file.error("is a PDF, and no table; save what it shows as CSV or .xlsx")
    if ending in (".jsonl", ".ndjson"):
        return JSONL
    return detect_text_form(head, ending) or CSV


def detect_packed(file: InputFile) -> str:
    """A workbook. Other ZIP files are unpacked before they are looked at."""
    try:
        with zipfile.ZipFile(file.path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile) as error:
        raise file.error("is not a ZIP file that can be read: {why}", why=error) from error
    if any(name.startswith("xl/") for name in names):
        return XLSX
    raise file.error("is a ZIP file that is not an Excel workbook; unpack it and choose one of the files in it")


def detect_text_form(head: bytes, ending: str) -> str:
    """JSON or JSON Lines, by how the text begins; empty for other text. `head` are the first bytes of the file."""
    wide = detect_wide(head[:4096])
    encoding = "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else wide or UTF_8
    text = head[: len(head) // 2 * 2].decode(encoding, errors="replace").lstrip("\ufeff \t\r\n")
    if text.startswith("["):
        return JSON
    if not text.startswith("{"):
        return ""
    first, ended, rest = text.partition("\n")
    if not ended and len(head) >= HEAD:
        return JSON if ending == ".json" else JSONL
    alone = not rest.strip()
    return JSONL if is_json(first) and (rest.lstrip().startswith("{") or (alone and ending != ".json")) else JSON


def is_json(text: str) -> bool:
    try:
        from_json(text)
    except ValueError:
        return False
    return True
