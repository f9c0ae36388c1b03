"""An annotator's own work through the API: the next item, labels, and nothing that they must not see."""

from __future__ import annotations

import json

import pytest

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation, Draft
from annotation.studies.services import studies
from annotation.workbench.assignment_names import to_name
from annotation.workbench.services import annotations, assignments
from tests.support.factories import CriterionFactory, JudgeFactory, JudgmentFactory, UserFactory
from tests.support.labelled import with_items


@pytest.fixture
def study(bob):
    study = with_items(3, kind="pair", name="Suits", slug="suits", overlap=2)
    study.items.first().pair.__class__.objects.update(model_1="gpt-secret", model_2="llama-secret", source_label="2")
    CriterionFactory(study=study, key="preference", preference=True)
    study.annotators.add(bob)
    studies.open(by=None, study=study)
    return study


@pytest.fixture
def bobs(bob, caller):
    return caller(bob, "annotate")


def rated_by_dana(study) -> None:
    """Another annotator has handed all items in."""
    dana = UserFactory(username="dana")
    study.annotators.add(dana)
    while slot := assignments.lease_next(by=dana, study=study):
        annotations.submit(by=dana, assignment=slot, values={"preference": "A"})


def test_bob_takes_items_and_hands_labels_in(study, bobs, bob):
    assert bobs.get("/api/v1/work").json() == [
        {"study": "suits", "name": "Suits", "instructions": "", "rated": 0, "left": 3}
    ]
    for _ in range(3):
        item = bobs.post("/api/v1/work/suits/next", {}).json()
        assert sorted(item["responses"]) == ["A", "B"]
        assert item["asks"] == ["preference"]
        body = {"answers": {"preference": {"value": "A", "note": "nicer"}}, "active_seconds": 1}
        answer = bobs.put(f"/api/v1/work/items/{item['id']}/answers", body)
        assert (answer.status_code, answer.json()["state"]) == (200, "submitted")
    assert bobs.post("/api/v1/work/suits/next", {}).status_code == 204
    for label in Annotation.objects.select_related("assignment"):
        assert label.value == label.assignment.sides["A"]
    assert bobs.get(f"/api/v1/work/items/{item['id']}").json()["entered"]["preference"] == "A"


def test_bob_sees_nothing_of_judges_others_or_sources(study, bobs):
    rated_by_dana(study)
    JudgmentFactory(
        run__study=study,
        run__judge=JudgeFactory(name="judge-secret", provider="baseline"),
        item=study.items.first(),
        criterion=study.criteria.first(),
        explanation="explanation-secret",
        order="AB",
    )
    item = bobs.post("/api/v1/work/suits/next", {})
    seen = item.content + bobs.get("/api/v1/work").content
    seen += bobs.get(f"/api/v1/work/items/{item.json()['id']}").content
    for hidden in (b"secret", b"dana", b"source", b"suits-p", b'"order"', b"model"):
        assert hidden not in seen


def test_bob_reaches_nobody_elses_slot(study, bobs):
    rated_by_dana(study)
    foreign = Assignment.objects.filter(annotator__username="dana").first()
    assert foreign
    open_slot = Assignment.objects.filter(state="open").first()
    assert open_slot
    for slot in (foreign, open_slot):
        here = f"/api/v1/work/items/{to_name(slot.pk)}"
        assert bobs.get(here).status_code == 404
        assert bobs.put(f"{here}/answers", {"answers": {"preference": {"value": "A"}}}).status_code == 404
        assert bobs.post(f"{here}/skip").status_code == 404
        assert bobs.patch(f"{here}/draft", {"changes": {"preference": "A"}}).status_code == 404


def test_every_address_but_bobs_own_is_closed_to_bob(study, bobs):
    for address in ("studies", "studies/suits/annotations", "studies/suits/items", "judges", "runs", "dialogues"):
        assert bobs.get(f"/api/v1/{address}").status_code == 403


def test_charlie_is_not_handed_items_of_a_study_that_is_not_theirs(study, charlie, caller):
    assert caller(charlie, "annotate").post("/api/v1/work/suits/next", {}).status_code == 404


@pytest.mark.parametrize(
    ("answers", "field"),
    [
        ({}, "preference"),
        ({"preference": {"value": "C"}}, "preference"),
        ({"preference": {"value": "A", "unscored_reason": "both"}}, "preference"),
        ({"nope": {"value": "A"}}, "nope"),
        ({"preference": {"value": "A", "evidence": [{"part": "A", "start": 0, "end": 9999}]}}, "preference"),
        ({"preference": {"value": "A", "guideline_version": 9}}, "preference"),
    ],
)
def test_answers_that_do_not_fit_are_refused_with_their_field(study, bobs, answers, field):
    item = bobs.post("/api/v1/work/suits/next", {}).json()
    answer = bobs.put(f"/api/v1/work/items/{item['id']}/answers", {"answers": answers})
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert not Annotation.objects.exists()


def test_evidence_skips_drafts_and_putting_back(study, bobs):
    item = bobs.post("/api/v1/work/suits/next", {}).json()
    here = f"/api/v1/work/items/{item['id']}"
    kept = bobs.patch(f"{here}/draft", {"changes": {"preference-note": "hm", "nope": "x"}}).json()
    assert kept["content"] == {"preference-note": "hm"}
    assert bobs.get(here).json()["entered"] == {"preference-note": "hm"}
    assert bobs.post(f"{here}/put-back").json() == {"freed": False}
    assert bobs.post(f"{here}/skip").json()["state"] == "skipped"
    mark = {"part": "A", "start": 0, "end": 5}
    bobs.put(f"{here}/answers", {"answers": {"preference": {"value": "tie", "evidence": [mark]}}})
    assert json.loads(json.dumps(Annotation.objects.get().evidence))[0]["text"] == item["responses"]["A"][:5]
    other = bobs.post("/api/v1/work/suits/next", {}).json()
    assert bobs.post(f"/api/v1/work/items/{other['id']}/put-back").json() == {"freed": True}


def test_answers_to_a_closed_study_are_kept_for_the_researcher(study, bobs, rosa, bob):
    item = bobs.post("/api/v1/work/suits/next", {}).json()
    rosa.post("/api/v1/studies/suits/close")
    here = f"/api/v1/work/items/{item['id']}/answers"
    answer = bobs.put(here, {"answers": {"preference": {"value": "A"}}}, headers={"Idempotency-Key": "late"})
    assert answer.status_code == 409
    assert Draft.objects.get().state == "late"
    (waiting,) = rosa.get("/api/v1/studies/suits/late").json()
    used = rosa.post(f"/api/v1/studies/suits/late/{waiting['id']}", {"decision": "use"})
    assert used.json()["state"] == "used"
    assert Annotation.objects.get().assignment.annotator == bob


def test_the_next_item_costs_the_same_whatever_was_rated(study, bobs, django_assert_max_num_queries):
    bobs.get("/api/v1/me")
    for _ in range(2):
        with django_assert_max_num_queries(14):
            item = bobs.post("/api/v1/work/suits/next", {}).json()
        with django_assert_max_num_queries(14):
            bobs.put(f"/api/v1/work/items/{item['id']}/answers", {"answers": {"preference": {"value": "B"}}})


def test_an_id_tells_nothing_and_numbers_open_nothing(bobs, study):
    item = bobs.post(f"/api/v1/work/{study.slug}/next").json()
    assert item["id"].isalpha()
    slot = study.assignments.get(state="leased")
    assert bobs.get(f"/api/v1/work/items/{slot.pk}").status_code == 404
    assert bobs.get(f"/api/v1/work/items/{item['id']}").status_code == 200
