"""Archives of a study that somebody made by hand: each is refused with a reason, and leaves nothing behind."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_django import DjangoDbBlocker

from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from config.archives import checking, members, reading, writing
from core.accounts.models.projects import Project
from core.accounts.models.tokens import ApiToken
from core.accounts.models.users import User
from core.audit.models import Act
from core.errors import InputError
from judging.judges.models import Judge
from judging.runs.models.runs import Judgment
from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import judge_says, people_say, with_items
from tests.support.shared_rows import share_rows

pytestmark = pytest.mark.django_db

Rows = list[dict[str, Any]]
Change = Callable[[Rows], Any]


@pytest.fixture(scope="module")
def archive(django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory):
    yield from share_rows(django_db_blocker, lambda: archived(tmp_path_factory.mktemp("archive") / "known.zip"))


@pytest.fixture
def made(archive: Path, db: None, tmp_path: Path) -> Path:
    return Path(shutil.copy(archive, tmp_path))


def archived(path: Path) -> Path:
    """The archive of a small study, which is no longer here."""
    study = with_items(2, name="Known", slug="known", created_by=ResearcherFactory(username="rosa"))
    criterion = CriterionFactory(study=study, key="coherence")
    people_say(criterion, {"bob": [criterion.values[0], criterion.values[1]]})
    judge_says(criterion, "gpt", [criterion.values[0], criterion.values[1]])
    writing.write(study, path)
    Study.objects.filter(pk=study.pk).update(name="Before", slug="before")
    Judge.objects.update(name="before")
    return path


def packed(path: Path, changes: dict[str, Change] | None = None, **manifest: Any) -> Path:
    """The archive with other rows, hashed as if they had been there, and with other entries of its manifest."""
    target = path.with_name("hostile.zip")
    with zipfile.ZipFile(path) as good, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as bad:
        told = json.loads(good.read(writing.MANIFEST)) | manifest
        for label, one in told["tables"].items() if isinstance(told["tables"], dict) else ():
            content = good.read(f"{label}.jsonl")
            if change := (changes or {}).get(label):
                rows = [json.loads(line) for line in content.splitlines()]
                found = change(rows)
                content = found if isinstance(found, bytes) else lines(rows if found is None else found)
                one["sha256"] = hashlib.sha256(content).hexdigest()
            bad.writestr(f"{label}.jsonl", content)
        bad.writestr(writing.MANIFEST, json.dumps(told))
    return target


def lines(rows: Rows) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def sets(**values: Any) -> Change:
    """Every row with these values."""

    def change(rows: Rows) -> None:
        for row in rows:
            row.update(values)

    return change


def anew(key: str, **values: Any) -> Change:
    """The same for rows that are not here yet: what is here already is used, whatever the archive says of it."""

    def change(rows: Rows) -> None:
        for place, row in enumerate(rows):
            row.update(values, **{key: f"new {place}"})

    return change


def refused(path: Path, says: str) -> None:
    """Refused with these words, and the site is as it was."""
    before = {
        model: model._base_manager.count()
        for model in (*members.list_shared_tables(), *members.list_own_tables(), Act, ApiToken)
    }
    with pytest.raises(InputError, match=says):
        reading.restore(by=None, path=path)
    assert {model: model._base_manager.count() for model in before} == before
    assert not Study.objects.filter(name="Known").exists()


def test_what_was_not_changed_is_restored(made):
    """Else the other tests would prove nothing."""
    reading.restore(by=None, path=packed(made))
    assert Study.objects.filter(name="Known").exists()


class TestTheFile:
    """It is read table by table and never unpacked to a disk."""

    def with_another(self, path: Path, name: str | zipfile.ZipInfo, content: bytes = b"x") -> Path:
        target = packed(path)
        with zipfile.ZipFile(target, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, content)
        return target

    @pytest.mark.parametrize(
        "name",
        ["../../outside", "/etc/cron.d/x", "C:\\x", "annotation.ApiToken.jsonl", "annotation.Membership.jsonl"],
    )
    def test_anything_but_its_tables(self, made, name):
        refused(self.with_another(made, name), "which is not part of a study's archive")

    def test_a_link_that_leads_elsewhere(self, made):
        link = zipfile.ZipInfo("link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        refused(self.with_another(made, link, b"/etc/passwd"), "holds link, which is not part")

    @pytest.mark.filterwarnings("ignore:Duplicate name")
    @pytest.mark.parametrize("name", ["annotation.User.jsonl", writing.MANIFEST])
    def test_two_files_of_one_name(self, made, name):
        again = zipfile.ZipFile(made).read(name)
        refused(self.with_another(made, name, again), f"holds {name} twice")

    def test_a_bomb(self, made, monkeypatch):
        monkeypatch.setattr(checking, "SMALL", 100_000)
        bomb = packed(made, {"annotation.Annotation": lambda rows: b" " * 20_000_000})
        refused(bomb, "would unpack to 19 MB from 0.0")

    def test_a_manifest_that_is_a_bomb(self, made):
        refused(packed(made, note="x" * 5_000_000), "holds no archive.json")

    def test_a_row_that_is_a_bomb(self, made, monkeypatch):
        monkeypatch.setattr(checking, "DOCUMENT_LIMIT", 10_000)
        bomb = packed(made, {"annotation.Annotation": lambda rows: b" " * 20_000})
        refused(bomb, "is not a row of annotation.Annotation: a row has more than")

    @pytest.mark.parametrize(
        "manifest",
        [
            {"tables": []},
            {"tables": {"annotation.User": 5}},
            {"migrations": [[]]},
            {"migrations": None},
            {"form": None, "tables": {}},
        ],
    )
    def test_a_manifest_that_says_something_else(self, made, manifest):
        refused(packed(made, **manifest), "holds no archive.json|tables differ")

    def test_a_manifest_that_is_too_deep(self, made):
        target = made.with_name("deep.zip")
        with zipfile.ZipFile(target, "w") as bad:
            bad.writestr(writing.MANIFEST, "[" * 100_000)
        refused(target, "holds no archive.json")

    @pytest.mark.parametrize("names", [{"study": "Other"}, {"slug": "other"}, {"study": {"a": 1}}, {"slug": None}])
    def test_another_study_than_the_manifest_names(self, made, names):
        refused(packed(made, **names), "holds another study than its manifest names")

    def test_two_studies(self, made):
        def twice(rows: Rows) -> Rows:
            return [*rows, {**rows[0], "id": 10**6, "name": "Second", "slug": "second"}]

        refused(packed(made, {"annotation.Study": twice}), "holds another study than its manifest names")

    def test_hashes_that_are_not_those_of_the_tables(self, made):
        manifest = json.loads(zipfile.ZipFile(made).read(writing.MANIFEST))
        manifest["tables"]["annotation.User"]["sha256"] = "0" * 64
        refused(packed(made, tables=manifest["tables"]), "was changed or cut")


ROWS: dict[str, tuple[str, Change, str]] = {
    "deep JSON": ("annotation.Dialogue", lambda rows: b"[" * 100_000, "nested more than 200 deep"),
    "a row that is a list": ("annotation.Item", lambda rows: b"[]\n", "is not a row of annotation.Item"),
    "a row that is a number": ("annotation.User", lambda rows: b"5\n", "is not a row of annotation.User"),
    "not UTF-8": ("annotation.Item", lambda rows: b"\xff\n", "is not a row of annotation.Item"),
    "a NUL character": ("annotation.Study", sets(description="a\0b"), "NUL"),
    "an item twice": ("annotation.Item", lambda rows: [*rows, rows[0]], "an id is there twice"),
    "a person twice": ("annotation.User", lambda rows: [*rows, {**rows[0], "username": "x"}], "an id is there twice"),
    "a number beyond every database": ("annotation.Item", sets(position=10**30), "annotation.Item|cannot be here"),
    "an item of a study that is not in it": ("annotation.Item", sets(study_id=10**9), "study 1000000000 is not in"),
    "labels of an assignment that is not in it": (
        "annotation.Annotation", sets(assignment_id=10**9), "assignment 1000000000 is not in the archive"
    ),
    "labels of nobody in it": (
        "annotation.Assignment", sets(item_id=10**9), "item 1000000000 is not in the archive"
    ),
    "a slug that no address can have": ("annotation.Study", sets(slug="a/b"), "slug"),
    "no slug": ("annotation.Study", sets(slug=""), "slug is empty"),
    "a name that is too long": ("annotation.Study", sets(name="x" * 5000), "characters"),
    "a state that there is not": ("annotation.Study", sets(state="everyone"), "is not a valid choice|cannot be here"),
    "a kind of account that there is not": ("annotation.User", anew("username", kind="root"), "valid choice|cannot be"),
    "turns that are no turns": ("annotation.Dialogue", anew("external_id", turns="x"), "turns"),
    "turns without words": ("annotation.Dialogue", anew("external_id", turns=[{"role": "user"}]), "turns"),
    "categories that are none": ("annotation.Criterion", sets(categories=5), "categories"),
    "a text for an object": ("annotation.Dialogue", anew("external_id", extra="x"), "extra is not an object"),
    "marked words that are none": ("annotation.Annotation", sets(evidence=[{"part": 1}]), "evidence"),
    "a judgment that names others by a text": ("judging.Judgment", sets(details={"run": "1"}), "number of a row"),
    "a judgment made of a truth value": ("judging.Judgment", sets(details={"calibration": True}), "number of a row"),
    "half a date": ("annotation.Study", sets(created_at="2026-13-45"), "is not a row of annotation.Study"),
}  # fmt: skip


@pytest.mark.parametrize("what", ROWS)
def test_a_row_that_cannot_be(made, what):
    label, change, says = ROWS[what]
    refused(packed(made, {label: change}), says)


def test_a_link_to_a_page_of_completion_is_an_address_of_the_web(made):
    study = json.loads(zipfile.ZipFile(made).read("annotation.Study.jsonl"))
    row = {
        "id": 1, "study_id": study["id"], "is_public": True, "consent_text_id": None,
        "completion_code": "", "completion_url": "javascript:alert(1)",
    }  # fmt: skip
    refused(packed(made, {"annotation.Intake": lambda rows: [row]}), "Enter a valid URL")


def test_a_certificate_that_was_sealed_otherwise(made):
    with zipfile.ZipFile(made) as archive:
        study, judge = (json.loads(archive.read(f"{one}.jsonl")) for one in ("annotation.Study", "judging.Judge"))
    row = {
        "id": 1, "study_id": study["id"], "judge_id": judge["id"], "content": {"rules": {}}, "sha256": "a/b",
        "public_key": "", "signature": "",
        "created_by_id": None, "created_at": "2026-01-01T00:00:00+00:00",
    }  # fmt: skip
    refused(packed(made, {"judging.Certificate": lambda rows: [row]}), "not the seal of the content")


def test_rules_that_no_page_could_show(made):
    with zipfile.ZipFile(made) as archive:
        study = json.loads(archive.read("annotation.Study.jsonl"))
    row = {
        "id": 1, "study_id": study["id"], "number": 1, "kind": "locked", "rules": {"least_items": "many"},
        "success": {"decision": "replace", "criteria": []}, "reason": "", "sha256": "0" * 64,
        "created_by_id": None, "created_at": "2026-01-01T00:00:00+00:00",
    }  # fmt: skip
    refused(packed(made, {"judging.VerdictRules": lambda rows: [row]}), "least_items of the rules")


class TestPeople:
    def test_who_is_here_keeps_password_role_and_rights(self, made):
        alice = ResearcherFactory(username="alice", password="secret-of-alice")
        before = User.objects.filter(pk=alice.pk).values().get()

        def as_alice(rows: Rows) -> None:
            rows[0].update(username="alice", password="pbkdf2$x", is_superuser=True, is_staff=True, is_active=False)

        reading.restore(by=None, path=packed(made, {"annotation.User": as_alice}))
        assert User.objects.filter(pk=alice.pk).values().get() == before

    def test_who_is_new_gets_no_rights_and_cannot_sign_in(self, made):
        change = sets(
            is_superuser=True,
            is_staff=True,
            is_researcher=True,
            password="md5$$x",
            email="a@b.org",
            kind="person",
        )
        User.objects.filter(username="bob").update(username="another bob")
        User.objects.filter(username="rosa").update(username="another rosa")
        reading.restore(by=None, path=packed(made, {"annotation.User": change}))
        for user in User.objects.filter(username__in=["bob", "rosa"]):
            rights = (user.is_superuser, user.is_staff, user.is_researcher, user.email, user.has_usable_password())
            assert rights == (False, False, False, "", False)
            assert not user.memberships.exists()
            assert not user.check_password("x")

    def test_an_account_of_another_kind_is_not_taken_over(self, made):
        User.objects.filter(username="bob").update(kind="imported")
        refused(packed(made), "is here with another kind")


def test_ids_that_others_have_here_lead_to_nobody_elses_rows(made):
    """All numbers of the archive are taken here, by rows of another study."""
    other = CriterionFactory(study=with_items(2, name="Other", slug="other"))
    people_say(other, {"dana": [other.values[0], other.values[1]]})
    labels = list(Annotation.objects.filter(criterion=other).values())

    def renumbered(rows: Rows) -> None:
        for row in rows:
            row["study_id"] = other.study_id

    refused(packed(made, {"annotation.Criterion": renumbered}), f"study {other.study_id} is not in the archive")
    reading.restore(by=None, path=packed(made))
    assert list(Annotation.objects.filter(criterion=other).values()) == labels
    assert other.study.items.count() == 2


def test_a_judgment_made_of_others_names_only_those_of_the_archive(made):
    here = Judgment.objects.order_by("pk").first()
    assert here

    def names(rows: Rows) -> None:
        for row in rows:
            row["details"] = {"members": [10**9, str(here.pk)], "run": 10**9, "kept": {"calibration": 10**9}}

    reading.restore(by=None, path=packed(made, {"judging.Judgment": names}))
    restored = Judgment.objects.filter(run__study__name="Known")
    details = {"members": [], "run": None, "kept": {"calibration": None}}
    assert [one.details for one in restored] == [details, details]


def test_it_goes_into_the_project_that_was_chosen_whatever_its_rows_say(made):
    home = Project.objects.get()
    reading.restore(
        by=None, path=packed(made, {"annotation.Study": sets(project_id=999), "judging.Judge": sets(project_id=999)})
    )
    assert Study.objects.get(name="Known").project == home
    assert {judge.project for judge in Judge.objects.all()} == {home}


NASTY = ['<script>alert("x")</script>', '=HYPERLINK("http://x")', "{{ 7|add:1 }}", "'; DROP TABLE x; --"]


def test_names_that_are_markup_or_formulas_are_shown_and_written_as_text(made, client):
    name = " ".join(NASTY)

    def change(rows: Rows) -> None:
        rows[0].update(name=name, description=name)

    reading.restore(by=None, path=packed(made, {"annotation.Study": change}, study=name))
    client.force_login(ResearcherFactory(username="reader", is_superuser=True))
    for address in ("/studies/", "/studies/known/"):
        page = client.get(address)
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        assert "&lt;script&gt;alert" in page.text


def test_a_locked_up_archive(made):
    """zipfile asks for a password with RuntimeError."""
    content = bytearray(made.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(signature)
        while at >= 0:
            content[at + flags] |= 1
            at = content.find(signature, at + 4)
    made.write_bytes(content)
    refused(made, "cannot be read as an archive|holds no archive.json")
