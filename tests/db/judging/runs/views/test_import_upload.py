"""alice uploads files; bob the annotator may not, and charlie is not signed in."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.benchmarks.models import Benchmark
from annotation.corpus.models import Dialogue, Profile, ResponsePair, Task
from annotation.studies.models.labels import Annotation
from judging.runs.models.runs import Judgment
from tests.support import factories

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]
TURNS = [{"role": "user", "content": "订一张桌子"}, {"role": "assistant", "content": "<script>alert(1)</script>"}]


@pytest.fixture
def alice(client):
    client.force_login(factories.ResearcherFactory(username="alice"))
    return client


def upload(client, kind: str, content: str | bytes, name: str = "对话.jsonl", **fields) -> str:
    data = content if isinstance(content, bytes) else content.encode()
    fields = {"file": SimpleUploadedFile(name, data), "source": "jsonl", **fields}
    response = client.post(f"{reverse('import_upload')}?format={kind}", fields)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def dialogue(**more) -> str:
    return json.dumps({"id": "d", "turns": TURNS, **more}, ensure_ascii=False)


class TestAccess:
    def test_bob_the_annotator_may_neither_look_nor_upload(self, client):
        client.force_login(factories.UserFactory(username="bob"))
        assert client.get(reverse("import_upload")).status_code == 403
        file = SimpleUploadedFile("f.jsonl", dialogue().encode())
        assert client.post(reverse("import_upload"), {"file": file, "source": "x"}).status_code == 403
        assert not Dialogue.objects.exists()

    def test_charlie_is_asked_to_sign_in(self, client):
        assert client.get(reverse("import_upload")).url.startswith(reverse("login"))


def test_each_format_asks_for_what_it_needs(alice):
    asked = {}
    for kind in ("dialogues", "pairs", "profiles", "tasks", "ratings", "judgments"):
        page = alice.get(reverse("import_upload"), {"format": kind}).content.decode()
        asked[kind] = [name for name in ("source", "study", "judge") if f'name="{name}"' in page]
    assert asked == {
        "dialogues": ["source"],
        "pairs": ["source"],
        "profiles": ["source"],
        "tasks": ["source"],
        "ratings": ["study"],
        "judgments": ["study", "judge"],
    }


def test_the_page_takes_few_queries(alice, django_assert_max_num_queries):
    with django_assert_max_num_queries(4):
        alice.get(reverse("import_upload"))


def test_material_of_every_kind(alice):
    upload(alice, "profiles", '{"id": "p", "name": "王雪"}')
    upload(alice, "tasks", '{"id": "t", "description": "A table."}')
    upload(alice, "dialogues", dialogue(profile_id="p", task_id="t"))
    upload(alice, "pairs", '{"id": "r", "profile_id": "p", "question": "?", "response_1": "a", "response_2": "b"}')
    assert [model.objects.count() for model in (Profile, Task, Dialogue, ResponsePair)] == [1, 1, 1, 1]
    assert Profile.objects.get().name == "王雪"


def test_the_counts_are_told_and_a_second_time_nothing_changes(alice):
    page = upload(alice, "dialogues", dialogue())
    assert "Imported." in page
    assert '<th scope="row">Dialogues</th><td class="numeric">1</td>' in page
    assert "Nothing changed." in upload(alice, "dialogues", dialogue())
    assert Dialogue.objects.count() == 1


def test_what_was_uploaded_is_shown_as_text(alice):
    upload(alice, "dialogues", dialogue())
    page = alice.get(reverse("dialogue_detail", args=[Dialogue.objects.get().pk])).content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert(1)" not in page
    assert "订一张桌子" in page


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (dialogue() + "\n{", "对话.jsonl, line 2: not JSON"),
        ('{"id": "d"}', "对话.jsonl, line 1, field turns: is missing"),
        (dialogue(profile_id="nobody"), "对话.jsonl, line 1, field profile_id: there is no profile &#x27;nobody&#x27;"),
        ('{"id": "é"}'.encode("latin-1"), "对话.jsonl, line 1: is not UTF-8"),
        (dialogue(id="<b>x</b>", condition="<i>" * 20), "not &quot;&lt;i&gt;&lt;i&gt;"),
        ("", "对话.jsonl: is empty"),
    ],
)
def test_what_is_wrong_is_said_at_the_file_and_nothing_is_kept(alice, content, message):
    page = upload(alice, "dialogues", content)
    assert message in page
    assert 'id="id_file_error"' in page
    assert "Nothing was saved" in page
    assert not Dialogue.objects.exists()


def test_no_file_and_a_bad_source_are_said_at_their_fields(alice):
    page = upload(alice, "dialogues", dialogue(), source="a:b")
    assert 'id="id_source_error"' in page
    response = alice.post(reverse("import_upload"), {"source": "x"})
    assert 'id="id_file_error"' in response.content.decode()


def test_where_no_record_can_be_used_the_page_says_so(alice):
    page = upload(alice, "dialogues", '{"id": "d"}\n{"id": "e"}', skip="on")
    assert "Nothing was imported." in page
    assert "were there already" not in page
    upload(alice, "dialogues", dialogue())
    assert "The others were there already." in upload(alice, "dialogues", dialogue() + '\n{"id": "e"}', skip="on")


def test_bad_records_can_be_left_out_and_are_listed(alice):
    page = upload(alice, "dialogues", dialogue() + '\n{"id": "e"}', skip="on")
    assert "Records that were left out" in page
    assert '<td class="numeric">2</td> <td>turns</td> <td dir="auto">is missing</td>' in page
    assert Dialogue.objects.count() == 1


def test_peoples_ratings_lead_to_their_study(alice):
    factories.DialogueFactory(external_id="a")
    page = upload(alice, "ratings", "item,rater,criterion,value\na,ann,personalization,3\n", study="Pilot")
    assert f'<a href="{reverse("study_detail", args=["pilot"])}">Pilot</a>' in page
    assert Annotation.objects.get().value == "3"


@pytest.mark.each_database
def test_a_judges_ratings(alice):
    factories.DialogueFactory(external_id="a")
    upload(alice, "judgments", "item,criterion,value\na,personalization,3\n", study="Pilot", judge="gpt-x")
    assert Judgment.objects.get().run.judge.name == "gpt-x"


def test_a_rating_off_the_scale_names_its_line(alice):
    factories.DialogueFactory(external_id="a")
    page = upload(alice, "ratings", "item,rater,criterion,value\na,ann,personalization,9\n", "r.csv", study="Pilot")
    assert "r.csv, line 2, field value: &#x27;9&#x27; is not on the scale of Personalization (1, 2, 3, 4)" in page


class TestLimits:
    def test_a_file_above_the_limit_is_refused_at_its_field(self, alice, settings, monkeypatch):
        monkeypatch.setattr("config.middleware.UploadLimitMiddleware.__call__", lambda self, r: self.get_response(r))
        settings.MAX_UPLOAD_BYTES = 1024 * 1024
        page = upload(alice, "dialogues", b" " * (1024 * 1024 + 1))
        assert "has more than 1 MB: import it with the command" in page

    def test_two_gigabytes_are_turned_away_before_they_are_read(self, alice):
        response = alice.post(reverse("import_upload"), {"source": "x"}, headers={"content-length": str(2 * 1024**3)})
        assert response.status_code == 413


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return buffer.getvalue()


class TestFolders:
    """What is a folder on the command line comes as one ZIP file."""

    @pytest.mark.long
    def test_pandalm_with_its_people_and_judges(self, alice, shared_data):
        folder = shared_data / "pandalm"
        files = {f"pandalm/{path.name}": path.read_bytes() for path in sorted(folder.glob("*testset-v1.json"))}
        page = upload(alice, "pandalm", zipped(files), "pandalm.zip")
        assert "The labels are in the study" in page
        assert (ResponsePair.objects.count(), Annotation.objects.count(), Judgment.objects.count()) == (999, 2997, 1998)
        assert "Nothing changed" in upload(alice, "pandalm", zipped(files), "pandalm.zip")

    @pytest.mark.each_database
    def test_a_benchmark_in_personafeedbacks_layout(self, alice):
        case = {"user_id": "u1", "question": "What to cook?", "chosen": "Dal", "reject": "Steak"}
        files = {"set/general/easy.jsonl": json.dumps(case).encode(), "set/persona/u1.json": b'{"Demographics": {}}'}
        page = upload(alice, "benchmark", zipped(files), "set.zip", benchmark="Suppers")
        assert reverse("benchmark_list") in page
        assert Benchmark.objects.get().name == "Suppers"

    def test_what_is_wrong_names_the_file_inside_and_not_where_it_was_unpacked(self, alice):
        page = upload(alice, "pandalm", zipped({"testset-v1.json": b"[{]"}), "mine.zip")
        assert "mine.zip/testset-v1.json" in page
        assert "concord-upload" not in page

    def test_bad_records_that_are_left_out_name_their_file(self, alice):
        good = {"user_id": "u1", "question": "What to cook?", "chosen": "Dal", "reject": "Steak"}
        lines = [json.dumps(one) for one in (good, {**good, "question": 5})]
        files = {"general/easy.jsonl": "\n".join(lines).encode(), "persona/u1.json": b'{"Demographics": {}}'}
        page = upload(alice, "benchmark", zipped(files), "set.zip", skip="on")
        assert "set.zip/general/easy.jsonl" in page
        assert "concord-upload" not in page

    def test_what_is_no_zip_file_is_refused(self, alice):
        assert "not a ZIP file" in upload(alice, "personalens", b"no archive", "lens.zip")


def test_what_is_no_label_in_a_file_of_label_studio_is_reported(alice):
    rating = {"id": "r", "from_name": "nat", "to_name": "t", "type": "rating", "value": {"rating": 4}}
    why = {"id": "w", "from_name": "why", "to_name": "t", "type": "textarea", "value": {"text": ["Because."]}}
    task = {"id": 1, "data": {"dialogue": TURNS}, "annotations": [{"completed_by": 1, "result": [rating, why]}]}
    page = upload(alice, "labelstudio", json.dumps([task]), study="Pilot", source="ls")
    assert "Imported." in page
    assert "1 textarea result was left out: no criterion can be answered so" in page
    task["annotations"][0]["result"] = [why]
    page = upload(alice, "labelstudio", json.dumps([task]), study="Other", source="other")
    assert "holds no answers to any criterion; 1 textarea result was left out" in page


def test_all_forty_of_forty_records_rejected_is_no_success(alice):
    rows = "\n".join(f'{{"id": "d{number}"}}' for number in range(40))
    page = upload(alice, "dialogues", rows, skip="on")
    assert "Nothing was imported." in page
    assert "Records that were left out: 40" in page
    assert "was there already" not in page
    assert "Nothing changed" not in page


def test_a_chat_format_by_name(alice):
    row = {"id": "s1", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}
    assert 'value="sharegpt"' in alice.get(reverse("import_upload"), {"format": "sharegpt"}).content.decode()
    assert "Imported." in upload(alice, "sharegpt", json.dumps(row), source="chats")
    assert Dialogue.objects.get().source == "chats"
