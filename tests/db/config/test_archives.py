"""A study's archive: with all it rests on, into a site that has other things under the same numbers."""

from __future__ import annotations

import json
import zipfile
from io import StringIO

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.corpus import services
from annotation.corpus.models import Attachment, AttachmentUse, Dialogue
from annotation.recruitment.models import Invitation
from annotation.recruitment.services import enrolment
from annotation.studies.models.labels import Adjudication, Annotation
from annotation.studies.models.studies import Item, Study
from annotation.workbench.services import exclusions
from config.archives import members, reading, writing
from config.invariants import findings
from core.accounts.models.projects import Project
from core.accounts.models.users import User
from core.errors import InputError
from judging.assessment.models.assessment import CalibrationRun
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import recalibration
from judging.judges.models import Judge
from judging.judges.queries import study_items
from judging.runs.models.runs import JudgeRun, Judgment
from judging.runs.services import panels
from tests.db.judging.assessment.services.judged import study as judged_study, trusted
from tests.support.backed_up import empty_tables
from tests.support.factories import (
    DialogueFactory,
    JudgeFactory,
    ProfileFactory,
    ProjectFactory,
    ResearcherFactory,
    ScenarioFactory,
    StudyFactory,
    UserFactory,
)
from tests.support.labelled import hold_some_out, judge_says
from tests.support.media import SVG, png, wav
from tests.support.shared_rows import share_rows

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def made(django_db_setup, django_db_blocker):
    yield from share_rows(django_db_blocker, lambda: rich_study().pk)


@pytest.fixture
def study(made, db):
    return Study.objects.get(pk=made)


def rich_study():
    """People, two judges, a panel of them, recalibrated scores, an exclusion, an adjudication, an invitation."""
    criterion = judged_study(n=40)
    made, rosa = (
        criterion.study,
        ResearcherFactory(username="rosa", password="secret-of-rosa", email="rosa@example.org"),
    )
    made.annotators.add(*User.objects.filter(username__in=["p0", "p2"]))
    judge_says(criterion, "second", ["2", "3"] * 20)
    panels.combine(by=rosa, name="Jury", runs=list(JudgeRun.objects.order_by("pk")))
    recalibration.apply(by=rosa, found=trusted(criterion), anyway=True)
    exclusions.exclude(by=rosa, study=made, annotator=User.objects.get(username="p2"), reason="too fast")
    Adjudication.objects.create(item=made.items.get(position=3), criterion=criterion, value="4", decided_by=rosa)
    enrolment.create(by=rosa, study=made)
    return made


def said(study: Study) -> dict[str, object]:
    """What is in the study, without the numbers of rows."""
    labels = Annotation.objects.filter(assignment__study=study)
    judgments = Judgment.objects.filter(run__study=study)
    by = ("run__judge__name", "item__position", "value", "score", "created_at")
    return {
        "labels": sorted(labels.values_list("assignment__item__position", "assignment__annotator__username", "value")),
        "judgments": sorted(judgments.values_list(*by), key=str),
        "items": sorted(study.items.values_list("position", "dialogue__external_id", "inclusion_probability")),
        "people": sorted(study.annotators.values_list("username", flat=True)),
        "excluded": list(study.exclusions.values_list("annotator__username", "decided_by__username", "created_at")),
        "gold": list(Adjudication.objects.filter(item__study=study).values_list("item__position", "value")),
        "agreement": figures(study),
    }


def figures(study: Study) -> object:
    out = StringIO()
    call_command("agreement", study=study.name, json=True, stdout=out)
    return without_numbers(json.loads(out.getvalue()))


PASSING = ("run", "input_hash", "generated_at", "created_at")


def without_numbers(value: object) -> object:
    if isinstance(value, dict):
        return {
            name: without_numbers(part)
            for name, part in value.items()
            if name not in ("run", "input_hash", "generated_at", "created_at")
        }
    return [without_numbers(one) for one in value] if isinstance(value, list) else value


@pytest.mark.long
def test_it_comes_back_beside_others_with_the_same_figures(study, tmp_path):
    before, path = said(study), tmp_path / "known.zip"
    manifest = writing.write(study, path)
    empty_tables()
    for _ in range(3):  # the numbers of the archive belong to others here
        StudyFactory()
        DialogueFactory()
        JudgeFactory()
        UserFactory()
    here = reading.restore(by=None, path=path)
    after = Study.objects.get(name="Known")
    assert said(after) == before
    assert after.pk != study.pk
    assert findings() == []
    assert {label: rows["created"] for label, rows in here["rows"].items()} == {
        label: table["rows"] for label, table in manifest["tables"].items()
    }


def test_what_is_held_out_stays_held_out(study, tmp_path):
    """Also where profiles and dialogues have other numbers."""
    for at in (range(1, 4), range(4, 9)):
        Dialogue.objects.filter(items__study=study, items__position__in=at).update(scenario=ScenarioFactory())
    hold_some_out(study)
    before, path = study_items.positions(study), tmp_path / "known.zip"
    writing.write(study, path)
    empty_tables()
    for _ in range(3):
        DialogueFactory(scenario=ScenarioFactory())
    reading.restore(by=None, path=path)
    assert study_items.positions(Study.objects.get(name="Known")) == before


@pytest.mark.any_database
@pytest.mark.long
def test_figures_of_clusters_are_the_same_under_other_numbers(study, tmp_path):
    DialogueFactory.create_batch(7, scenario=ScenarioFactory())  # the clusters' numbers begin with 2, and reach 10
    for at in range(1, 41, 3):
        Dialogue.objects.filter(items__study=study, items__position__in=range(at, at + 3)).update(
            scenario=ScenarioFactory()
        )
    before, path = figures(study), tmp_path / "known.zip"
    writing.write(study, path)
    empty_tables()
    for _ in range(90):
        ProfileFactory()
    reading.restore(by=None, path=path)
    assert figures(Study.objects.get(name="Known")) == before


class TestAttachments:
    """Pictures and sounds go with the study whose items show them."""

    @pytest.fixture(autouse=True)
    def folder(self, settings, tmp_path):
        settings.ATTACHMENTS = tmp_path / "here"

    @pytest.fixture
    def path(self, study, tmp_path):
        """An archive of a study with a picture that two of its dialogues show; another study's stays out."""
        stored = services.store_attachment(png(), name="a.png")
        for dialogue in Dialogue.objects.filter(items__study=study).order_by("pk")[:2]:
            AttachmentUse.objects.create(attachment=stored, dialogue=dialogue)
        foreign = services.store_attachment(wav(), name="b.wav")
        AttachmentUse.objects.create(attachment=foreign, dialogue=DialogueFactory())
        writing.write(study, tmp_path / "known.zip")
        return tmp_path / "known.zip"

    def test_they_come_with_it(self, path, settings, tmp_path):
        shown = list(Dialogue.objects.filter(attachment_uses__attachment__type="image/png").values_list("external_id"))
        empty_tables()
        settings.ATTACHMENTS = tmp_path / "there"
        out = StringIO()
        call_command("restore_study", str(path), stdout=out)
        assert "1 attachment\n" in out.getvalue()
        (there,) = Attachment.objects.all()
        assert services.locate(there.sha256).read_bytes() == png()
        assert sorted(there.uses.values_list("dialogue__external_id")) == sorted(shown)

    def test_what_is_lost_here_is_told_there(self, path, study, tmp_path):
        services.locate(Attachment.objects.get(type="image/png").sha256).unlink()
        writing.write(study, path)
        empty_tables()
        assert reading.restore(by=None, path=path)["attachments"] == {"stored": 0, "lost": 1}

    def test_an_archive_of_before_holds_none(self, path, tmp_path):
        before = tmp_path / "before.zip"
        with zipfile.ZipFile(path) as archive, zipfile.ZipFile(before, "w") as older:
            for name in archive.namelist():
                if not name.startswith("attachments"):
                    older.writestr(name, archive.read(name))
        empty_tables()
        assert reading.restore(by=None, path=before)["attachments"] == {"stored": 0, "lost": 0}

    @pytest.mark.parametrize(
        ("data", "says"),
        [
            (png(width=9), "was changed or cut: its SHA-256 is not its name"),
            (SVG, "is an SVG drawing, which can hold scripts"),
            (b"MZ" + bytes(40), "is none of PNG"),
        ],
    )
    def test_one_that_is_not_what_its_name_says_is_refused_with_all(self, path, tmp_path, data, says):
        hostile = tmp_path / "hostile.zip"
        with zipfile.ZipFile(path) as archive, zipfile.ZipFile(hostile, "w") as bad:
            for name in archive.namelist():
                bad.writestr(name, data if name.startswith("attachments/") else archive.read(name))
        empty_tables()
        with pytest.raises(InputError, match=says):
            reading.restore(by=None, path=hostile)
        assert not Study.objects.filter(name="Known").exists()
        assert not Attachment.objects.exists()

    @pytest.mark.any_database
    @pytest.mark.parametrize(
        ("line", "says"),
        [
            ({"sha256": "0" * 64, "shown_by": "dialogue", "id": 10**6}, "is not a use of an attachment"),
            ({"sha256": "0" * 64, "shown_by": "study", "id": 1}, "is not a use of an attachment"),
            ([], "is not a use of an attachment"),
            (None, "holds attachments/[0-9a-f]{64}, which nothing shows"),
        ],
    )
    def test_uses_of_what_is_not_in_it(self, path, tmp_path, line, says):
        hostile = tmp_path / "hostile.zip"
        with zipfile.ZipFile(path) as archive, zipfile.ZipFile(hostile, "w") as bad:
            for name in archive.namelist():
                uses = b"" if line is None else json.dumps(line).encode() + b"\n"
                bad.writestr(name, uses if name == "attachments.jsonl" else archive.read(name))
        empty_tables()
        with pytest.raises(InputError, match=says):
            reading.restore(by=None, path=hostile)
        assert not Study.objects.filter(name="Known").exists()


def test_judgments_name_what_they_are_made_of_by_its_number_here(study, tmp_path):
    path = tmp_path / "known.zip"
    writing.write(study, path)
    empty_tables()
    judge_says(judged_study(n=20, name="Other"), "other", ["1"] * 20)
    reading.restore(by=None, path=path)
    jury = Judgment.objects.filter(run__judge__name="Jury", item__position=7).get()
    of = Judgment.objects.filter(pk__in=jury.details["members"])
    assert set(of.values_list("run__judge__name", "item__position")) == {("gpt", 7), ("second", 7)}
    run = JudgeRun.objects.get(judge__name="Jury")
    named = {one["name"]: one["run"] for part in run.result.values() for one in part["members"]}
    assert named == {one.judge.name: one.pk for one in run.members.select_related("judge")}
    again = Judgment.objects.exclude(details__calibration=None).filter(run__study__name="Known").first()
    assert CalibrationRun.objects.get(pk=again.details["calibration"]).study.name == "Known"


@pytest.mark.any_database
def test_what_is_here_already_is_used(study, tmp_path):
    path = tmp_path / "known.zip"
    writing.write(study, path)
    counts = [model._base_manager.count() for model in members.list_shared_tables()]
    empty_tables([Invitation, *members.list_own_tables()])
    rows = reading.restore(by=None, path=path)["rows"]
    assert [model._base_manager.count() for model in members.list_shared_tables()] == counts
    assert rows["annotation.Dialogue"] == {"created": 0, "unchanged": 40}
    assert Item.objects.count() == 40


def test_nobody_gets_in_or_gets_rights_with_it(study, tmp_path):
    path = tmp_path / "known.zip"
    writing.write(study, path)
    content = b"".join(zipfile.ZipFile(path).read(name) for name in zipfile.ZipFile(path).namelist())
    assert User.objects.get(username="rosa").password.encode() not in content
    assert b"rosa@example.org" not in content
    assert b"Invitation.jsonl" not in b"".join(name.encode() for name in zipfile.ZipFile(path).namelist())
    empty_tables()
    reading.restore(by=None, path=path)
    rosa = User.objects.get(username="rosa")
    assert (rosa.has_usable_password(), rosa.is_researcher, rosa.is_staff) == (False, False, False)


class TestWhatIsRefused:
    def test_a_study_that_is_here(self, study, tmp_path):
        writing.write(study, tmp_path / "known.zip")
        with pytest.raises(InputError, match="a study Known here already"):
            reading.restore(by=None, path=tmp_path / "known.zip")

    def test_other_content_under_the_same_name_and_nothing_is_kept(self, study, tmp_path):
        writing.write(study, tmp_path / "known.zip")
        empty_tables()
        Dialogue.objects.all().delete()
        kept = zipfile.ZipFile(tmp_path / "known.zip").read("annotation.Dialogue.jsonl").splitlines()
        row = json.loads(kept[-1])
        DialogueFactory(source=row["source"], external_id=row["external_id"], content_hash="other")
        with pytest.raises(InputError, match="another content_hash"):
            reading.restore(by=None, path=tmp_path / "known.zip")
        assert not Study.objects.filter(name="Known").exists()
        assert not User.objects.filter(username="p0").exists()

    @pytest.mark.parametrize(("table", "field"), [(Study, "name"), (Judge, "name"), (User, "display_name")])
    def test_a_name_that_turns_text(self, study, tmp_path, table, field):
        table.objects.filter(pk=table.objects.earliest("pk").pk).update(**{field: "Kno\u202ewn"})
        writing.write(study, tmp_path / "known.zip")
        empty_tables()
        with pytest.raises(InputError, match=r"control character U\+202E"):
            reading.restore(by=None, path=tmp_path / "known.zip")

    def test_a_changed_or_cut_file(self, study, tmp_path):
        writing.write(study, tmp_path / "known.zip")
        empty_tables()
        with zipfile.ZipFile(tmp_path / "known.zip") as good, zipfile.ZipFile(tmp_path / "bad.zip", "w") as bad:
            for name in good.namelist():
                content = good.read(name)
                changed = content.replace(b'"value": "2"', b'"value": "3"')
                bad.writestr(name, changed if name == "annotation.Annotation.jsonl" else content)
        with pytest.raises(InputError, match="changed or cut"):
            reading.restore(by=None, path=tmp_path / "bad.zip")
        (tmp_path / "cut.zip").write_bytes((tmp_path / "known.zip").read_bytes()[:900])
        with pytest.raises(InputError, match="cannot be read as an archive"):
            reading.restore(by=None, path=tmp_path / "cut.zip")
        assert not Study.objects.exists()

    def test_a_backup_is_no_archive(self, db, tmp_path):
        with zipfile.ZipFile(tmp_path / "other.zip", "w") as other:
            other.writestr("manifest.json", "{}")
        with pytest.raises(InputError, match="holds no archive"):
            reading.restore(by=None, path=tmp_path / "other.zip")

    def test_while_a_judge_is_at_work(self, study, tmp_path):
        JudgeRun.objects.filter(judge__name="gpt").update(finished_at=None)
        with pytest.raises(InputError, match="at work"):
            writing.write(study, tmp_path / "known.zip")
        assert list(tmp_path.iterdir()) == []


def test_every_table_is_kept_or_left_out_for_a_reason():
    labels = {
        model._meta.label
        for name in members.APPS
        for model in apps.get_app_config(name).get_models(include_auto_created=True)
    }
    kept = {model._meta.label for model in (*members.list_shared_tables(), *members.list_own_tables())}
    assert kept | members.LEFT_OUT.keys() == labels
    assert kept & members.LEFT_OUT.keys() == set()


def test_what_a_row_cannot_be_without_is_kept_too():
    kept = {*members.list_shared_tables(), *members.list_own_tables()}
    lost = {
        f"{model._meta.label}.{link.name}"
        for model in kept
        for link in members.links(model)
        if not link.null and link.remote_field.model not in {*kept, Project}
    }
    assert lost == set()


@pytest.mark.any_database
def test_the_commands(study, tmp_path):
    path, out = tmp_path / "known.zip", StringIO()
    call_command("archive_study", study="known", output=path, stdout=out)
    assert out.getvalue().startswith("Known: ")
    with pytest.raises(CommandError, match="written to a file, not to standard output"):
        call_command("archive_study", "--study", "known", "-o", "-")
    empty_tables()
    out = StringIO()
    call_command("restore_study", str(path), json=True, stdout=out)
    assert json.loads(out.getvalue())["rows"]["annotation.Item"] == {"created": 40, "unchanged": 0}
    assert StudyData.load(Study.objects.get()).judge("gpt").name == "gpt"
    assert Judge.objects.filter(name="gpt").count() == 1
    assert ProfileFactory().pk


class TestThePage:
    @pytest.mark.any_database
    @pytest.mark.long
    def test_a_researcher_takes_it_and_it_restores(self, study, tmp_path, client):
        client.force_login(User.objects.get(username="rosa"))
        assert reverse("study_archive", args=["known"]) in client.get(reverse("study_files", args=["known"])).text
        response = client.get(reverse("study_archive", args=["known"]))
        assert response["Content-Disposition"] == 'attachment; filename="known-archive.zip"'
        (tmp_path / "known.zip").write_bytes(b"".join(response.streaming_content))
        empty_tables()
        assert reading.restore(by=None, path=tmp_path / "known.zip")["study"] == "Known"

    def test_it_says_why_not_while_a_judge_is_at_work(self, study, client):
        JudgeRun.objects.filter(judge__name="gpt").update(finished_at=None)
        client.force_login(User.objects.get(username="rosa"))
        answer = client.get(reverse("study_archive", args=["known"]), follow=True)
        assert "A judge is at work on Known" in answer.text

    def test_bob_the_annotator_may_not(self, study, client):
        client.force_login(User.objects.get(username="p0"))
        assert client.get(reverse("study_archive", args=["known"])).status_code == 403


def test_an_archive_whose_packed_content_was_spoilt_is_refused(study, tmp_path):
    path = tmp_path / "study.zip"
    writing.write(study, path)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        first = archive.getinfo(writing.MANIFEST)
    start = first.header_offset + 30 + len(first.filename)
    content[start : start + 24] = b"\xff" * 24
    path.write_bytes(content)
    with pytest.raises(InputError, match="cannot be read as an archive"):
        reading.restore(by=None, path=path)


def test_a_study_comes_into_the_project_that_is_named(study, tmp_path):
    path, other = tmp_path / "known.zip", ProjectFactory(slug="other")
    writing.write(study, path)
    Study.objects.filter(pk=study.pk).update(name="Away", slug="away")
    with pytest.raises(InputError, match=r"The name .* of a judge is taken"):  # in the project that it came from
        reading.restore(by=None, path=path, project=other)
    for judge in Judge.objects.all():
        Judge.objects.filter(pk=judge.pk).update(name=f"Before {judge.name}")
    with pytest.raises(InputError, match="several projects"):
        reading.restore(by=None, path=path)
    call_command("restore_study", str(path), "--project", "other")
    assert Study.objects.get(name="Known").project == other
    assert {one.project for one in Judge.objects.exclude(name__startswith="Before")} == {other}
