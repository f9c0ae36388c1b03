"""No file of a site can be read by other accounts of the machine, whatever the umask of who starts it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage

from config import data_folder
from config.checks import files_are_private
from tests.db.config.test_starting import ROOT, environment


def open_below(folder: Path) -> list[str]:
    return sorted(str(path) for path in (folder, *folder.rglob("*")) if data_folder.is_open(path))


def manage(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
        umask=0,
    )


WRITING = """
from pathlib import Path
from django.db import connection
from annotation.agreement.services import exports
connection.ensure_connection()
exports.write_pieces([b"label"], Path({!r}))
"""


@pytest.mark.long
def test_a_new_site_and_what_its_commands_write_are_closed(tmp_path):
    folder = tmp_path / "new" / "site"
    done = manage(folder, "shell", "-v0", "-c", WRITING.format(str(folder / "labels.csv")))
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.name for path in folder.iterdir()} == {
        "broker",
        "concord.sqlite3",
        "labels.csv",
        "locale",
        "secret_key",
    }
    assert open_below(tmp_path / "new") == []


@pytest.mark.long
def test_what_an_earlier_version_left_open_is_closed_and_the_folder_reported(tmp_path):
    for name in ("secret_key", "concord.sqlite3", "concord.sqlite3-wal", "backup-2026-11-22.zip", "logs/web.log"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
        path.chmod(0o644)
    (tmp_path / "logs").chmod(0o755)
    foreign = tmp_path / "thesis.tex"
    foreign.write_text("")
    foreign.chmod(0o644)
    tmp_path.chmod(0o755)

    done = manage(tmp_path, "disputes", "--study", "Pilot")

    assert f"chmod go= {tmp_path}" in done.stderr.replace("'", "")
    assert open_below(tmp_path) == sorted(map(str, (tmp_path, tmp_path / "logs" / "web.log", foreign)))
    assert not data_folder.is_open(tmp_path / "logs"), "nobody comes to the file in it"


def test_a_database_elsewhere_is_reported(settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir(mode=0o700)
    file = tmp_path / "site.sqlite3-wal"
    file.write_text("")
    file.chmod(0o640)
    used = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(tmp_path / "site.sqlite3")}
    monkeypatch.setitem(settings.DATABASES, "default", used)
    (found,) = files_are_private()
    assert str(file) in found.msg
    file.chmod(0o600)
    assert files_are_private() == []


def test_uploads_and_static_files_are_closed(tmp_path):
    FileSystemStorage(tmp_path / "uploads").save("a/file.txt", ContentFile(b"text"))
    assert open_below(tmp_path / "uploads") == []


@pytest.mark.parametrize("whole", [True, False])
def test_a_folder_that_is_concords_own_is_closed_as_a_whole(tmp_path, whole):
    tmp_path.chmod(0o755)
    data_folder.tighten(tmp_path, whole=whole)
    assert data_folder.is_open(tmp_path) is not whole


def test_what_a_link_leads_to_is_left_as_it_is(tmp_path):
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "data"
    for path in (elsewhere, folder):
        path.mkdir()
        path.chmod(0o755)
    (folder / "uploads").symlink_to(elsewhere)
    data_folder.tighten(folder, whole=False)
    assert data_folder.is_open(elsewhere)
