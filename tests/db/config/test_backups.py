"""A backup restores everything, elsewhere too, and figures computed from it are the same to the byte."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zipfile
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from annotation.corpus import services
from annotation.corpus.models import Profile
from annotation.quality.services import gold_questions
from annotation.studies.models.studies import Study
from annotation.studies.services import studies
from config.backups import encryption, reading, writing
from core.audit import queries as audit_queries
from core.audit.models import Act
from core.errors import InputError
from tests.support.backed_up import empty_tables, read_tables
from tests.support.factories import DialogueFactory, ProfileFactory, ResearcherFactory, StudyFactory
from tests.support.full_disk import full_database, full_disk
from tests.support.judging import dialogue_study, judged, scripted
from tests.support.media import png
from tests.support.paths import ROOT


@pytest.fixture
def backup(db, tmp_path) -> Path:
    study = dialogue_study(name="Pilot")
    ProfileFactory(extra={"nested": [1, {"ü": None}]}, persona="مرحبا <b>")
    judged(study, scripted())
    path = tmp_path / "site.zip"
    writing.write(path, key=None)
    return path


def test_the_log_of_acts_comes_back_as_it_was_and_goes_on(db, tmp_path):
    made = studies.create(by=ResearcherFactory(), name="Größe", kind="pair", criteria=["preference"])
    gold_questions.set_rules(by=None, study=made, pass_mark=0.1)
    before = list(Act.objects.order_by("number").values())
    path = tmp_path / "site.zip"
    writing.write(path, key=None)
    empty_tables()
    reading.restore(path)
    assert list(Act.objects.order_by("number").values()[:2]) == before
    restored = Act.objects.get(number=3)
    assert (restored.verb, restored.parsed_arguments["acts"]) == ("site.restore", 2)
    gold_questions.set_rules(by=None, study=Study.objects.get(), pass_mark=0.2)
    assert (audit_queries.head()[0], audit_queries.find_break()) == (4, None)


def with_later_migration(manifest: bytes) -> str:
    found = json.loads(manifest)
    return json.dumps({**found, "migrations": [*found["migrations"], "annotation.9999_later"]})


class TestRoundTrip:
    def test_every_row_of_every_table_comes_back(self, backup):
        before = read_tables()
        assert sum(map(len, before.values())) > 30
        empty_tables()
        manifest = reading.restore(backup)
        assert read_tables() == before
        rows_of = {label: table["rows"] for label, table in manifest["tables"].items() if label in before}
        assert rows_of == {label: len(rows) for label, rows in before.items()}

    def test_new_rows_get_free_numbers(self, backup):
        highest = max(Profile.objects.values_list("pk", flat=True))
        empty_tables()
        reading.restore(backup)
        assert ProfileFactory().pk > highest

    def test_moments_keep_their_microseconds(self, backup):
        study = Study.objects.get(name="Pilot")
        made = study.created_at
        empty_tables()
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
            ("annotation.Study.jsonl", lambda text: b"[" * 100_000, "is not a row of"),
            ("manifest.json", lambda text: b"[]", "holds no manifest"),
            ("manifest.json", lambda text: b"[" * 100_000, "holds no manifest"),
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
        empty_tables()
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

    @pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite can be told how large it may be")
    def test_a_full_disk_of_the_database_keeps_nothing(self, transactional_db, tmp_path):
        path = tmp_path / "site.zip"
        DialogueFactory(turns=noise())
        writing.write(path, key=None)
        empty_tables()
        with full_database(), pytest.raises(InputError, match=r"nothing was restored, .* disk is full"):
            reading.restore(path)
        assert sum(map(len, read_tables().values())) == 0

    def test_a_folder_that_cannot_be_written_leaves_no_half_file(self, db, tmp_path):
        StudyFactory()
        with pytest.raises(CommandError, match="cannot be written"):
            call_command("backup", output=tmp_path / "no" / "such.zip")
        assert list(tmp_path.iterdir()) == []


class TestEncryption:
    def test_a_backup_is_encrypted_and_restores(self, backup, tmp_path):
        before, path = read_tables(), tmp_path / "site.backup"
        call_command("backup", output=path, verbosity=0)
        assert not zipfile.is_zipfile(path)
        assert path.stat().st_mode & 0o777 == 0o600
        empty_tables()
        call_command("restore", path)
        assert read_tables() == before

    def test_without_a_key_it_says_what_it_needs(self, db, settings, tmp_path):
        settings.BACKUP_KEYS = []
        with pytest.raises(CommandError, match=r"CONCORD_BACKUP_KEY is not set.*--new-key.*--unencrypted") as error:
            call_command("backup", output=tmp_path / "site.backup")
        assert error.value.returncode == 2
        assert list(tmp_path.iterdir()) == []

    def test_an_unencrypted_one_says_that_it_is(self, db, settings, tmp_path, capsys):
        settings.BACKUP_KEYS = []
        call_command("backup", "-o", str(tmp_path / "site.zip"), "--unencrypted")
        assert "NOT encrypted: it holds password hashes" in capsys.readouterr().out
        assert zipfile.is_zipfile(tmp_path / "site.zip")

    def test_a_stream_is_refused(self, db):
        with pytest.raises(CommandError, match="written to a file, not to standard output"):
            call_command("backup", "-o", "-", "--unencrypted")

    def test_a_new_key_is_printed_and_nothing_else(self, settings, capsys):
        call_command("backup", "--new-key")
        settings.BACKUP_KEYS = [capsys.readouterr().out.strip()]
        assert len(encryption.keys()) == 1

    @pytest.mark.parametrize(
        ("keys", "damage", "says"),
        [
            ([], lambda whole: whole, "it is encrypted: set CONCORD_BACKUP_KEY to the key that it was made with"),
            ([encryption.new_key()], lambda whole: whole, "it was encrypted with another key than those in"),
            (["password"], lambda whole: whole, "CONCORD_BACKUP_KEY is not a key"),
            (None, lambda whole: whole[:-1000], "was changed, moved or cut"),
            (None, lambda whole: b"Concord", "not a zip file"),
            (None, lambda whole: b"", "not a zip file"),
        ],
    )
    def test_what_cannot_be_opened_does_not_touch_the_site(
        self, db, settings, tmp_path, keys, damage, says, django_assert_num_queries
    ):
        path = tmp_path / "site.backup"
        call_command("backup", output=path, verbosity=0)
        path.write_bytes(damage(path.read_bytes()))
        if keys is not None:
            settings.BACKUP_KEYS = keys
        with django_assert_num_queries(0), pytest.raises(CommandError, match=says) as error:
            call_command("restore", path)
        assert error.value.returncode == 2

    def test_a_chunk_that_was_changed_in_the_middle_leaves_nothing_behind(self, db, tmp_path):
        path = tmp_path / "site.backup"
        DialogueFactory(turns=noise())
        call_command("backup", output=path, verbosity=0)
        whole = bytearray(path.read_bytes())
        assert len(whole) > encryption.HEADER + 3 * (encryption.CHUNK + encryption.TAG)
        whole[encryption.HEADER + encryption.CHUNK + encryption.TAG] ^= 1
        path.write_bytes(whole)
        empty_tables()
        with pytest.raises(CommandError, match=r"part 2 of .* was changed, moved or cut"):
            call_command("restore", path)
        assert sum(map(len, read_tables().values())) == 0


def noise() -> list[dict[str, str]]:
    """Turns that compress little."""
    return [{"role": "user", "content": os.urandom(300_000).hex()}]


class TestFolder:
    def test_the_newest_and_the_young_stay_and_other_files_are_not_touched(self, db, tmp_path):
        now = datetime.now(UTC)
        names = {days: f"concord-{now - timedelta(days=days):%Y%m%dT%H%M%SZ}.backup" for days in (1, 2, 3, 40)}
        others = ("notes.txt", "concord-20200101T000000Z.backup.old", "site.backup")
        for name in (*names.values(), *others):
            (tmp_path / name).touch()
        call_command("backup", folder=tmp_path, keep=3, keep_days=30, verbosity=0)
        left = {path.name for path in tmp_path.iterdir()}
        assert left > {names[1], names[2], *others}
        assert not left & {names[3], names[40]}
        assert len(left) == 3 + len(others)

    def test_the_newest_one_always_stays(self, tmp_path):
        for name in ("concord-20200101T000000Z.zip", "concord-20200102T000000Z.backup"):
            (tmp_path / name).touch()
        assert writing.prune(tmp_path, keep=None, days=1) == [tmp_path / "concord-20200101T000000Z.zip"]
        assert writing.prune(tmp_path, keep=None, days=1) == []

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({"output": Path("site.backup"), "keep": 3}, "need --folder"),
            ({"folder": Path(), "keep": 0}, "1 or more"),
            ({"folder": Path(), "keep_days": -1}, "1 or more"),
        ],
    )
    def test_limits_that_make_no_sense(self, options, says, django_assert_num_queries):
        with pytest.raises(CommandError, match=says):
            call_command("backup", **options)

    def test_a_folder_that_is_not_there_is_not_made(self, db, tmp_path):
        """It may be a disk that is not mounted."""
        with pytest.raises(CommandError, match="cannot be written: No such file or directory"):
            call_command("backup", folder=tmp_path / "mnt")
        assert list(tmp_path.iterdir()) == []

    def test_a_full_disk_leaves_the_older_backups_and_no_part(self, db, tmp_path):
        old = tmp_path / "concord-20200101T000000Z.backup"
        old.touch()
        DialogueFactory(turns=noise())
        with full_disk(), pytest.raises(CommandError, match="cannot be written: File too large") as error:
            call_command("backup", folder=tmp_path, keep=1)
        assert error.value.returncode == 2
        assert list(tmp_path.iterdir()) == [old]


KILLED = """
import os, signal
from pathlib import Path
from config.backups import writing

def tell(label, rows):
    if label == "judging.Judge":
        os.kill(os.getpid(), signal.SIGKILL)

writing.write(Path({!r}), key=bytes(32), tell=tell)
"""


@pytest.mark.long
def test_a_kill_in_the_middle_leaves_nothing_that_looks_whole_and_the_next_run_tidies_up(db, tmp_path, with_demo):
    where = tmp_path / "backups"
    where.mkdir()
    with_demo(tmp_path / "site")
    path = where / "concord-20261122T031000Z.backup"
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "-v0", "-c", KILLED.format(str(path))],
        cwd=ROOT,
        env=site_environment(tmp_path / "site"),
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    (part,) = where.iterdir()
    assert writing.backups(where) == []
    assert part.stat().st_size > 0
    call_command("backup", folder=where, verbosity=0)
    ((_, whole),) = writing.backups(where)
    assert list(where.iterdir()) == [whole]


def site_environment(data: Path) -> dict[str, str]:
    environment = {**os.environ, "CONCORD_DATA_DIR": str(data), "DATABASE_URL": "", "CELERY_BROKER_URL": ""}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    return environment


def documented_drill() -> str:
    """The commands under *Restore drill* in docs/deploy.md."""
    text = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    return text.split("### Restore drill")[1].split("```")[1]


@pytest.mark.long
def test_the_documented_restore_drill_finds_the_same_agreement_to_the_byte(tmp_path, with_demo, migrated):
    site, drill, backups = tmp_path / "site", tmp_path / "drill", tmp_path / "backups"
    backups.mkdir()
    with_demo(site)
    migrated(drill / "site")  # it is empty, and need not be made by `restore`
    commands = documented_drill()
    for theirs, ours in (
        ("set -a; . /etc/concord.env; set +a\n", ""),
        ('BACKUPS=/var/lib/concord-backups; STUDY="My study"', f'BACKUPS="{backups}"; STUDY="Demo dialogues"'),
        ("DRILL=$(mktemp -d)", f'DRILL="{drill}"'),
        ("trap 'rm -r \"$DRILL\"' EXIT\n", ""),  # the reports are looked at below
        (".venv/bin/python", f'"{sys.executable}"'),
    ):
        assert theirs in commands
        commands = commands.replace(theirs, ours)
    environment = site_environment(site) | {"CONCORD_AUDIT_HEADS": str(tmp_path / "heads")}
    manage = partial(subprocess.run, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=280)
    erased = manage([sys.executable, "manage.py", "erase", "ben", "--do"])
    assert erased.returncode == 0, erased.stderr
    done = manage(["sh", "-c", commands])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("The backup is good.\n")
    checked = manage([sys.executable, "manage.py", "check_invariants"])
    assert checked.returncode == 0, "the drill left the site's own log as it was"
    before, after = (drill / "before.json").read_bytes(), (drill / "after.json").read_bytes()
    assert b'"fleiss_kappa"' in before
    assert after == before
    ((_, path),) = writing.backups(backups)
    assert path.read_bytes().startswith(encryption.MAGIC)


class TestAttachments:
    @pytest.fixture
    def stored(self, db, settings, tmp_path) -> str:
        settings.ATTACHMENTS = tmp_path / "attachments"
        return services.store_attachment(png(), name="a.png").sha256

    def test_their_bytes_come_back(self, stored, tmp_path):
        manifest = writing.write(tmp_path / "site.zip", key=None)
        assert manifest["attachments"] == {"written": 1, "lost": 0}
        services.locate(stored).unlink()
        empty_tables()
        reading.restore(tmp_path / "site.zip")
        assert services.locate(stored).read_bytes() == png()

    def test_a_lost_one_is_told_and_does_not_stop_a_backup(self, stored, tmp_path):
        services.locate(stored).unlink()
        assert writing.write(tmp_path / "site.zip", key=None)["attachments"] == {"written": 0, "lost": 1}
        empty_tables()
        reading.restore(tmp_path / "site.zip")

    def test_changed_bytes_are_refused(self, stored, tmp_path):
        services.locate(stored).write_bytes(png(9))
        writing.write(tmp_path / "site.zip", key=None)
        empty_tables()
        with pytest.raises(InputError, match="was changed or cut"):
            reading.restore(tmp_path / "site.zip")


def test_a_folder_is_no_backup_and_no_archive(db, tmp_path):
    for command, what in (("restore", "a backup"), ("restore_study", "an archive")):
        with pytest.raises(CommandError) as refused:
            call_command(command, str(tmp_path))
        assert str(refused.value) == f"{tmp_path}: cannot be read as {what}: Is a directory"
