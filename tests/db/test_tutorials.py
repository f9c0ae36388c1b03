"""The tutorials do what they say, from the first line to the last, in an empty folder."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from django.core.management import call_command

from tests.support.factories import ResearcherFactory
from tests.support.paths import ROOT

DOCS = ROOT / "docs"
BLOCK = re.compile(r"```(python|console)\n(.*?)```", re.DOTALL)
FILE = re.compile(r"# (\w+\.py)\n")
EXPORT = re.compile(r"export (\w+)=(.+)")
FIRST_LINE = re.compile(r"\$\((.+) \| head -1\)")
PICTURE = re.compile(r"!\[[^\]]+\]\(([^)]+)\)")

Follow = Callable[..., str]

pytestmark = [pytest.mark.django_db, pytest.mark.any_database, pytest.mark.long]


@pytest.fixture
def follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Follow:
    """Runs every block of a tutorial in an empty folder; returns what commands and cells printed.

    A block that begins with the name of a file is written there and run; other Python is a cell of a notebook.
    `instead` says what stands for what a reader would type otherwise.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def run(name: str, instead: Mapping[str, str] | None = None) -> str:
        text, printed, cells = (DOCS / name).read_text(encoding="utf-8"), StringIO(), {}
        for typed, meant in (instead or {}).items():
            assert typed in text
            text = text.replace(typed, meant)
        for kind, block in BLOCK.findall(text):
            if kind == "console":
                for line in block.replace("\\\n", " ").splitlines():
                    run_line(line, printed, monkeypatch)
            elif file := FILE.match(block):
                Path(file[1]).write_text(block, encoding="utf-8")
                subprocess.run([sys.executable, file[1]], check=True)
            else:
                with redirect_stdout(printed):
                    exec(compile(block, name, "exec"), cells)
        return printed.getvalue()

    return run


def run_line(line: str, printed: StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run `python manage.py …`, or `export NAME=VALUE` in which the first line of such a command may stand."""
    if exported := EXPORT.fullmatch(line):
        value = FIRST_LINE.sub(lambda found: manage(found[1]).splitlines()[0], exported[2])
        monkeypatch.setenv(exported[1], " ".join(shlex.split(value)))
    else:
        printed.write(manage(line))


def manage(line: str) -> str:
    python, file, *command = shlex.split(line)
    assert (python, file) == ("python", "manage.py")
    said = StringIO()
    call_command(*command, stdout=said)
    return said.getvalue()


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left to a worker is done at once."""

    def send(app: Celery, name: str, args: Any = (), kwargs: Any = None, **_: Any) -> None:
        app.loader.import_default_modules()
        app.tasks[name].apply(args, kwargs, throw=True)

    monkeypatch.setattr(Celery, "send_task", send)


def test_from_a_csv_to_a_certificate(follow, tmp_path):
    printed = follow("tutorial-certificate.md")
    assert "my-judge: REPLACE" in printed
    certificate = json.loads((tmp_path / "certificate.json").read_text())
    assert certificate["content"]["study"]["name"] == "Pilot"
    assert certificate["content"]["items"]["n"] == 260
    assert "report.pdf" in zipfile.ZipFile(tmp_path / "pilot.zip").namelist()


def test_from_profiles_to_the_tables_of_personalens(follow):
    printed = follow("tutorial-personalens.md")
    assert "created: 12 profiles, 3 tasks, 36 scenarios" in printed
    assert "144 of 144 dialogues ended" in printed
    careful, hasty = (re.findall(rf"^{name} +base\+I minus base .*", printed, re.M) for name in ("careful", "hasty"))
    assert " 3.00 n=36" in careful[0], "the most that personalization can gain"
    assert "0.00 n=36" in hasty[0]
    assert " 3.00 n=36" not in hasty[0]
    assert re.search(r"^ +personalization +baseline +0\.\d+ .* 40 +3 ", printed, re.M), "Table 5"


def test_from_votes_to_a_leaderboard(follow, tmp_path):
    printed = follow("tutorial-personafeedback.md")
    assert "no item can be medium" in printed
    assert re.search(r"^ +similar +persona profile +\d\.\d{3}", printed, re.M), "a row of the leaderboard"
    assert json.loads((tmp_path / "small-talk" / "benchmark.json").read_text())["name"] == "Small talk"
    assert re.search(r"^\d+ requests, .* price 0\.00 USD", printed, re.M), "the estimate from seeds"


@pytest.mark.usefixtures("worker")
def test_a_judge_in_a_notebook(follow, live_server, tmp_path):
    ResearcherFactory(username="rosa")
    printed = follow("tutorial-engineers.md", {"http://127.0.0.1:8000": live_server.url})
    assert "finished 196 {'nothing_to_measure': 4}" in printed
    assert "assist and escalate" in printed
    assert re.search("^not met - biases found: .*length", printed, re.M)
    assert json.loads((tmp_path / "certificate.json").read_text())["content"]["study"]["name"] == "Notebook"
    assert "Notebook" in (tmp_path / "report.html").read_text()
    assert (tmp_path / "labels.csv").read_text().startswith("study,")


def test_every_picture_is_there():
    pictures = [DOCS / found for path in DOCS.glob("tutorial-*.md") for found in PICTURE.findall(path.read_text())]
    assert pictures
    assert [path for path in pictures if not path.exists()] == []
