"""Who withdrew after a backup was made is withdrawn from what is restored; who was erased is erased again."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings, settings as site
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.recruitment.models import ConsentDecision
from annotation.recruitment.queries import has_withdrawn
from annotation.recruitment.services import consents, withdrawn
from annotation.recruitment.services.withdrawn import ERASED, WITHDRAWN, read
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from config import invariants
from config.archives import reading as of_archives, writing as into_archives
from config.backups import reading, writing
from config.erasure.erasing import erase_person, to_pseudonym
from core.accounts.models.users import User
from core.audit import queries as audit_queries
from core.audit.models import Act
from core.errors import InputError
from tests.support.backed_up import empty_tables, read_tables
from tests.support.factories import CriterionFactory, ResearcherFactory, UserFactory
from tests.support.labelled import people_say, with_items

Done = Callable[[Callable[[], Any]], None]


@pytest.fixture
def path(tmp_path: Path, settings) -> Path:
    """The list of this test's site."""
    settings.WITHDRAWN_FILE = tmp_path / "withdrawn.jsonl"
    return settings.WITHDRAWN_FILE


@pytest.fixture
def pilot(db, path) -> Study:
    study = with_items(3, name="Pilot", slug="pilot", overlap=3, state="open")
    criterion = CriterionFactory(study=study, key="personalization")
    people_say(criterion, {"bob": ["1", "2", "3"], "cleo": ["1", "2", "3"], "dana": ["1", "2", "3"]})
    Annotation.objects.update(note="a note")
    study.annotators.add(*User.objects.all())
    return study


@pytest.fixture
def commit(django_capture_on_commit_callbacks) -> Done:
    """Does something, and what follows its commit."""

    def do(what: Callable[[], Any]) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            what()

    return do


def withdraw(study: Study, name: str) -> None:
    consents.withdraw(by=None, study=study, annotator=User.objects.get(username=name))


def erase(name: str, *, notes: bool = False) -> None:
    erase_person(by=None, person=User.objects.get(username=name), notes=notes)


def told(document: dict[str, Any]) -> tuple[int, int]:
    return document["withdrawn_again"]["withdrawn"], document["withdrawn_again"]["erased"]


def broken() -> list[str]:
    return [one.invariant for one in invariants.findings()]


class TestBackup:
    @pytest.mark.long
    def test_they_are_withdrawn_and_erased_again(self, pilot, path, tmp_path, commit):
        older, newer = tmp_path / "older.zip", tmp_path / "newer.zip"
        writing.write(older, key=None)
        commit(lambda: withdraw(pilot, "bob"))
        commit(lambda: erase("cleo", notes=True))
        cleo = User.objects.get(username__startswith="erased-")
        after = [(row.username, row.erased_at, row.erased_notes) for row in User.objects.order_by("pk")]
        decided = list(ConsentDecision.objects.values_list("annotator", "created_at", "erased"))
        writing.write(newer, key=None)

        empty_tables()
        assert told(reading.restore(older)) == (1, 1)
        assert [(row.username, row.erased_at, row.erased_notes) for row in User.objects.order_by("pk")] == after
        assert list(ConsentDecision.objects.values_list("annotator", "created_at", "erased")) == decided
        assert not Annotation.objects.filter(assignment__annotator__username="bob").exists()
        assert set(Annotation.objects.filter(assignment__annotator=cleo).values_list("note", flat=True)) == {""}
        assert Annotation.objects.filter(assignment__annotator__username="dana", note="a note").count() == 3
        assert audit_queries.find_break() is None
        assert set(Act.objects.values_list("verb", flat=True)) == {
            "annotator.withdraw",
            "account.erase",
            "site.restore",
        }
        assert broken() == []

        empty_tables()
        assert told(reading.restore(newer)) == (0, 0)

    def test_who_came_back_after_withdrawing_stays(self, pilot, path, tmp_path, commit):
        commit(lambda: withdraw(pilot, "bob"))
        bob = User.objects.get(username="bob")
        pilot.annotators.add(bob)
        writing.write(tmp_path / "site.zip", key=None)
        before = read_tables()
        empty_tables()
        assert told(reading.restore(tmp_path / "site.zip")) == (0, 0)
        assert read_tables() == before

    def test_an_account_that_was_edited_in_the_administration_is_known_again(self, pilot, path, tmp_path, commit):
        writing.write(tmp_path / "site.zip", key=None)
        bob, root = User.objects.get(username="bob"), UserFactory(is_superuser=True, is_staff=True)
        page, joined = reverse("admin:annotation_user_change", args=[bob.pk]), bob.date_joined
        browser = Client()
        browser.force_login(root)
        form = browser.get(page).context["adminform"].form
        given = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False)}
        given |= {"date_joined_0": f"{joined:%Y-%m-%d}", "date_joined_1": f"{joined:%H:%M:%S}", "display_name": "Bob"}
        assert browser.post(page, given).status_code == 302
        bob.refresh_from_db()
        assert bob.date_joined == joined.replace(microsecond=0) != joined
        commit(lambda: withdraw(pilot, "bob"))
        LogEntry.objects.all().delete()
        empty_tables()
        assert told(reading.restore(tmp_path / "site.zip")) == (1, 0)

    def test_who_came_after_the_backup_is_kept_from_coming_in(self, pilot, path, tmp_path, commit):
        eve = UserFactory(username="eve")
        writing.write(tmp_path / "site.zip", key=None)
        pilot.annotators.add(eve)
        commit(lambda: withdraw(pilot, "eve"))
        empty_tables()
        assert told(reading.restore(tmp_path / "site.zip")) == (1, 0)
        assert has_withdrawn(Study.objects.get(), User.objects.get(username="eve"))
        assert broken() == []

    def test_an_entry_of_another_site_is_nobody_here(self, pilot, path, tmp_path, commit):
        writing.write(tmp_path / "site.zip", key=None)
        bob = User.objects.get(username="bob")
        commit(lambda: erase("bob"))
        empty_tables()
        shutil.rmtree(settings.AUDIT_HEADS)  # of that other site, too
        stranger = UserFactory(pk=bob.pk, username="eve", date_joined=bob.date_joined + timedelta(days=1))
        assert to_pseudonym(stranger) != to_pseudonym(bob)
        assert broken() == []
        assert User.objects.get().username == "eve"

    def test_a_list_that_cannot_be_read_restores_nothing(self, pilot, path, tmp_path):
        writing.write(tmp_path / "site.zip", key=None)
        empty_tables()
        path.mkdir()
        with pytest.raises(InputError, match=r"withdrawn\.jsonl: cannot be read"):
            reading.restore(tmp_path / "site.zip")
        assert not User.objects.exists()


class TestCommandRestore:
    def restored(self, *args: str) -> str:
        out = StringIO()
        call_command("restore", *args, stdout=out)
        return out.getvalue()

    def test_it_says_how_many(self, pilot, path, tmp_path, commit):
        writing.write(tmp_path / "site.zip", key=None)
        commit(lambda: withdraw(pilot, "bob"))
        empty_tables()
        assert f"Of 1 in {path}, withdrawn again: 1, erased again: 0." in self.restored(str(tmp_path / "site.zip"))

    def test_it_says_that_there_is_no_list(self, pilot, path, tmp_path):
        writing.write(tmp_path / "site.zip", key=None)
        empty_tables()
        assert f"There is no list of the withdrawn at {path}" in self.restored(str(tmp_path / "site.zip"))

    def test_lists_of_other_hosts_are_taken_in(self, pilot, path, tmp_path, commit, settings):
        writing.write(tmp_path / "site.zip", key=None)
        settings.WITHDRAWN_FILE = other = tmp_path / "other.jsonl"
        commit(lambda: withdraw(pilot, "bob"))
        empty_tables()
        settings.WITHDRAWN_FILE = path
        said = self.restored(str(tmp_path / "site.zip"), "--withdrawn", str(other))
        assert "withdrawn again: 1" in said
        assert read(path).entries == read(other).entries

    def test_a_list_that_is_not_there_is_named(self, db, path, tmp_path):
        writing.write(tmp_path / "site.zip", key=None)
        with pytest.raises(CommandError, match=r"nowhere\.jsonl: is not there"):
            self.restored(str(tmp_path / "site.zip"), "--withdrawn", str(tmp_path / "nowhere.jsonl"))


class TestArchive:
    @pytest.fixture
    def archive(self, pilot, tmp_path) -> Path:
        into_archives.write(pilot, tmp_path / "pilot.zip")
        return tmp_path / "pilot.zip"

    def test_they_are_withdrawn_and_erased_again_under_other_numbers(self, pilot, path, archive, commit):
        commit(lambda: withdraw(pilot, "bob"))
        commit(lambda: erase("cleo"))
        empty_tables()
        UserFactory.create_batch(5)
        ResearcherFactory()
        document = of_archives.restore(by=None, path=archive)
        assert told(document) == (1, 1)
        study = Study.objects.get(name="Pilot")
        raters = Annotation.objects.filter(assignment__study=study).values_list("assignment__annotator__username")
        names = {name for (name,) in raters}
        assert {name.split("-")[0] for name in names} == {"erased", "dana"}
        assert has_withdrawn(study, User.objects.get(username="bob"))
        assert not User.objects.filter(username="cleo").exists()

    def test_an_account_that_has_the_name_here_is_not_erased(self, pilot, path, archive, commit):
        commit(lambda: erase("cleo"))
        empty_tables()
        UserFactory(username="cleo", date_joined=timezone.now() + timedelta(days=1))
        assert told(of_archives.restore(by=None, path=archive)) == (0, 0)
        assert User.objects.get(username="cleo").erased_at is None

    def test_the_command_says_how_many(self, pilot, path, archive, commit):
        commit(lambda: withdraw(pilot, "bob"))
        empty_tables()
        ResearcherFactory()
        out = StringIO()
        call_command("restore_study", str(archive), stdout=out)
        assert "withdrawn again: 1, erased again: 0" in out.getvalue()


class TestList:
    def test_it_holds_numbers_and_moments_and_no_names(self, pilot, path, commit):
        bob, dana = User.objects.get(username="bob"), User.objects.get(username="dana")
        commit(lambda: withdraw(pilot, "bob"))
        commit(lambda: erase("dana", notes=True))
        text = path.read_text()
        assert not [name for name in ("bob", "dana", "Pilot", "pilot") if name in text]
        found = {(one.what, one.person, one.study, one.notes) for one in read(path).entries}
        assert found == {(WITHDRAWN, bob.pk, pilot.pk, False), (ERASED, dana.pk, 0, True)}

    def test_what_is_rolled_back_is_not_in_it(self, pilot, path, django_capture_on_commit_callbacks):
        with django_capture_on_commit_callbacks() as callbacks:
            withdraw(pilot, "bob")
        assert callbacks
        assert not path.exists()

    def test_a_list_that_cannot_be_written_is_said_and_made_whole_later(self, pilot, path, commit, caplog):
        path.mkdir()
        with caplog.at_level(logging.ERROR):
            commit(lambda: withdraw(pilot, "bob"))
        assert f"{path}, could not be written" in caplog.text
        assert not Annotation.objects.filter(assignment__annotator__username="bob").exists()
        assert "cannot be read" in withdrawn.problem()
        path.rmdir()
        assert "lacks 1 of them: run manage.py withdrawn --write" in withdrawn.problem()
        assert broken() == ["Every withdrawal and erasure is in the list of the withdrawn."]
        commit(lambda: withdraw(pilot, "dana"))
        assert len(read(path).entries) == 2
        assert (withdrawn.problem(), broken()) == ("", [])

    def test_a_researcher_is_told(self, client, pilot, path):
        client.force_login(ResearcherFactory())  # nothing is committed here, and so nothing is in the list
        address = reverse("participant_withdraw", args=["pilot", User.objects.get(username="bob").pk])
        page = client.post(address, follow=True).content.decode()
        assert "Tell the person who runs this site: The list of the withdrawn" in page

    def test_the_system_page_goes_on_saying_it(self, client, pilot, path):
        client.force_login(ResearcherFactory())
        withdraw(pilot, "bob")
        assert "lacks 1 of them" in client.get(reverse("system")).content.decode()
        withdrawn.write()
        assert "lacks 1 of them" not in client.get(reverse("system")).content.decode()

    def test_the_command_that_withdraws_says_it_too(self, pilot, path, capsys):
        call_command("withdraw", study="pilot", annotator="bob")
        assert "lacks 1 of them" in capsys.readouterr().err

    def test_it_is_in_the_data_folder_where_nothing_else_is_said(self):
        assert site.WITHDRAWN_FILE == site.DATA_DIR / "withdrawn.jsonl"


class TestCommand:
    def said(self, *args: str) -> dict[str, Any]:
        out = StringIO()
        call_command("withdrawn", *args, "--json", stdout=out)
        found: dict[str, Any] = json.loads(out.getvalue())
        return found

    def test_it_sees_what_differs_and_mends_it(self, pilot, path, tmp_path, commit):
        writing.write(tmp_path / "site.zip", key=None)
        withdraw(pilot, "bob")  # of a time before there was a list
        said = self.said()
        assert (said["listed"], said["not_in_list"], said["not_in_database"]) == (0, 1, 0)
        said = self.said("--write")
        assert (said["listed"], said["written"], said["not_in_list"]) == (1, 1, 0)
        listed = path.read_bytes()
        empty_tables()
        path.unlink()
        reading.restore(tmp_path / "site.zip")  # or by the database's own means
        path.write_bytes(listed)
        assert self.said()["not_in_database"] == 1
        assert broken() == ["Whoever is in the list of the withdrawn has withdrawn or is erased."]
        said = self.said("--apply")
        assert (said["withdrawn_again"]["withdrawn"], said["not_in_database"]) == (1, 0)
        assert broken() == []

    def test_a_cut_off_line_is_named(self, db, path):
        path.write_text("{\n")
        assert self.said()["unreadable"] == [1]
        out = StringIO()
        call_command("withdrawn", stdout=out)
        assert "Lines that cannot be read: 1." in out.getvalue()
        assert withdrawn.problem() == f"Lines 1 of {path} cannot be read."

    def test_a_list_that_cannot_be_written_ends_with_2(self, pilot, path):
        path.mkdir()
        with pytest.raises(CommandError) as error:
            self.said("--write")
        assert error.value.returncode == 2
