"""The translations in locale/ as the files that Django reads, made when a process starts and they are not there yet.

Nothing compiled is in the repository, and no step of set-up, of the image or of an upgrade has to be remembered.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

KEPT_SECONDS = 7 * 24 * 3600
"""Processes of an earlier version may still have to read what was made for them."""


def compile_catalogues(source: Path, target: Path) -> Path:
    """Compile each .po file below `source` into a folder of `target` that is named by their contents; return that."""
    catalogues = {path.relative_to(source): path.read_bytes() for path in sorted(source.rglob("*.po"))}
    folder = target / sha256(b"\0".join(catalogues.values())).hexdigest()[:12]
    if folder.exists():
        return folder
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target) as temporary:
        compiled = Path(temporary) / "locale"
        for path, content in catalogues.items():
            _compile(content, compiled / path.with_suffix(".mo"))
        try:
            compiled.rename(folder)
        except OSError:
            if not folder.exists():  # else another process was faster
                raise
    for path in target.iterdir():
        with suppress(FileNotFoundError):  # another process tidies up as well
            if path != folder and time.time() - path.stat().st_mtime > KEPT_SECONDS:
                shutil.rmtree(path)
    return folder


def _compile(content: bytes, path: Path) -> None:
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_mo(file, read_po(content.splitlines(keepends=True)))
