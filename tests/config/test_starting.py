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

ROOT = Path(__file__).resolve().parents[2]
LATER = ("altair", "anthropic", "bm25s", "openai", "redis", "sacrebleu", "scipy.special", "scipy.stats", "vl_convert")

EVERYTHING = f"""
import sys
import django
django.setup()
from django.core.management import load_command_class
command = load_command_class("judging", "judge")
command.check(tags=command.requires_system_checks)
print("config.urls" in sys.modules)
import config.celery, config.urls
print([name for name in {LATER!r} if name in sys.modules])
"""


def environment(folder: Path) -> dict[str, str]:
    """Of a process with the default settings, and data of its own."""
    of_concord = ("CONCORD_", "DATABASE_URL", "CELERY_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(of_concord)}
    return {**kept, "DJANGO_SETTINGS_MODULE": "config.settings", "CONCORD_DATA_DIR": str(folder)}


def test_a_command_loads_no_pages_and_pages_load_no_charts(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", EVERYTHING],
        cwd=ROOT,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("False\n[]\n", "")


def test_a_command_says_which_setting_is_bad_before_it_begins(settings):
    settings.WORKER_BEAT_SECONDS = settings.WORKER_GONE_SECONDS = 5.0
    with pytest.raises(SystemCheckError, match="CONCORD_WORKER_GONE_SECONDS"):
        call_command("study", "Pilot", "--kind", "pair", skip_checks=False)


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
