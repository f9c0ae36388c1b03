"""A backup restores everything, elsewhere too, and figures computed from it are the same to the byte."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from annotation.errors import InputError
from annotation.models import Act, Profile, Study
from annotation.queries import acts
from annotation.services import known, studies
from config.backups import reading, tables, writing
from tests.factories import ProfileFactory, ResearcherFactory, StudyFactory
from tests.guards import without_triggers
from tests.judging.helpers import dialogue_study, judged, scripted

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def backup(db, tmp_path) -> Path:
    study = dialogue_study(name="Pilot")
    ProfileFactory(extra={"nested": [1, {"ü": None}]}, persona="مرحبا <b>")
    judged(study, scripted())
    path = tmp_path / "site.zip"
    writing.write(path)
    return path


def emptied() -> None:
    with connection.constraint_checks_disabled(), without_triggers():
        for model in tables.models_kept():
            model._base_manager.all()._raw_delete(using="default")


def content() -> dict[str, list[str]]:
    return {model._meta.label: list(tables.rows(model)) for model in tables.models_kept()}


def test_the_log_of_acts_comes_back_as_it_was_and_goes_on(db, tmp_path):
    made = studies.create(by=ResearcherFactory(), name="Größe", kind="pair", criteria=["preference"])
    known.set_rules(by=None, study=made, pass_mark=0.1)
    before = list(Act.objects.order_by("number").values())
    path = tmp_path / "site.zip"
    writing.write(path)
    emptied()
    reading.restore(path)
    assert list(Act.objects.order_by("number").values()[:2]) == before
    restored = Act.objects.get(number=3)
    assert (restored.verb, restored.asked["acts"]) == ("site.restore", 2)
    known.set_rules(by=None, study=Study.objects.get(), pass_mark=0.2)
    assert (acts.head()[0], acts.broken()) == (4, None)


def with_later_migration(manifest: bytes) -> str:
    found = json.loads(manifest)
    return json.dumps({**found, "migrations": [*found["migrations"], "annotation.9999_later"]})


class TestRoundTrip:
    def test_every_row_of_every_table_comes_back(self, backup):
        before = content()
        assert sum(map(len, before.values())) > 30
        emptied()
        manifest = reading.restore(backup)
        assert content() == {**before, "annotation.Act": [*before["annotation.Act"], content()["annotation.Act"][-1]]}
        assert {label: table["rows"] for label, table in manifest["tables"].items() if table["rows"]} == {
            label: len(rows) for label, rows in before.items() if rows
        }

    def test_new_rows_get_free_numbers(self, backup):
        highest = max(Profile.objects.values_list("pk", flat=True))
        emptied()
        reading.restore(backup)
        assert ProfileFactory().pk > highest

    def test_moments_keep_their_microseconds(self, backup):
        study = Study.objects.get(name="Pilot")
        made = study.created_at
        emptied()
        reading.restore(backup)
        assert Study.objects.get(name="Pilot").created_at == made


class TestWhatIsRefused:
    def test_a_site_that_is_not_empty(self, backup):
        with pytest.raises(InputError, match="not empty"):
            reading.restore(backup)

    @pytest.mark.parametrize(
        ("member", "change", "says"),
        [
            ("annotation.Study.jsonl", lambda text: text.replace(b"Pilot", b"Other"), "SHA-256"),
            ("annotation.Study.jsonl", lambda text: b"{}\n", "is not a row of"),
            ("manifest.json", lambda text: b"[]", "holds no manifest"),
            ("manifest.json", lambda text: text.replace(b'"form": 1', b'"form": 9'), "form 9"),
            ("manifest.json", lambda text: with_later_migration(text), "then upgrade"),
        ],
    )
    def test_a_changed_file_leaves_nothing_behind(self, backup, tmp_path, member, change, says):
        changed = tmp_path / "changed.zip"
        with zipfile.ZipFile(backup) as old, zipfile.ZipFile(changed, "w") as new:
            for name in old.namelist():
                text = old.read(name)
                new.writestr(name, change(text) if name == member else text)
        emptied()
        with pytest.raises(InputError, match=says):
            reading.restore(changed)
        assert not Study.objects.exists()

    def test_something_else_and_a_cut_file(self, db, backup, tmp_path):
        other = tmp_path / "notes.txt"
        other.write_text("not a zip")
        cut = tmp_path / "cut.zip"
        cut.write_bytes(backup.read_bytes()[:-200])
        for path in (other, cut, tmp_path / "nothing.zip"):
            with pytest.raises(InputError, match="cannot be read as a backup"):
                reading.restore(path)

    def test_a_folder_that_cannot_be_written_leaves_no_half_file(self, db, tmp_path):
        StudyFactory()
        with pytest.raises(CommandError, match="cannot be written"):
            call_command("backup", output=tmp_path / "no" / "such.zip")
        assert list(tmp_path.iterdir()) == []


REPORTING = """
from pathlib import Path
from django.core.management import call_command


def report(path):
    with Path(path).open("w") as file:
        call_command("agreement", "--study", "Demo dialogues", "--json", "--bootstrap", "200", stdout=file)


"""


def managed(folder: Path, commands: str) -> None:
    """Calls commands on a site of its own, all in one process: starting one takes longer than most of them."""
    environment = {**os.environ, "CONCORD_DATA_DIR": str(folder), "DATABASE_URL": "", "CELERY_BROKER_URL": ""}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "-v0", "-c", f"{REPORTING}{commands}"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_the_agreement_report_of_a_restored_site_is_the_same_to_the_byte(tmp_path, with_demo, migrated):
    first, second, file = tmp_path / "first", tmp_path / "second", str(tmp_path / "site.zip")
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    with_demo(first)
    migrated(second)
    managed(first, f"report({str(before)!r}); call_command('backup', '-o', {file!r})")
    managed(second, f"call_command('restore', {file!r}); report({str(after)!r})")
    assert b'"fleiss_kappa"' in before.read_bytes()
    assert after.read_bytes() == before.read_bytes()
