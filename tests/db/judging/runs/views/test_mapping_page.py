"""alice brings files as they lie around: each is looked at, mapped and only then imported."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.corpus.models import Dialogue, Profile, ResponsePair, SavedMapping
from annotation.studies.models.labels import Annotation
from core.accounts.models.projects import choose_project
from core.files.staging import find_staging_folder
from core.files.writing import load_arrow
from judging.runs.views.mappings import build_state
from tests.support import factories, messy_files
from tests.support.format_samples import ARENA

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(client):
    client.force_login(factories.ResearcherFactory(username="alice"))
    return client


def send(client, content: str | bytes, name: str = "file.csv") -> str:
    """Upload a file, and give the address of its mapping page."""
    data = content if isinstance(content, bytes) else content.encode()
    response = client.post(reverse("import_table"), {"file": SimpleUploadedFile(name, data)})
    assert response.status_code == 302, response.content.decode()
    return response.url


def bring(client, file: tuple[str, bytes]) -> str:
    return send(client, file[1], file[0])


def said(identity: str) -> list[tuple[str, str]]:
    turns = Dialogue.objects.get(external_id=identity).turns
    return [(turn["role"], turn["content"]) for turn in turns]


def show(client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return words(response)


def words(response) -> str:
    return " ".join(response.content.decode().split())


def press(client, address: str, act: str = "import", **changed) -> str:
    """Press a button of the form as it stands, with some fields changed."""
    form = client.get(address).context["form"]
    return words(client.post(address, {**fill(form), "act": act, **changed}))


def fill(form) -> dict[str, str]:
    """What a browser would send of the form."""
    given = {"shown": build_state(form.mapping)}
    for field in form:
        value = field.value()
        if value is True:
            given[field.name] = "on"
        elif value not in (None, False, "", []):
            given[field.name] = str(value)
    return given


class TestAccess:
    def test_bob_the_annotator_and_charlie_who_is_not_signed_in_do_not_come_in(self, client):
        assert client.get(reverse("import_table")).url.startswith(reverse("login"))
        client.force_login(factories.UserFactory(username="bob"))
        assert client.get(reverse("import_table")).status_code == 403

    def test_a_file_is_shown_to_who_sent_it_alone(self, alice, client):
        address = send(alice, "id,prompt,response\n1,a,b\n")
        client.force_login(factories.ResearcherFactory(username="rosa"))
        assert client.get(address).url == reverse("import_table")


def test_the_first_rows_are_headed_by_what_was_chosen_whether_or_not_it_can_be_used(alice):
    address = send(alice, "id,prompt,response\n1,a,b\n")
    asked = {**fill(alice.get(address).context["form"]), "act": "check"}
    guessed = {name: value for name, value in asked.items() if value in ("prompt", "response")}
    (question, response) = guessed
    for chosen in ({question: "response", response: "prompt"}, {question: "prompt", response: ""}):
        page = alice.post(address, {**asked, **chosen})
        titles = {page.context["form"][name].label: column for name, column in chosen.items() if column}
        assert {title: name for name, title in page.context["preview"]["columns"] if title in titles} == titles
        assert len([1 for name, title in page.context["preview"]["columns"] if title]) == 1 + len(titles), "and the id"


class TestMessyFiles:
    """Ten files through the page, without reading a manual: what is guessed is right, and what is odd is said."""

    def test_semicolons(self, alice):
        address = bring(alice, messy_files.semicolons())
        page = show(alice, address)
        assert "separator semicolon, UTF-8" in page
        assert "2 records can be imported from 2 rows." in page
        page = press(alice, address)
        assert "Imported." in page
        address = f"{reverse('study_create')}?kind=pair&source=table"
        assert f'href="{address.replace("&", "&amp;")}"' in page, "the next step"
        assert alice.get(address).context["form"]["filter_source"].value() == ["table"], "these items and no others"
        first = ResponsePair.objects.get(external_id="1")
        assert (first.question, first.response_1, first.response_2) == ("Wie spät?", "Drei; genau.", "Vier.")

    def test_a_byte_order_mark_is_no_part_of_a_name(self, alice):
        address = bring(alice, messy_files.byte_order_mark())
        assert "UTF-8 with a byte order mark." in show(alice, address)
        assert "Imported." in press(alice, address)
        assert said("1") == [("user", "Grüße?"), ("assistant", "Ja")]

    def test_utf_16_with_tabs(self, alice):
        address = bring(alice, messy_files.utf_16())
        assert "separator tab, UTF-16 with a byte order mark" in show(alice, address)
        assert "Imported." in press(alice, address)
        assert said("2") == [("user", "苹果?"), ("assistant", "Nein")]

    def test_windows_1252(self, alice):
        address = bring(alice, messy_files.windows_1252())
        assert "separator comma, Windows-1252 (Western European)." in show(alice, address)
        page = press(alice, address)
        assert "Read as Windows-1252 (Western European)." in page
        assert said("1") == [("user", "Café?"), ("assistant", "Oui – 5 €")]

    def test_another_encoding_can_be_chosen(self, alice):
        address = send(alice, "id,prompt,response\n1,Привет,да\n".encode("cp1251"))
        assert "Ïðèâåò" in show(alice, address)
        assert "Привет" in press(alice, address, "check", encoding="cp1251")
        wrong = press(alice, address, "check", encoding="utf-16-le")
        assert "The mapping is not complete." in wrong

    def test_duplicates_and_blanks_are_listed_before_anything_is_imported(self, alice):
        address = bring(alice, messy_files.duplicate_ids())
        page = show(alice, address)
        assert "4 records can be imported from 6 rows; 1 row cannot be used." in page
        assert "Rows that repeat an earlier row are imported once: 1." in page
        assert "the id &#x27;b&#x27; is on line 4 already" in page
        assert '<th scope="row" dir="auto">prompt</th> <td class="numeric">1</td> <td>6</td>' in page
        assert not Dialogue.objects.exists()
        assert "twice.csv, line 5, field id: the id &#x27;b&#x27; is on line 4 already" in press(alice, address)
        assert not Dialogue.objects.exists()
        assert "Imported." in press(alice, address, on_error="skip")
        assert sorted(Dialogue.objects.values_list("external_id", flat=True)) == ["a", "b", "c", "d"]

    def test_ragged_rows(self, alice):
        address = bring(alice, messy_files.ragged_rows())
        page = show(alice, address)
        assert "1 row has fewer cells than there are columns; the missing ones count as empty" in page
        assert "has 4 cells where the first row names 3 columns" in page
        assert "Imported." in press(alice, address, on_error="skip")
        assert sorted(Dialogue.objects.values_list("external_id", flat=True)) == ["1", "3", "4"]

    @pytest.mark.any_database
    def test_excel_dates_and_sheets(self, alice):
        address = bring(alice, messy_files.excel_dates())
        page = show(alice, address)
        assert "The workbook has 2 sheets; Data is read." in page
        assert "2025-01-01T12:00:00" in page
        assert "Imported." in press(alice, address)
        rows = ResponsePair.objects.order_by("external_id")
        assert [(row.external_id, row.extra) for row in rows] == [
            ("1", {"Asked on": "2025-01-01"}),
            ("2", {"Asked on": "2025-01-01T12:00:00"}),
        ]
        assert "has no" not in press(alice, bring(alice, messy_files.excel_dates()), "check", sheet="Data")

    @pytest.mark.any_database
    @pytest.mark.long
    def test_a_long_file(self, alice):
        address = bring(alice, messy_files.long_jsonl())
        assert "3,000 records can be imported from 3,000 rows." in show(alice, address)
        assert "Imported." in press(alice, address)
        assert Dialogue.objects.count() == 3000

    def test_nested_values_have_paths_with_dots(self, alice):
        address = bring(alice, messy_files.nested_json())
        page = show(alice, address)
        assert "The rows are in the list records of the document." in page
        assert 'value="data.messages" selected' in page
        assert "Imported." in press(
            alice, address, column_id="meta.ids.external", column_assistant_model="meta.model.name"
        )
        assert said("x2") == [("user", "Ask"), ("assistant", "Answer 2")]
        assert Dialogue.objects.get(external_id="x2").assistant_model == "m-1"

    def test_empty_columns(self, alice):
        address = bring(alice, messy_files.empty_columns())
        page = show(alice, address)
        assert "Column 3 has no name; it is called column 3 here." in page
        assert "There are several columns named prompt; it is called prompt (2) here." in page
        assert "comment (empty)" in page
        assert "Imported." in press(alice, address)
        assert Dialogue.objects.get(external_id="1").extra == {"prompt (2)": "again"}


class TestWhatIsWrong:
    @pytest.fixture
    def address(self, alice) -> str:
        return send(alice, "id,question,a,b,note\n1,What?,x,y,\n")

    def test_one_column_twice(self, alice, address):
        page = press(alice, address, column_context="question")
        assert "Question and context both name the column &#x27;question&#x27;" in page
        assert 'id="id_column_context_error"' in page
        assert not ResponsePair.objects.exists()

    def test_a_column_that_is_not_there(self, alice, address):
        columns = {"question": "questoin", "response_1": "a", "response_2": "b"}
        saved = SavedMapping.objects.create(
            project=choose_project(None), name="Typo", document={"kind": "pairs", "columns": columns}
        )
        page = words(alice.post(address, {"act": "use", "use": saved.pk}))
        assert "there is no column &#x27;questoin&#x27;. Is &#x27;question&#x27; meant?" in page
        assert "The file has: id, question, a, b, note" in page
        assert "Select a valid choice." in press(alice, address, column_question="questoin")
        assert not ResponsePair.objects.exists()

    @pytest.mark.any_database
    def test_a_field_without_a_column(self, alice, address):
        page = press(alice, address, column_response_1="")
        ways = "Response 1 and Response 2; or All responses; or Chosen response and Rejected response."
        assert f"Response pairs need: {ways}" in page
        assert 'id="id_column_response_1_error"' in page

    @pytest.mark.parametrize(
        ("content", "name", "message"),
        [
            ("id,prompt,response\n", "head.csv", "head.csv: names columns but has no rows"),
            ("", "nothing.csv", "nothing.csv: is empty"),
            ("[]", "nothing.json", "nothing.json: names columns but has no rows"),
            ('{"a": 1', "broken.json", "broken.json, line 1: not JSON"),
            (b"PK\x03\x04broken", "broken.xlsx", "broken.xlsx: is not a ZIP file that can be read"),
            (b"PAR1broken", "broken.parquet", "broken.parquet: is not a Parquet file that can be read"),
            (b"\x89PNG\r\n\x1a\n" + bytes(200), "photo.png", "photo.png: is not text; a table is CSV, TSV, Excel"),
            (b"\xd0\xcf\x11\xe0\xa1\xb1", "old.xls", "is an Excel file of before 2007"),
        ],
    )
    def test_files_without_rows(self, alice, content, name, message):
        page = show(alice, send(alice, content, name))
        assert message in page
        assert 'id="id_file_error"' in page

    def test_a_file_that_is_gone(self, alice, address):
        for path in find_staging_folder().glob("*"):
            path.unlink()
        page = words(alice.get(address, follow=True))
        assert "That file is no longer here" in page

    def test_what_stands_in_a_file_is_shown_as_text(self, alice):
        evil = "<script>alert(1)</script>"
        page = show(alice, send(alice, f"id,prompt,{evil}\n1,{evil},x\n", f"{evil}.csv"))
        assert evil not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


class TestMappings:
    def test_a_mapping_is_saved_used_again_downloaded_and_deleted(self, alice):
        address = bring(alice, messy_files.semicolons())
        assert "The mapping is saved as Deutsch." in press(
            alice, address, "save", name="Deutsch", column_context="Nr", column_id=""
        )
        saved = SavedMapping.objects.get()
        assert saved.document["columns"]["context"] == "Nr"
        page = words(alice.post(bring(alice, messy_files.semicolons()), {"act": "use", "use": saved.pk}))
        assert 'value="Nr" selected' in page.partition('name="column_context"')[2].partition("</select>")[0]
        file = alice.get(reverse("mapping_download", args=[saved.pk]))
        assert json.loads(file.content) == saved.document
        assert file["Content-Disposition"] == 'attachment; filename="Deutsch.json"'
        assert "Deutsch" in words(alice.get(reverse("import_table")))
        alice.post(reverse("mapping_delete", args=[saved.pk]))
        assert not SavedMapping.objects.exists()

    def test_without_a_name_it_is_not_saved(self, alice):
        page = press(alice, bring(alice, messy_files.semicolons()), "save")
        assert "Give the mapping a name." in page
        assert not SavedMapping.objects.exists()

    def test_what_is_downloaded_is_the_mapping_as_it_stands(self, alice):
        address = bring(alice, messy_files.semicolons())
        form = alice.get(address).context["form"]
        file = alice.post(address, {**fill(form), "act": "download"})
        assert json.loads(file.content) == {
            "kind": "pairs",
            "columns": {"id": "Nr", "question": "Frage", "response_1": "Antwort A", "response_2": "Antwort B"},
        }

    def test_other_kinds_guess_their_own_columns(self, alice):
        address = send(alice, "id,persona,city\np1,A gardener.,Ulm\n")
        assert 'value="profiles" selected' in show(alice, address)
        assert "Description" in press(alice, address, what="tasks")
        assert "Imported." in press(alice, address)
        assert Profile.objects.get().extra == {"city": "Ulm"}

    def test_labels_by_a_column_of_values(self, alice):
        factories.DialogueFactory(external_id="d1")
        address = send(alice, "Dialogue;Coder;Naturalness;Remark\nd1;ann;4;fine\n")
        page = press(
            alice,
            address,
            "check",
            what="ratings",
        )
        assert "People&#x27;s labels" in page
        form = alice.post(address, {"what": "ratings", "act": "check"}).context["form"]
        given = fill(form) | {
            "column_value": "Naturalness",
            "constant_criterion": "naturalness_assistant",
            "study": "Pilot",
        }
        page = words(alice.post(address, {**given, "act": "import"}))
        assert "Imported." in page
        assert Annotation.objects.get().value == "4"

    def test_a_wide_table_in_which_each_rater_has_a_column(self, alice):
        for number in (1, 2):
            factories.DialogueFactory(external_id=f"d{number}")
        address = send(alice, "dialogue,anna,ben\nd1,4,5\nd2,,3\n")
        form = alice.post(address, {"what": "ratings", "act": "check"}).context["form"]
        given = fill(form) | {
            "column_item": "dialogue",
            "constant_criterion": "naturalness_assistant",
            "study": "Pilot",
        }
        missing = words(alice.post(address, {**given, "act": "import"}))
        assert "If each rater has a column, choose these columns as raters." in missing
        given = {**given, "raters": ["anna", "ben"], "act": "import"}
        assert "3 labels can be imported from 2 rows." in words(alice.post(address, {**given, "act": "check"}))
        twice = words(alice.post(address, {**given, "column_order": "anna"}))
        assert "both name the column &#x27;anna&#x27;" in twice
        assert "Imported." in words(alice.post(address, given))
        labels = Annotation.objects.values_list("assignment__annotator__display_name", "value")
        assert sorted(labels) == [("anna", "4"), ("ben", "3"), ("ben", "5")]


class TestSamples:
    @pytest.mark.long
    def test_rows_are_drawn_by_rule_and_keep_their_probability(self, alice):
        address = bring(alice, messy_files.long_jsonl(1000))
        rules = {
            "rule_1_column": "score",
            "rule_1_relation": "below",
            "rule_1_value": "1",
            "rule_1_share": "100",
            "rest": "10",
            "seed": "7",
        }
        page = press(alice, address, "check", **rules)
        assert "Kept 200 of 200 rows where score is below 1." in page
        assert "Imported." in press(alice, address, **rules)
        found = Dialogue.objects.values_list("extra__score", "inclusion_probability")
        assert {score: p for score, p in found if score == 0} == {0: 1.0}
        rest = [p for score, p in found if score != 0]
        assert set(rest) == {0.1}
        assert 50 < len(rest) < 110
        drawn = Dialogue.objects.filter(inclusion_probability__lt=1).first()
        page = words(alice.get(reverse("dialogue_detail", args=[drawn.pk])))
        assert "drawn from its file with the probability 0.100" in page

    def test_a_rule_without_a_number_is_refused_at_its_field(self, alice):
        address = bring(alice, messy_files.long_jsonl(10))
        page = press(alice, address, "check", rule_1_column="score", rule_1_relation="below", rule_1_value="low")
        assert "Is below needs a number to compare with" in page
        assert 'id="id_rule_1_value_error"' in page


class TestFormats:
    def test_a_chat_format_is_recognised(self, alice):
        row = {"id": "s1", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}
        address = send(alice, json.dumps(row), "chats.jsonl")
        page = show(alice, address)
        assert 'value="format:sharegpt" selected' in page
        assert "Imported." in press(alice, address)
        assert Dialogue.objects.get().source == "sharegpt"

    @pytest.mark.parametrize(
        ("row", "key"),
        [
            ({"id": 1, "data": {"text": "Hi"}, "annotations": []}, "labelstudio"),
            ({"id": "1", "fields": {"text": "Hi"}, "responses": {}}, "argilla"),
            (ARENA, "votes"),
        ],
    )
    def test_an_export_that_brings_labels_is_recognised(self, alice, row, key):
        page = show(alice, send(alice, json.dumps([row]), "export.json"))
        assert f'href="{reverse("import_upload")}?format={key}"' in page

    def test_a_dataset_in_a_zip_file(self, alice):
        arrow = load_arrow()
        packed, file = io.BytesIO(), io.BytesIO()
        arrow.parquet.write_table(arrow.table({"id": ["1"], "prompt": ["Why?"], "response": ["So."]}), file)
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("data/train-00000-of-00001.parquet", file.getvalue())
            archive.writestr("README.md", "# A dataset")
        address = send(alice, packed.getvalue(), "dataset.zip")
        assert "folder of Hugging Face datasets" in show(alice, address)
        assert "Imported." in press(alice, address)
        assert Dialogue.objects.get().extra == {"split": "train"}
