"""Commands, workers and web processes start without what only some of their work needs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError

import manage
from config.checks import data_folder_is_writable
from tests.support.paths import ROOT

LATER = (
    *("altair", "anthropic", "bm25s", "krippendorff", "openai", "redis", "sklearn", "vl_convert"),
    *("pyarrow", "scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats", "statsmodels"),
)

EVERYTHING = f"""
import sys
import django
django.setup()
print([name for name in ("numpy", "rapidfuzz", "scipy") if name in sys.modules])
from django.core.management import load_command_class
command = load_command_class("judging", "judge")
command.check(tags=command.requires_system_checks)
print("config.urls" in sys.modules)
import config.celery, config.urls
print([name for name in {LATER!r} if name in sys.modules])
from threadpoolctl import threadpool_info
print({{library["num_threads"] for library in threadpool_info()}})
"""


def environment(folder: Path) -> dict[str, str]:
    """Of a process with the default settings, and data of its own."""
    of_concord = ("CONCORD_", "DATABASE_URL", "CELERY_", "OPENBLAS_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(of_concord)}
    return {**kept, "DJANGO_SETTINGS_MODULE": "config.settings", "CONCORD_DATA_DIR": str(folder)}


@pytest.mark.long
def test_setting_up_loads_no_arrays_a_command_no_pages_pages_no_charts_and_a_matrix_product_takes_one_thread(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", EVERYTHING],
        cwd=ROOT,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("[]\nFalse\n[]\n{1}\n", "")


def test_a_command_says_which_setting_is_bad_before_it_begins(settings):
    settings.WORKER_BEAT_SECONDS = settings.WORKER_GONE_SECONDS = 5.0
    with pytest.raises(SystemCheckError, match="CONCORD_WORKER_GONE_SECONDS"):
        call_command("study", "Pilot", "--kind", "pair", skip_checks=False)


@pytest.mark.long
def test_a_command_before_migrate_says_what_to_do(tmp_path):
    done = subprocess.run(
        [sys.executable, "manage.py", "disputes", "--study", "Pilot"],
        cwd=ROOT,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert re.fullmatch(r"CommandError: \d+ migrations are not applied: run manage.py migrate.\n", done.stderr)


def test_a_data_folder_that_is_not_there_or_read_only_is_an_error(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    assert data_folder_is_writable() == []
    settings.DATA_DIR = tmp_path / "gone"
    assert [found.id for found in data_folder_is_writable()] == ["concord.E001"]


@pytest.mark.long
def test_a_data_folder_that_cannot_be_made_is_said_in_a_sentence(tmp_path):
    """Settings make the folder before there is a check that could look at it."""
    (tmp_path / "file").touch()
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env=environment(tmp_path / "file" / "data"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.strip() == (
        f"ImproperlyConfigured: The data folder {tmp_path}/file/data cannot be written: Not a directory. "
        "Set CONCORD_DATA_DIR to a folder that this user may write, on a disk that has room."
    )


def test_ctrl_c_ends_a_command_with_a_word(monkeypatch, capsys):
    def interrupt(_: list[str]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("django.core.management.execute_from_command_line", interrupt)
    with pytest.raises(SystemExit) as ended:
        manage.main()
    assert (ended.value.code, capsys.readouterr().err) == (130, "Interrupted.\n")
