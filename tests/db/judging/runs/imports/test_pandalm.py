"""PandaLM: a made-up folder for every rule, the real one for its published figures."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from annotation.corpus.models import ResponsePair
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.errors import InputError
from judging.judges.models import Judge
from judging.runs.imports import pandalm
from judging.runs.models.runs import JudgeRun, Judgment
from tests.support.factories import JudgeFactory, StudyFactory

pytestmark = pytest.mark.django_db


def comparison(idx: int, **more) -> dict:
    return {
        "idx": idx,
        "motivation_app": "写作",
        "cmp_key": "bloom-7b_cerebras-gpt-6.7B",
        "instruction": "Shorten it.",
        "input": "A long text.",
        "response1": "Short.",
        "response2": "<script>alert(1)</script>",
        "annotator1": 1,
        "annotator2": 2,
        "annotator3": 0,
    } | more


def verdict(idx: int, prefix: str, result) -> dict:
    return {"idx": idx, f"{prefix}_result": result, f"{prefix}_reason": f"why {idx}", f"{prefix}_reference": "ref"}


@pytest.fixture
def folder(tmp_path):
    def write(name: str, rows: list) -> None:
        (tmp_path / name).write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")

    write("testset-v1.json", [comparison(0), comparison(7, response1=True)])
    write("gpt-3.5-turbo-testset-v1.json", [verdict(0, "gpt", "Tie"), verdict(7, "gpt", "garbage")])
    write("pandalm-7b-testset-v1.json", [verdict(0, "pandalm", 0), verdict(7, "pandalm", 2)])
    return tmp_path


def load(folder, **options) -> dict:
    return pandalm.load(by=None, folder=folder, **options).to_document()


def test_pairs_people_and_judges_are_one_closed_study(folder):
    document = load(folder)
    assert document["study"] == "PandaLM"
    assert document["created"] == {"pairs": 2, "annotators": 3, "annotations": 6, "judges": 2, "judgments": 4}
    study = Study.objects.get(name="PandaLM")
    assert (study.kind, study.state, study.overlap) == ("pair", "closed", 3)
    assert [c["value"] for c in study.criteria.get().categories] == ["1", "2", "tie"]
    assert [item.pair.external_id for item in study.items.all()] == ["0", "7"]
    assert study.samples.get().method == "all"


def test_a_pair_is_kept_whole(folder):
    load(folder)
    pair = ResponsePair.objects.get(source="pandalm", external_id="0")
    assert (pair.question, pair.context, pair.response_1) == ("Shorten it.", "A long text.", "Short.")
    assert pair.response_2 == "<script>alert(1)</script>"
    assert (pair.model_1, pair.model_2) == ("bloom-7b", "cerebras-gpt-6.7B")
    assert pair.extra == {"motivation_app": "写作"}
    assert pair.source_label == ""
    assert ResponsePair.objects.get(external_id="7").response_1 == "True"


def test_annotators_are_imported_accounts_that_cannot_sign_in(folder):
    load(folder)
    user = User.objects.get(username="annotator1@pandalm")
    assert (user.kind, user.display_name) == ("imported", "annotator1")
    assert not user.has_usable_password()
    slot = Assignment.objects.get(annotator=user, item__pair__external_id="0")
    assert (slot.state, slot.order) == ("submitted", "")
    values = dict(
        Annotation.objects.filter(assignment__item__pair__external_id="0").values_list(
            "assignment__annotator__display_name", "value"
        )
    )
    assert values == {"annotator1": "1", "annotator2": "2", "annotator3": "tie"}


def test_a_reply_that_is_no_choice_is_unscored_with_its_explanation(folder):
    load(folder)
    judgment = Judgment.objects.get(run__judge__name="gpt-3.5-turbo", item__pair__external_id="7")
    assert (judgment.value, judgment.unscored_reason, judgment.explanation) == ("", "unparsable", "why 7")
    assert judgment.details == {"result": "garbage", "reference": "ref"}
    assert Judgment.objects.get(run__judge__name="pandalm-7b", item__pair__external_id="0").value == "tie"
    assert {judge.provider for judge in Judge.objects.all()} == {"imported"}
    assert all(run.finished_at for run in JudgeRun.objects.all())


def test_a_second_import_changes_nothing(folder):
    created = load(folder)["created"]
    again = load(folder)
    assert again["unchanged"] == created
    assert not any(again["created"].values())
    assert not any(again["updated"].values())


def test_a_changed_choice_is_updated_and_a_changed_pair_is_told(folder):
    load(folder)
    rows = [comparison(0, annotator1=2, response1="Shorter."), comparison(7, response1=True)]
    (folder / "testset-v1.json").write_text(json.dumps(rows))
    document = load(folder)
    assert document["updated"] == {"pairs": 1, "annotators": 0, "annotations": 1, "judges": 0, "judgments": 0}
    assert document["warnings"] == ["1 changed records are items of studies: labels given before are of earlier text"]


def test_a_judge_may_be_absent(folder):
    (folder / "pandalm-7b-testset-v1.json").unlink()
    assert load(folder)["created"]["judges"] == 1


def test_a_name_that_a_real_judge_has_gets_a_new_version(folder):
    JudgeFactory(name="gpt-3.5-turbo", provider="openai")
    load(folder)
    assert [judge.version for judge in Judge.objects.filter(name="gpt-3.5-turbo")] == [1, 2]


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("testset-v1.json", {"a": 1}, "testset-v1.json, line 1: a JSON list of records is expected"),
        ("testset-v1.json", [comparison(0), comparison(0)], "line 15, field idx: the idx 0 is there twice"),
        ("testset-v1.json", [comparison(0, annotator2=3)], "line 11, field annotator2: should be 0, 1 or 2, not 3"),
        ("testset-v1.json", [{"idx": 1}], "line 2, field cmp_key: is missing"),
        ("gpt-3.5-turbo-testset-v1.json", [verdict(5, "gpt", "1")], "line 3, field idx: no pair has the idx 5"),
        ("gpt-3.5-turbo-testset-v1.json", [{"idx": 0}], "line 2, field gpt_result: is missing"),
    ],
)
def test_a_bad_file_is_named_and_nothing_is_kept(folder, name, rows, message):
    (folder / name).write_text(json.dumps(rows, indent=1))
    with pytest.raises(InputError) as caught:
        load(folder)
    assert message in str(caught.value)
    assert not ResponsePair.objects.exists()
    assert not User.objects.exists()


def test_a_folder_of_something_else_says_so(tmp_path):
    with pytest.raises(InputError, match=r"testset-v1.json: does not exist"):
        load(tmp_path)


def test_a_study_of_the_same_name_and_another_kind(folder):
    StudyFactory(name="PandaLM", slug="pandalm", kind="dialogue")
    with pytest.raises(InputError, match="another study called 'PandaLM'"):
        load(folder)


def test_skip_keeps_the_good_rest(folder):
    rows = [comparison(0), comparison(3, annotator1="x")]
    (folder / "testset-v1.json").write_text(json.dumps(rows))
    document = load(folder, on_error="skip")
    assert document["created"]["pairs"] == 1
    assert [row["field"] for row in document["skipped"]] == ["annotator1", "idx", "idx"]


@pytest.mark.long
def test_the_published_figures(shared_data):
    """999 pairs; majority 105 ties, 422 and 472 (README of PandaLM); 25 replies of a judge are unparsable."""
    document = load(shared_data / "pandalm")
    assert document["created"] == {
        "pairs": 999,
        "annotators": 3,
        "annotations": 2997,
        "judges": 2,
        "judgments": 1998,
    }
    assert Judgment.objects.filter(unscored_reason="unparsable").count() == 25
    votes: dict[int, Counter[str]] = {}
    for item, value in Annotation.objects.values_list("assignment__item", "value"):
        votes.setdefault(item, Counter())[value] += 1
    majority = Counter(counter.most_common(1)[0][0] for counter in votes.values())
    assert majority == {"tie": 105, "1": 422, "2": 472}
    assert load(shared_data / "pandalm")["unchanged"] == document["created"]
