"""The page of a study's files, and the files of other tools as they are downloaded."""

from __future__ import annotations

import io
import json
import sys
import zipfile

import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.corpus.exchange.registry import EXCHANGES
from judging.runs.services import exports, hf_dataset
from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import judge_says, people_say, with_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(client):
    client.force_login(ResearcherFactory())
    made = with_items(4, kind="pair", slug="pilot")
    criterion = CriterionFactory(study=made, preference=True)
    people_say(criterion, {"bob": ["1", "2", "tie", ""]})
    judge_says(criterion, "gpt", ["1", "", "2", "2"], order="AB")
    return made


def body(response) -> io.BytesIO:
    assert response.status_code == 200
    return io.BytesIO(b"".join(response.streaming_content))


def test_the_page_names_every_file_that_fits(client, study):
    page = client.get(reverse("study_files", args=["pilot"])).content.decode()
    for key in ("labelstudio", "argilla", "potato", "doccano", "votes", "hf"):
        assert f"pilot-{key}.zip" in page
    assert "inspect_ai" not in page
    for name in ("csv", "jsonl", "parquet"):
        assert reverse("export", args=["pilot", name]) in page


@pytest.mark.parametrize("key", [key for key, one in EXCHANGES.items() if one.files])
def test_an_archive_holds_the_files_and_says_what_is_not_shown(client, study, key):
    with zipfile.ZipFile(body(client.get(reverse("export_for", args=["pilot", key])))) as archive:
        names = {name.removeprefix(f"pilot-{key}/") for name in archive.namelist()}
        assert names == {*EXCHANGES[key].files, "README.md"}
        assert "does not show" in archive.read(f"pilot-{key}/README.md").decode()


@pytest.mark.parametrize("tool", ["inspect", "nothing"])
def test_what_is_not_written_is_not_found(client, study, tool):
    assert client.get(reverse("export_for", args=["pilot", tool])).status_code == 404


def test_votes_are_not_offered_for_dialogues(client, study):
    with_items(1, slug="talks")
    assert client.get(reverse("export_for", args=["talks", "votes"])).status_code == 404
    assert "talks-votes.zip" not in client.get(reverse("study_files", args=["talks"])).content.decode()


def test_parquet_holds_every_label_with_its_types(client, study):
    table = pq.read_table(body(client.get(reverse("export", args=["pilot", "parquet"]))))
    rows = table.to_pylist()
    assert len(rows) == 8
    told = {name: getattr(row, name) for row in [next(iter(exports.load_labels(study)))] for name in row._fields}
    assert rows[0] == {**told, "evidence": "", "content": ""}


def test_the_dataset_is_a_card_and_two_tables(client, study):
    with zipfile.ZipFile(body(client.get(reverse("export_for", args=["pilot", "hf"])))) as archive:
        items = pq.read_table(io.BytesIO(archive.read("pilot-hf/data/items.parquet"))).to_pylist()
        labels = pq.read_table(io.BytesIO(archive.read("pilot-hf/data/labels.parquet"))).to_pylist()
        card = archive.read("pilot-hf/README.md").decode()
    assert [json.loads(one["record"])["question"] for one in items] == [f"Question {k}?" for k in range(1, 5)]
    assert {one["item_id"] for one in labels} == {one["item_id"] for one in items}
    assert "4 items; 4 labels of people and 4 of judges" in card
    assert "config_name: labels" in card


def test_a_question_of_several_lines_keeps_the_cards_table_whole(study):
    study.criteria.update(question="Which is better:\nshort | long?")
    (row,) = (line for line in hf_dataset.card(study, 4, 4, 4).splitlines() if "short" in line)
    assert row.startswith(f"| {study.criteria.get().key} | Which is better: short \\| long? | ")


def test_the_page_asks_a_fixed_number_of_questions(client, study, django_assert_max_num_queries):
    with django_assert_max_num_queries(20):
        client.get(reverse("study_files", args=["pilot"]))


class TestWithoutPyarrow:
    """An image may leave the package out. What needs it says so before it begins, and all else works."""

    @pytest.fixture(autouse=True)
    def without(self, monkeypatch):
        for name in ("pyarrow", "pyarrow.parquet"):
            monkeypatch.setitem(sys.modules, name, None)

    @pytest.mark.parametrize(
        ("route", "name"), [("export", "parquet"), ("export_for", "hf"), ("tiers_download", "parquet")]
    )
    def test_a_page_says_what_is_missing(self, client, study, route, name):
        answer = client.get(reverse(route, args=["pilot", name]))
        assert answer.status_code == 400
        assert "the Python package pyarrow, which is not installed here" in answer.content.decode()

    @pytest.mark.parametrize("name", ["parquet", "hf"])
    def test_a_command_says_it_and_leaves_nothing(self, study, tmp_path, name):
        with pytest.raises(CommandError, match="pyarrow") as raised:
            call_command("export", study=study.name, format=name, output=tmp_path / "made")
        assert raised.value.returncode == 2
        assert not (tmp_path / "made").exists()

    def test_other_files_are_written(self, client, study):
        assert len(body(client.get(reverse("export", args=["pilot", "csv"]))).read().splitlines()) == 9


def test_a_study_without_labels_says_so_on_the_page_and_on_stderr(client, tmp_path, capsys):
    client.force_login(ResearcherFactory())
    study, out = with_items(3, kind="pair", slug="new"), tmp_path / "labels.csv"
    CriterionFactory(study=study, preference=True)
    assert "No labels yet" in client.get(reverse("study_files", args=["new"])).content.decode()
    call_command("export", study=study.name, format="csv", output=out, json=True)
    said = capsys.readouterr()
    assert "the file has no rows" in said.err
    assert json.loads(said.out)["people"] == 0
    assert len(out.read_text().splitlines()) == 1

    call_command("export", study=study.name, format="hf", output=tmp_path / "hf")
    assert "the file has no rows" not in capsys.readouterr().err
    assert pq.read_table(next((tmp_path / "hf").rglob("*items*.parquet"))).num_rows == 3


def test_a_study_with_labels_says_nothing_of_none(client, study, tmp_path, capsys):
    assert "No labels yet" not in client.get(reverse("study_files", args=["pilot"])).content.decode()
    call_command("export", study=study.name, format="csv", output=tmp_path / "labels.csv")
    assert capsys.readouterr().err == ""
