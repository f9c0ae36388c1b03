"""Delete from an installed environment what running Concord never loads. Used while the image is built.

    python deploy/slim.py .venv/lib/python3.11/site-packages

Everything that Concord does still works: what goes are packages' own tests, sources of compiled modules, translations
into languages that the site does not speak, and pyarrow's parts for remote files and servers, which nothing links to.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

FOLDERS = ("*/**/tests", "pyarrow/include", "pyarrow/src", "numpy/_core/include", "lxml/includes", "lxml/html")
FILES = (
    *(f"**/*.{ending}" for ending in ("po", "mo", "pyi", "h", "hpp", "pxd", "pxi", "pyx", "c", "f", "a")),
    "babel/locale-data/*.dat",
    "lxml/objectify.*",
    "pyarrow/libarrow_flight.so.*",
    "pyarrow/libarrow_python_flight.so*",
    "pyarrow/_flight.*",
    "pyarrow/libarrow_s3.so.*",
    "pyarrow/_s3fs.*",
    "pyarrow/_pyarrow_cpp_tests.*",
    "pyarrow/libarrow_python*.so",  # copies of the files that end in the version
    "pyarrow/libarrow_python*.so.*.*",
)

SPOKEN = ("en", "de")
KEPT = ("*/locale/{}/LC_MESSAGES/*.mo", "babel/locale-data/{}.dat")


def is_kept(file: Path) -> bool:
    """Whether it is of a language that the site speaks: LANGUAGES in config/settings.py."""
    return file.name == "root.dat" or any(file.match(pattern.format(one)) for pattern in KEPT for one in SPOKEN)


def slim(packages: Path) -> int:
    """Delete, and return how many bytes that freed."""
    before = size(packages)
    for pattern in FOLDERS:
        for folder in list(packages.glob(pattern)):
            shutil.rmtree(folder, ignore_errors=True)  # it may have stood in another one
    for pattern in FILES:
        for file in list(packages.glob(pattern)):
            if not is_kept(file):
                file.unlink()
    return before - size(packages)


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


if __name__ == "__main__":
    sys.stdout.write(f"slim: {slim(Path(sys.argv[1])) // 1_000_000} MB deleted\n")
