"""The tutorials do what they say, from the first line to the last, in an empty folder."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import zipfile
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

DOCS = Path(__file__).resolve().parents[1] / "docs"
BLOCK = re.compile(r"```(python|console)\n(.*?)```", re.DOTALL)
PICTURE = re.compile(r"!\[[^\]]+\]\(([^)]+)\)")

pytestmark = pytest.mark.django_db


def follow(name: str) -> str:
    """Run every block of a tutorial in this folder; return what the commands printed."""
    printed = StringIO()
    for kind, text in BLOCK.findall((DOCS / name).read_text(encoding="utf-8")):
        if kind == "python":
            subprocess.run([sys.executable, "-c", text], check=True)
            continue
        for line in text.splitlines():
            python, manage, *command = shlex.split(line)
            assert (python, manage) == ("python", "manage.py")
            call_command(*command, stdout=printed)
    return printed.getvalue()


def test_from_a_csv_to_a_certificate(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = follow("tutorial-certificate.md")
    assert "my-judge: REPLACE" in printed
    certificate = json.loads((tmp_path / "certificate.json").read_text())
    assert certificate["content"]["study"]["name"] == "Pilot"
    assert certificate["content"]["items"]["n"] == 260
    assert "report.pdf" in zipfile.ZipFile(tmp_path / "pilot.zip").namelist()


def test_every_picture_is_there():
    pictures = [DOCS / found for path in DOCS.glob("tutorial-*.md") for found in PICTURE.findall(path.read_text())]
    assert pictures
    assert [path for path in pictures if not path.exists()] == []
