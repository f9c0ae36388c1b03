"""The commands that import material: counts as JSON, exit code 2 with file, line and field on stderr."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.corpus.models import Dialogue, Profile, Task
from tests.support.paths import ROOT

DEMO = ROOT / "fixtures" / "demo"
pytestmark = pytest.mark.django_db


def run(*arguments) -> dict:
    out = StringIO()
    call_command(*map(str, arguments), "--json", stdout=out)
    return json.loads(out.getvalue())


def test_the_demo_material():
    for kind, count in (("profiles", 10), ("tasks", 21), ("dialogues", 84)):
        document = run(f"import_{kind}", DEMO / f"{kind}.jsonl", "--source", "demo")
        assert document["created"] == {kind: count}
        assert document["skipped"] == []
    assert run("import_dialogues", DEMO / "dialogues.jsonl", "--source", "demo")["unchanged"] == {"dialogues": 84}
    assert {model.objects.filter(source="demo").count() for model in (Profile, Task, Dialogue)} == {10, 21, 84}
    assert not Dialogue.objects.filter(scenario__isnull=True).exists()


def test_for_a_person_the_counts_are_words():
    out = StringIO()
    call_command("import_tasks", str(DEMO / "tasks.jsonl"), stdout=out)
    assert out.getvalue() == "created: 21 tasks\n"


def test_bad_input_is_told_with_its_place(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text('{"id": "a"}\n')
    with pytest.raises(CommandError) as caught:
        run("import_dialogues", path)
    assert str(caught.value) == f"{path}, line 1, field turns: is missing"
    assert caught.value.returncode == 2


def test_skip_keeps_the_good_rest_and_names_the_file_of_the_bad(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"id": "a"}\n{"id": "b", "description": "d"}\n')
    document = run("import_tasks", path, "--on-error", "skip")
    assert document["created"] == {"tasks": 1}
    assert document["skipped"] == [{"file": str(path), "line": 1, "field": "description", "message": "is missing"}]
    assert Path(document["errors_file"]).read_text() != ""
    out = StringIO()
    call_command("import_tasks", str(path), "--on-error", "skip", stdout=out)
    assert f"skipped: 1 records, written to {path}.errors.jsonl" in out.getvalue()


@pytest.mark.any_database
@pytest.mark.long
def test_a_real_process_exits_with_2_and_keeps_stdout_clean(tmp_path):
    site = {"CONCORD_DATA_DIR": str(tmp_path / "data"), "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "config.settings"}
    manage = [sys.executable, str(ROOT / "manage.py")]
    process = subprocess.run(
        [*manage, "import_dialogues", str(tmp_path / "no such file.jsonl"), "--json"],
        env={**os.environ, **site},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 2
    assert process.stdout == ""
    assert process.stderr.strip() == f"CommandError: {tmp_path}/no such file.jsonl: does not exist"
