"""How the characters of a text file are written: found by its first bytes, and turned into UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from core.errors import InputError
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
        return "cp1252"
    except OSError as error:
        raise unreadable(file, error) from error
    return UTF_8


def detect_wide(head: bytes) -> str:
    """UTF-16 without a mark: where most characters are Latin, every second byte is zero."""
    for name, zeros in (("utf-16-le", head[1::2]), ("utf-16-be", head[::2])):
        if len(zeros) > 1 and zeros.count(0) > len(zeros) * 0.4:
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
        message = f"is not {ENCODINGS.get(encoding, encoding)} from line {line} on; choose another encoding"
        raise InputError(message, file=file.name, field="encoding") from error
    except OSError as error:
        raise unreadable(file, error) from error
