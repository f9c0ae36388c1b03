"""The audit log is not rewritten unnoticed, by whoever may write to the database and knows the code."""

from __future__ import annotations

import hashlib
import hmac
import importlib
import json
import logging
import os
import socket
from collections.abc import Callable
from logging.handlers import SysLogHandler
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.checks import run_checks
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

from annotation.studies.services import studies
from config import invariants
from config.backups import reading, writing
from config.logs import build_logging, to_syslog
from config.management.commands import check_invariants
from core.audit import heads, log as acts, queries, triggers
from core.audit.heads import read_heads
from core.audit.models import BEGINNING, Act
from tests.support.backed_up import empty_tables
from tests.support.guards import build_drop_statements, run

CHAIN = "Every event of the audit log follows the one before it, unchanged."
TRIGGERS = "The triggers that protect the audit log are there and work."
OF_ROWS = "The triggers that keep rules and revocations as they were written are there and work."
HEADS = "Every event that was recorded outside the database is in the audit log."


@pytest.fixture
def second_place(settings, tmp_path: Path) -> Path:
    settings.AUDIT_HEADS = tmp_path / "heads"
    return Path(settings.AUDIT_HEADS)


@pytest.fixture
def log(db: None, second_place: Path, django_capture_on_commit_callbacks) -> list[Act]:
    """Four acts, each committed by itself."""
    for number in range(4):
        with django_capture_on_commit_callbacks(execute=True):
            studies.create(by=None, name=f"Study {number}", kind="pair", criteria=["preference"])
    return list(Act.objects.order_by("number"))


def found() -> dict[str, tuple[str, ...]]:
    return {one.invariant: one.examples for one in invariants.findings()}


def rewrite(first: int, *, key_id: str = "") -> None:
    """What somebody does who has the database and the code, and not the key: all digests anew, from one act on."""
    previous = Act.objects.get(number=first).previous
    for row in Act.objects.filter(number__gte=first).order_by("number"):
        row.previous, row.digest_key_id = previous, ""
        row.digest = previous = row.compute_digest()
        row.digest_key_id = key_id
        row.save()


class TestKeyedDigests:
    def test_a_log_as_it_should_be(self, log: list[Act]):
        assert queries.find_break() is None
        assert found() == {}
        assert {row.digest_key_id for row in log} == {heads.current_key_id()}

    def test_the_digest_is_an_hmac_over_every_column(self, log: list[Act]):
        row = log[1]
        content = [
            *(row.previous, 2, row.at.isoformat(), None, "", "study.create", "study", row.key, "study-1", row.study_id),
            *(row.project_id, "other", row.request_id, row.arguments, row.outcome, row.digest_key_id),
        ]
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
        key = heads.derive_key("tests-only")
        assert row.digest == hmac.new(key, text, hashlib.sha256).hexdigest()

    @pytest.mark.parametrize("keeps_the_key_id", [False, True])
    def test_digests_computed_anew_without_the_key_are_found(self, unguarded, log, keeps_the_key_id: bool):
        Act.objects.filter(number=2).update(name="another")
        rewrite(2, key_id=log[1].digest_key_id if keeps_the_key_id else "")
        why = "event 2 was changed" if keeps_the_key_id else "event 2 has a digest without a key"
        assert found()[CHAIN][0].startswith(why)

    def test_nor_may_all_of_the_log_lose_its_key(self, unguarded, log: list[Act]):
        rewrite(1)
        assert found()[CHAIN] == (queries.NO_KEY,)

    def test_a_new_key_signs_and_the_old_one_still_checks(self, log: list[Act], settings):
        settings.AUDIT_SECRETS = ["new", *settings.AUDIT_SECRETS]
        acts.record("test.act", by=None)
        assert Act.objects.get(number=5).digest_key_id != log[0].digest_key_id
        assert queries.find_break() is None

    def test_without_its_secret_a_digest_cannot_be_checked_and_this_is_said(self, log: list[Act], settings):
        settings.AUDIT_SECRETS = ["another site's"]
        assert "event 1 cannot be checked" in found()[CHAIN][0]
        assert log[0].digest_key_id in found()[CHAIN][0]
        assert "CONCORD_AUDIT_KEY" in found()[CHAIN][0]

    def test_the_key_does_not_follow_from_its_id(self):
        assert heads.name_key("a") != heads.name_key("b")
        assert len(heads.name_key("a")) == heads.ID_LENGTH
        assert heads.name_key("a") not in heads.derive_key("a").hex()


class TestOlderSites:
    """Their acts have a SHA-256 without a key; the migration puts a keyed act behind them."""

    migration = importlib.import_module("annotation.migrations.0022_keyed_acts")

    @pytest.fixture
    def older(self, unguarded: None, log: list[Act]) -> None:
        rewrite(1)

    def migrate(self) -> None:
        apps = SimpleNamespace(get_model=lambda *_: Act)
        self.migration.begin(apps, SimpleNamespace(connection=connection))

    def test_they_stay_as_they_are_and_hold(self, older: None):
        before = list(Act.objects.order_by("number").values())
        self.migrate()
        assert list(Act.objects.order_by("number").values())[:4] == before
        mark = Act.objects.get(number=5)
        assert (mark.verb, mark.previous) == ("log.key", before[-1]["digest"])
        assert queries.find_break() is None
        assert TRIGGERS not in found()

    def test_from_then_on_they_cannot_be_rewritten(self, older: None):
        self.migrate()
        run(build_drop_statements(connection.vendor))
        Act.objects.filter(number=1).update(name="another")
        rewrite(1)
        assert found()[CHAIN] == (queries.NO_KEY,)

    def test_an_empty_log_needs_no_mark(self, db: None):
        self.migrate()
        assert not Act.objects.exists()


class TestTriggers:
    @pytest.mark.parametrize("name", [*triggers.SQLITE])
    def test_each_is_missed(self, log: list[Act], name: str):
        if name not in (triggers.SQLITE if connection.vendor == "sqlite" else triggers.POSTGRESQL):
            pytest.skip("this database has another one")
        on = "" if connection.vendor == "sqlite" else " ON annotation_act"
        run([f"DROP TRIGGER {name}{on}"])
        assert found() == {TRIGGERS: (name,)}

    def test_one_that_does_nothing_is_missed(self, log: list[Act]):
        if connection.vendor == "sqlite":
            idle = "CREATE TRIGGER act_not_changed BEFORE UPDATE ON annotation_act BEGIN SELECT 1; END"
            run(["DROP TRIGGER act_not_changed", idle])
            assert found() == {TRIGGERS: ("act_not_changed",)}
        else:
            function = "CREATE OR REPLACE FUNCTION annotation_act_refuse() RETURNS trigger LANGUAGE plpgsql AS "
            run([f"{function} $$BEGIN RETURN NEW; END$$"])
            assert found() == {TRIGGERS: tuple(triggers.POSTGRESQL)}

    @pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite's triggers cannot be switched off")
    @pytest.mark.parametrize("name", [*triggers.POSTGRESQL])
    def test_one_that_is_switched_off_is_missed(self, log: list[Act], name: str):
        run([f"ALTER TABLE annotation_act DISABLE TRIGGER {name}"])
        assert found() == {TRIGGERS: (name,)}

    @pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has no such condition on the others")
    def test_one_with_a_condition_is_missed(self, log: list[Act]):
        on = "BEFORE UPDATE OR DELETE ON annotation_act FOR EACH ROW WHEN (false)"
        anew = f"CREATE TRIGGER act_not_changed {on} EXECUTE FUNCTION annotation_act_refuse()"
        run(["DROP TRIGGER act_not_changed ON annotation_act", anew])
        assert found() == {TRIGGERS: ("act_not_changed",)}


class TestSecondPlace:
    def test_each_commit_writes_the_newest_act_down(self, log: list[Act], second_place: Path):
        assert [(one.number, one.digest, one.at) for one in read_heads()] == [
            (row.number, row.digest, row.at) for row in log
        ]
        file = next(second_place.iterdir())
        assert file.name == f"heads-{socket.gethostname()}-{os.getuid()}.log"
        assert file.stat().st_mode & 0o777 == 0o600

    def test_what_is_rolled_back_is_not_written_down(self, log, second_place, django_capture_on_commit_callbacks):
        with django_capture_on_commit_callbacks(execute=True) as callbacks, transaction.atomic():
            acts.record("test.act", by=None)
            transaction.set_rollback(True)
        assert callbacks == []

    def test_a_log_whose_end_was_cut_off(self, unguarded: None, log: list[Act]):
        Act.objects.filter(number__gt=2).delete()
        said = found()
        assert list(said) == [TRIGGERS, HEADS, OF_ROWS]
        assert said[HEADS][0].startswith(f"the log ends with event 2, but heads-{socket.gethostname()}-")
        assert "event 4" in said[HEADS][0]

    def test_a_log_that_was_emptied(self, unguarded: None, log: list[Act]):
        Act.objects.all().delete()
        assert "the log ends with event 0" in found()[HEADS][0]

    def test_a_log_rewritten_with_the_key(self, unguarded: None, log: list[Act]):
        """By somebody who has it: the chain holds, and the second place knows better."""
        Act.objects.filter(number=3).update(name="another")
        previous = log[1].digest
        for row in Act.objects.filter(number__gte=3).order_by("number"):
            row.previous = previous
            row.digest = previous = row.compute_digest()
            row.save()
        said = found()
        assert CHAIN not in said
        assert said[HEADS][0].startswith("event 3 is not the one that heads-")
        assert "rewritten" in said[HEADS][0]

    def test_every_host_has_a_file_and_each_is_compared(self, log, second_place: Path, tmp_path: Path):
        """Each knows only what it wrote itself, in its own order."""
        own = next(second_place.iterdir())
        lines = own.read_text().splitlines()
        own.write_text(f"{lines[2]}\n{lines[0]}\n")
        (second_place / "heads-other.log").write_text(f"{lines[3]}\n{lines[1]}\n")
        assert found() == {}
        (second_place / "heads-other.log").write_text(lines[3].replace("act 4", "act 9") + "\n")
        assert "heads-other.log recorded event 9" in found()[HEADS][0]

    def test_lines_of_a_syslog_are_compared_too(self, log: list[Act], tmp_path: Path, capsys):
        line = f"Nov 23 04:00:00 web1 concord[7]: act 9 {'a' * 64} at 2026-11-23T04:00:00.5+00:00"
        file = tmp_path / "syslog"
        file.write_text(f"something else\n{line}\n")
        with pytest.raises(SystemExit):
            call_command("check_invariants", "--heads", str(file), "--json")
        said = json.loads(capsys.readouterr().out)["findings"]
        assert [one["invariant"] for one in said] == [HEADS]
        assert "syslog recorded event 9" in said[0]["examples"][0]
        with pytest.raises(CommandError, match="cannot be read"):
            call_command("check_invariants", "--heads", str(tmp_path / "none"))

    def test_a_second_place_that_cannot_be_written_does_not_undo_the_act(
        self, log, settings, tmp_path, caplog, django_capture_on_commit_callbacks
    ):
        (tmp_path / "file").write_text("no folder")
        settings.AUDIT_HEADS = tmp_path / "file"
        with django_capture_on_commit_callbacks(execute=True):
            acts.record("test.act", by=None)
        assert Act.objects.filter(number=5).exists()
        assert "Error calling append_to_chain.<locals>.write_newest_head" in caplog.text
        assert "concord.E006" in [one.id for one in run_checks(tags=["settings"])]

    def test_it_goes_to_a_syslog_as_well(self, db: None, second_place, django_capture_on_commit_callbacks):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
            server.bind(("127.0.0.1", 0))
            server.settimeout(20)
            made = build_logging("line", "INFO", f"127.0.0.1:{server.getsockname()[1]}")
            assert made["loggers"]["concord.audit_heads"] == {
                "handlers": ["audit_syslog"],
                "level": "INFO",
                "propagate": False,
            }
            handler = SysLogHandler(address=made["handlers"]["audit_syslog"]["address"])
            logger = logging.getLogger("concord.audit_heads")
            logger.addHandler(handler)
            try:
                with django_capture_on_commit_callbacks(execute=True):
                    acts.record("test.act", by=None)
                assert queries.head()[1].encode() in server.recv(1000)
            finally:
                logger.removeHandler(handler)
                handler.close()
        assert to_syslog("/dev/log")["address"] == "/dev/log"


class TestRestore:
    @pytest.fixture
    def restored(self, log, tmp_path: Path, django_capture_on_commit_callbacks) -> None:
        """A backup of four acts; two more are done after it, and then it is restored."""
        file = tmp_path / "site.zip"
        writing.write(file, key=None)
        for number in range(2):
            with django_capture_on_commit_callbacks(execute=True):
                studies.create(by=None, name=f"Later {number}", kind="pair", criteria=["preference"])
        empty_tables()
        with django_capture_on_commit_callbacks(execute=True):
            reading.restore(file)

    def test_an_older_backup_is_said_and_no_fault(self, restored: None, capsys):
        assert found() == {}
        call_command("check_invariants")
        said = capsys.readouterr().out
        assert "NOTE The site was restored at " in said
        assert "whose log ended with event 4" in said
        assert "up to 6, are not in the log" in said

    def test_what_it_does_not_explain_is_a_fault(self, restored: None, second_place: Path):
        """An act that was written down and stood before the end of the backup."""
        file = next(second_place.iterdir())
        lines = file.read_text().splitlines()
        file.write_text("\n".join([lines[1].replace(lines[1].split()[2], "a" * 64), *lines[2:]]) + "\n")
        assert found()[HEADS][0].startswith("event 2 is not the one")

    def test_nor_what_is_cut_off_after_it(self, restored: None, unguarded: None, django_capture_on_commit_callbacks):
        with django_capture_on_commit_callbacks(execute=True):
            acts.record("test.act", by=None)
        Act.objects.filter(number=6).delete()
        assert found()[HEADS][0].startswith("the log ends with event 5")


class TestGoingBack:
    """By the migration alone: others that come after it would not be put back where it refuses."""

    @pytest.fixture
    def back_and_forth(self, transactional_db: None) -> Callable[[], None]:
        loader = MigrationExecutor(connection).loader
        migration = loader.get_migration("annotation", "0022_keyed_acts")
        before = loader.project_state(migration.dependencies[0])

        def run_both_ways() -> None:
            with connection.schema_editor(atomic=True) as editor:
                migration.unapply(before.clone(), editor)
                missing = triggers.find_missing(connection)
            with connection.schema_editor(atomic=True) as editor:
                migration.apply(before.clone(), editor)
            assert missing == []

        return run_both_ways

    def test_a_log_with_acts_stays(self, back_and_forth: Callable[[], None]):
        acts.record("test.act", by=None)
        before = list(Act.objects.values())
        with pytest.raises(CommandError, match="The log of acts would be lost"):
            back_and_forth()
        assert list(Act.objects.values()) == before
        assert triggers.find_missing(connection) == []

    @pytest.mark.long
    def test_an_empty_log_goes_back_and_forth_with_its_triggers(self, back_and_forth: Callable[[], None]):
        back_and_forth()
        assert triggers.find_missing(connection) == []
        acts.record("test.act", by=None)
        assert queries.find_break() is None

    def test_the_migration_that_made_it_refuses_as_well(self, db: None):
        first = importlib.import_module("annotation.migrations.0017_acts")
        acts.record("test.act", by=None)
        apps = SimpleNamespace(get_model=lambda *_: Act)
        with pytest.raises(CommandError, match="The log of acts would be lost: 1 acts"):
            first.unguard(apps, SimpleNamespace(connection=connection))


def test_the_command_counts_what_it_checks(db: None, second_place: Path, capsys):
    call_command(check_invariants.Command(), json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["checked"] == len(invariants.INVARIANTS) + 10
    assert told["findings"] == []
    assert all("TRUNCATE" in note for note in told["notes"]), "the tests' own role may empty tables"


def test_before_the_first_act_there_is_nothing(db: None):
    assert queries.head() == (0, BEGINNING)
    assert queries.find_break() is None
