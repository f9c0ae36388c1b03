"""Material, studies and items through the API: what the pages do, errors in one shape, pages by key."""

from __future__ import annotations

import pytest
from django.db import connection
from django.utils import timezone

from annotation.corpus.models import Dialogue
from annotation.studies.models.labels import Draft
from annotation.studies.models.studies import Study
from annotation.workbench.services.annotations import NotTheirsError
from tests.support.factories import AssignmentFactory, CriterionFactory, DialogueFactory, ProfileFactory
from tests.support.labelled import people_say, with_items


def test_a_study_from_draft_to_open(rosa, bob):
    DialogueFactory.create_batch(5)
    made = rosa.post("/api/v1/studies", {"name": "Pilot", "kind": "dialogue", "overlap": 2}).json()
    assert (made["slug"], made["state"], made["n_items"]) == ("pilot", "draft", 0)
    here = "/api/v1/studies/pilot"
    sample = rosa.post(f"{here}/samples", {"method": "simple", "size": 3, "seed": 7})
    assert (sample.status_code, sample.json()["frame_size"], sample.json()["size"]) == (201, 5, 3)
    people = rosa.post(f"{here}/annotators", {"annotators": ["bob"]}).json()
    assert [row["annotator"]["username"] for row in people] == ["bob"]
    assert rosa.post(f"{here}/open").json()["state"] == "open"
    assert rosa.get(f"{here}/progress").json()["planned"] == 6
    assert rosa.post(f"{here}/annotators/bob/release").json() == {"n": 0}
    assert rosa.post(f"{here}/close").json()["state"] == "closed"


def test_an_adaptive_study(rosa):
    made = rosa.post("/api/v1/studies", {"name": "Votes", "kind": "pair", "overlap": 3, "most_overlap": 9}).json()
    assert (made["overlap"], made["most_overlap"], made["is_adaptive"]) == (3, 9, True)


def test_a_guideline_is_edited_as_a_version(rosa):
    CriterionFactory(study__slug="suits", key="tone", guideline="Old.")
    here = "/api/v1/studies/suits/criteria/tone"
    answer = rosa.patch(here, {"guideline": "New.", "reason": "clearer"})
    assert answer.status_code == 200
    assert (answer.json()["guideline"], answer.json()["guideline_version"]) == ("New.", 2)
    assert rosa.patch(here, {"guideline": "New.", "reason": "again"}).status_code == 400


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": "X", "kind": "essay"}, "kind"),
        ({"name": "X", "kind": "pair", "overlap": 0}, "overlap"),
        ({"name": "X", "kind": "pair", "most_overlap": 3}, "most_overlap"),
        ({"name": "X", "kind": "pair", "criteria": ["nope"]}, "criteria"),
        ({"name": "X", "kind": "pair", "overlapp": 3}, "overlapp"),
        ({"name": "a\0b", "kind": "pair"}, None),
    ],
)
def test_an_error_names_its_field_in_one_shape(rosa, body, field):
    answer = rosa.post("/api/v1/studies", body)
    problem = answer.json()
    assert answer["Content-Type"] == "application/problem+json"
    assert (answer.status_code, problem["status"], problem["title"]) == (400, 400, "Bad Request")
    assert problem.get("field") == field
    assert not Study.objects.exists()


HALF = r'{"name": "\ud800", "kind": "pair"}'
"""Half of a character, which JSON can say and no database can hold."""


@pytest.mark.parametrize(
    ("text", "kind", "status"),
    [
        ("{", "application/json", 400),
        ("[1]", "application/json", 400),
        (HALF, "application/json", 400),
        ("name=x", "text/plain", 415),
    ],
)
def test_a_body_that_is_none_is_refused(rosa, text, kind, status):
    answer = rosa.generic("POST", "/api/v1/studies", text, content_type=kind)
    assert (answer.status_code, answer.json()["status"]) == (status, status)


def test_what_there_is_not_is_a_problem_too(rosa, client):
    for address in ("/api/v1/studies/none", "/api/v1/nothing", "/api/v1/dialogues/7"):
        answer = rosa.get(address)
        assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")
    assert client.get("/api/v1/studies").status_code == 401
    assert rosa.put("/api/v1/studies").status_code == 405


def test_a_request_that_is_too_large_is_a_problem(rosa, settings):
    settings.MAX_UPLOAD_BYTES = 100
    answer = rosa.post("/api/v1/studies", {"name": "x" * 200})
    assert (answer.status_code, answer.json()["status"]) == (413, 413)


def test_too_many_requests_are_told_to_wait(alice, caller, monkeypatch):
    from core.api.requests import AccountThrottle

    monkeypatch.setattr(AccountThrottle, "get_rate", lambda self: "2/min")
    monkeypatch.setattr(AccountThrottle, "get_cache_key", lambda self, request, view: "test-throttle")
    client = caller(alice, "read")
    answers = [client.get("/api/v1/me") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[-1]["Retry-After"]) > 0
    assert answers[-1]["Content-Type"] == "application/problem+json"


def walked(client, address):
    """All rows of a list, and how many pages they came on."""
    rows, pages = [], 0
    while address:
        answer = client.get(address).json()
        rows, pages, address = [*rows, *answer["results"]], pages + 1, answer["next"]
    return rows, pages


def test_items_come_in_pages_at_a_constant_cost(rosa, django_assert_num_queries):
    with_items(25, slug="suits", kind="pair")
    rosa.get("/api/v1/me")
    rows, pages = walked(rosa, "/api/v1/studies/suits/items?limit=10")
    assert ([row["position"] for row in rows], pages) == (list(range(1, 26)), 3)
    for limit in (1, 20):
        with django_assert_num_queries(4):  # token, the door, study, items
            rosa.get(f"/api/v1/studies/suits/items?limit={limit}&after=3")


def test_lists_of_studies_and_material_cost_the_same_for_more_rows(rosa, django_assert_max_num_queries):
    for number in range(3):
        CriterionFactory(study__name=f"Study {number}")
        DialogueFactory()
    rosa.get("/api/v1/me")
    for address in ("/api/v1/studies", "/api/v1/dialogues", "/api/v1/profiles", "/api/v1/people"):
        with django_assert_max_num_queries(3):
            assert len(rosa.get(address).json()["results"]) >= 1


def test_material_is_found_by_source_and_part_of_an_id(rosa):
    ProfileFactory(external_id="p-17", source="lens")
    ProfileFactory(external_id="p-18")
    found = rosa.get("/api/v1/profiles", {"q": "p-1", "source": "lens"}).json()["results"]
    assert [one["external_id"] for one in found] == ["p-17"]
    assert rosa.get("/api/v1/search", {"q": "p-18"}).json()[0]["names"]
    dialogue = DialogueFactory()
    got = rosa.get(f"/api/v1/dialogues/{dialogue.pk}").json()
    assert got["profile"] == dialogue.scenario.profile_id
    Dialogue.objects.filter(pk=dialogue.pk).update(scenario=None)
    assert rosa.get(f"/api/v1/dialogues/{dialogue.pk}").json()["profile"] is None


def test_labels_come_by_page_and_filter(rosa, alice, bob, django_assert_num_queries):
    study = with_items(6, slug="suits", kind="pair")
    criterion = CriterionFactory(study=study, key="preference", preference=True)
    people_say(criterion, {"bob": ["1"] * 6, "dana": ["2", "1", "tie", "1", "2", "1"]})
    study.annotators.add(bob)
    here = "/api/v1/studies/suits/annotations"
    rows, pages = walked(rosa, f"{here}?limit=5")
    assert (len(rows), pages) == (12, 3)
    assert {row["rater"] for row in walked(rosa, f"{here}?rater=dana")[0]} == {"dana"}
    nobody = rosa.post("/api/v1/studies/suits/exclusions", {"annotator": "nobody", "reason": "too fast"})
    assert (nobody.status_code, nobody.json()["field"]) == (400, "annotator")
    answer = rosa.post("/api/v1/studies/suits/exclusions", {"annotator": "bob", "reason": "too fast"})
    assert answer.status_code == 201
    assert len(walked(rosa, f"{here}?counting=true")[0]) == 6
    locking = connection.vendor == "postgresql"  # a statement of its own there
    with django_assert_num_queries(10 + locking):  # token, the door, study, keys, rows; five are the act
        rosa.get(f"{here}?limit=2&after={rows and 1}")
    assert rosa.post("/api/v1/studies/suits/annotators/bob/readmit", {"reason": "was not"}).json()["ended_at"]


def test_labels_in_bulk_are_all_or_none_and_change_nothing_the_second_time(rosa):
    study = with_items(3, slug="suits", kind="pair")
    CriterionFactory(study=study, key="preference", preference=True)
    here = "/api/v1/studies/suits/annotations"
    rows = [{"item": f"suits-p{n}", "rater": "imp", "value": "1", "order": "AB"} for n in (1, 2, 3)]
    bad = rosa.post(here, {"labels": [*rows, {"item": "nope", "rater": "imp", "value": "1"}]})
    assert (bad.status_code, bad.json()["field"]) == (400, "labels.3.item")
    assert not {"file", "line"} & set(bad.json()), "there is no file"
    twice = rosa.post(here, {"labels": [*rows, {**rows[1], "value": "2"}]}).json()
    assert (twice["field"], twice["detail"]) == ("labels.3.item", "repeats labels.1")
    scale = rosa.post(here, {"labels": [rows[0], {**rows[1], "value": "7"}]}).json()
    assert scale["field"] == "labels.1.value"
    assert rosa.get(here).json()["results"] == []
    assert rosa.post(here, {"labels": rows}).json()["created"]["annotations"] == 3
    again = rosa.post(here, {"labels": rows}).json()
    assert (again["created"]["annotations"], again["unchanged"]["annotations"]) == (0, 3)
    skipped = rosa.post(here, {"labels": [{"item": "nope", "rater": "imp", "value": "1"}], "on_error": "skip"}).json()
    assert [(one["file"], one["line"], one["field"]) for one in skipped["skipped"]] == [(None, None, "labels.0.item")]


def test_late_answers_have_the_position_of_their_own_item(rosa, bob):
    study = with_items(3, slug="suits", kind="pair")
    CriterionFactory(study=study, key="preference", preference=True)
    repeat = AssignmentFactory(item=study.items.get(position=1), annotator=bob, leased=True, purpose="repeat", rank=3)
    Draft.objects.create(
        assignment=repeat, annotator=bob, state="late", late_reason="closed", saved_at=timezone.now(), content={}
    )
    assert [one["position"] for one in rosa.get("/api/v1/studies/suits/late").json()] == [1]


def test_labels_of_turns_in_bulk(rosa):
    study = with_items(1, slug="suits", kind="dialogue")
    CriterionFactory(study=study, key="coherence", unit="assistant_turn")
    here = "/api/v1/studies/suits/annotations"
    row = {"item": "suits-d1", "rater": "imp", "value": study.criteria.get().values[0]}
    assert rosa.post(here, {"labels": [{**row, "turn": 2}]}).json()["created"]["annotations"] == 1
    assert [(one["turn"], one["rater"]) for one in rosa.get(here).json()["results"]] == [(2, "imp@suits")]
    for turn, says in ((0, "asked of turns: say which"), (1, "which turn 1 is not"), (9, "the item has no turn 9")):
        bad = rosa.post(here, {"labels": [{**row, "turn": turn}]})
        assert (bad.status_code, bad.json()["field"]) == (400, "labels.0.turn")
        assert says in bad.json()["detail"]
    late = rosa.post(here, {"labels": [{**row, "turn": 40_000}]})
    assert late.status_code == 400


def test_disputes_are_decided_and_become_gold(rosa):
    study = with_items(2, slug="suits", kind="pair")
    criterion = CriterionFactory(study=study, key="preference", preference=True)
    people_say(criterion, {"bob": ["1", "1"], "dana": ["2", "1"]})
    here = "/api/v1/studies/suits"
    assert [one["position"] for one in rosa.get(f"{here}/disputes").json()["results"]] == [1]
    made = rosa.post(f"{here}/items/1/adjudications", {"criterion": "preference", "value": "2", "reason": "clear"})
    assert (made.status_code, made.json()["decided_by"]) == (201, "alice")
    gold = rosa.get(f"{here}/gold").json()
    assert [item["gold"] for item in gold["items"]] == ["2", "1"]
    tier = rosa.post(f"{here}/items/1/tier", {"criterion": "preference", "tier": "easy", "reason": "it is"})
    assert (tier.status_code, tier.json()["tier"]) == (201, "easy")
    assert rosa.get(f"{here}/gold?criterion=nope").status_code == 400
    assert rosa.get(f"{here}/quality?bootstrap=0").status_code == 200


def test_no_longer_theirs_is_a_conflict():
    from core.api.problems import handler

    answer = handler(NotTheirsError("gone", field="assignment"), {})
    assert answer is not None
    assert answer.status_code == 409
