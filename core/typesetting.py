"""PDF documents, set by Typst in the helper process: a web process would hold the library forever."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from core import helper_process
from core.later import Later

if TYPE_CHECKING:
    import typst
else:
    typst = Later("typst")


def set_pdf(source: str, files: Mapping[str, bytes]) -> bytes:
    """Set a Typst document as PDF; `files` are what it includes, by the names that it gives them."""
    return helper_process.call(draw_pdf, source, dict(files))


def draw_pdf(source: str, files: Mapping[str, bytes]) -> bytes:
    """The same in this process. Typst reads files from a folder, which is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in {"main.typ": source.encode(), **files}.items():
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        written: bytes = typst.compile(f"{folder}/main.typ", root=folder)
    return written
