"""Bob gives answers of every type; each is stored in its canonical form, and comes back as he gave it."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from annotation.quality.forms import GoldQuestionForm
from annotation.quality.services import gold_questions
from annotation.quality.services.gold_questions import GoldAnswer, GoldEntry
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from annotation.studies.queries import asks
from annotation.studies.services import rubrics
from annotation.workbench.services import annotations, assignments, drafts, simulated_annotators
from annotation.workbench.services.simulated_annotators import SimulatedAnnotator
from core.accounts.models.users import User
from core.errors import InputError
from tests.support.answer_types import DIALOGUE, PAIR
from tests.support.people import OpenStudy

SPAN = {"part": "turn-2", "start": 0, "end": 2, "category": "wrong", "severity": "major"}
DONE = {"done": "yes", "share": "50.0", "errors": json.dumps([SPAN])}


@pytest.fixture
def dialogue(open_study: OpenStudy, bob: User) -> Assignment:
    return assignments.lease_next(by=bob, study=open_study([bob], criteria=None, rubric=DIALOGUE))


@pytest.fixture(params=["AB", "BA"])
def pair(request, open_study: OpenStudy, bob: User) -> Assignment:
    slot = assignments.lease_next(by=bob, study=open_study([bob], kind="pair", criteria=None, rubric=PAIR))
    Assignment.objects.filter(pk=slot.pk).update(order=request.param)
    return Assignment.objects.select_related("study", "item__pair").get(pk=slot.pk)


def stored() -> dict[tuple[str, int], tuple[str, object]]:
    found = Annotation.objects.select_related("criterion").order_by("criterion__position", "turn")
    return {(a.criterion.key, a.turn): (a.value, a.content) for a in found}


def submit(bob: User, slot: Assignment, values: dict[str, str], **more) -> None:
    annotations.submit(by=bob, assignment=slot, values=values, **more)
    slot.refresh_from_db()


def refused(bob: User, slot: Assignment, values: dict[str, str], **more) -> tuple[str | None, str]:
    with pytest.raises(InputError) as caught:
        submit(bob, slot, values, **more)
    assert not Annotation.objects.exists()
    return caught.value.field, caught.value.message


def test_answers_of_a_dialogue_are_stored_in_their_canonical_form(dialogue: Assignment, bob: User) -> None:
    text = dialogue.item.dialogue.turns[1]["content"]
    submit(bob, dialogue, DONE | {"critique": " Be kind. ", "better.2": "At eight, then."})
    assert stored() == {
        ("done", 0): ("yes", None),
        ("share", 0): ("50", None),
        ("errors", 0): ("1", [SPAN | {"text": text[:2]}]),
        ("critique", 0): ("2", {"text": "Be kind."}),
        ("better", 2): ("3", {"text": "At eight, then.", "turn": 2}),
    }


def test_what_is_stored_comes_back_as_it_was_given(dialogue: Assignment, bob: User) -> None:
    given = DONE | {"critique": "Be kind.", "better.2": "At eight, then.", "share": "50"}
    submit(bob, dialogue, given)
    asked = asks.asks(dialogue, dialogue.study.asked)
    entered, _ = asks.load_entered(dialogue, bob, asked)
    assert {name: entered[name] for name in given} == given
    annotations.submit(by=bob, assignment=dialogue, values={name: entered.get(name, "") for name in DONE})
    assert ("critique", 0) not in stored()


def test_answers_of_a_pair_name_responses_and_not_sides(pair: Assignment, bob: User) -> None:
    first, second = (pair.sides[side] for side in ("A", "B"))
    texts = {"1": pair.item.pair.response_1, "2": pair.item.pair.response_2}
    span = {"part": "B", "start": 0, "end": 3, "category": "rude"}
    given = {
        "preference": "B",
        "helpful.A": "3",
        "helpful.B": "1",
        "order": "B>A",
        "ends": "A>B",
        "errors.A": "[]",
        "errors.B": json.dumps([span]),
        "better.A": "Better.",
    }
    if second == "1":
        given["why"] = "It is first."
    submit(bob, pair, given)
    better = {("better", int(first)): ("1", {"text": "Better.", "response": int(first)})}
    marked = [span | {"part": f"response-{second}", "text": texts[second][:3]}]
    assert stored() == {
        ("preference", 0): (second, None),
        ("helpful", int(first)): ("3", None),
        ("helpful", int(second)): ("1", None),
        ("order", 0): (f"{second}>{first}", None),
        ("ends", 0): (f"{first}>{second}", None),
        ("errors", int(first)): ("0", []),
        ("errors", int(second)): ("1", marked),
        **({("why", 0): ("3", {"text": "It is first."})} if second == "1" else {}),
        **better,
    }
    asked = asks.asks(pair, pair.study.asked)
    entered, _ = asks.load_entered(pair, bob, asked)
    assert {name: entered[name] for name in given} == given


def test_a_condition_is_on_the_response_and_not_on_the_side(pair: Assignment, bob: User) -> None:
    given = {"helpful.A": "3", "helpful.B": "1", "order": "A=B", "ends": "A>B", "errors.A": "[]", "errors.B": "[]"}
    waits = next(side for side, number in pair.sides.items() if number == "1")
    other = next(side for side, number in pair.sides.items() if number == "2")
    assert refused(bob, pair, given | {"preference": waits}) == ("why", "Why has no answer yet.")
    submit(bob, pair, given | {"preference": other, "why": "Nobody asked."})
    assert ("why", 0) not in stored()
    assert stored()["order", 0] == ("1=2", None)


def test_only_what_is_asked_is_required_and_stored(dialogue: Assignment, bob: User) -> None:
    assert refused(bob, dialogue, DONE | {"done": "no"}) == ("faults", "Faults has no answer yet.")
    submit(bob, dialogue, DONE | {"done": "no", "faults": "size|time"})
    assert stored()["faults", 0] == ("time|size", None)
    submit(bob, dialogue, DONE | {"faults": "size"})
    assert ("faults", 0) not in stored()


def test_a_rewrite_that_is_as_it_was_is_no_answer(dialogue: Assignment, bob: User) -> None:
    text = dialogue.item.dialogue.turns[1]["content"]
    submit(bob, dialogue, DONE | {"better.2": text + "\n"})
    assert ("better", 2) not in stored()


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"share": "51"}, "share", "Share: 51 is not on a step of 5."),
        ({"share": "200"}, "share", "Share: 200 is out of range: from 0 to 100 %."),
        ({"share": ""}, "share", "Share has no answer yet."),
        ({"done": "no", "faults": "weather"}, "faults", "is not on the scale: time, place, size."),
        ({"errors": json.dumps([SPAN | {"part": "turn-1"}])}, "errors", "The marked words are not in what is asked"),
        ({"errors": json.dumps([SPAN | {"severity": "awful"}])}, "errors", "Say how severe"),
        ({"errors": json.dumps([SPAN | {"category": "dull"}])}, "errors", "Say what is marked: wrong, rude."),
        ({"critique": "x" * 20_001}, "critique", "at most 20,000 characters"),
        ({"done": "perhaps"}, "done", "'perhaps' is not on the scale of Done."),
    ],
)
def test_what_is_no_answer_is_refused_at_its_criterion(
    dialogue: Assignment, bob: User, changes: dict[str, str], field: str, said: str
) -> None:
    where, message = refused(bob, dialogue, DONE | changes)
    assert (where, said in message) == (field, True), message


def test_a_note_needs_an_answer_and_a_reason_stands_in_its_place(dialogue: Assignment, bob: User) -> None:
    where, message = refused(bob, dialogue, DONE, notes={"critique": "later"})
    assert (where, message) == (
        "critique",
        "Critique has a note and no answer: give one, or say why you cannot.",
    )
    given = {"done": "yes", "share": "50"}
    submit(bob, dialogue, given, unscored={"errors": "too long", "critique": "no idea"}, notes={"critique": "later"})
    found = Annotation.objects.get(criterion__key="critique")
    assert (found.value, found.content, found.unscored_reason, found.note) == ("", None, "no idea", "later")


def test_a_draft_of_every_type_becomes_labels_when_it_came_too_late(dialogue: Assignment, bob: User, alice) -> None:
    late = drafts.keep_late(by=bob, assignment=dialogue, content=DONE | {"better.2": "So."}, reason="closed")
    drafts.use_late(by=alice, draft=late)
    assert set(stored()) == {("done", 0), ("share", 0), ("errors", 0), ("better", 2)}


def test_only_categories_can_be_known_beforehand(dialogue: Assignment, alice: User) -> None:
    study, item = dialogue.study, dialogue.study.items.last()
    dialogue.study.assignments.filter(item=item).delete()
    entry = GoldEntry(item.external_id, {"share": GoldAnswer("50")})
    with pytest.raises(InputError, match="Share is not a choice"):
        gold_questions.add(by=alice, study=study, purpose="training", entries=[entry], origin="test")
    form = GoldQuestionForm(study=study)
    assert [one.key for one in form.criteria] == ["done"]
    client = Client()
    client.force_login(alice)
    assert client.get(reverse("queue", args=[study.slug])).status_code == 200


def whole_items(study: Study) -> Study:
    """The study without what it asks of turns."""
    rubric = {**DIALOGUE, "criterion": [one for one in DIALOGUE["criterion"] if "unit" not in one]}
    rubrics.change(by=None, study=study, rubric=rubric)
    return Study.objects.get(pk=study.pk)


def test_simulated_annotators_choose_categories_alone(dialogue: Assignment, alice: User) -> None:
    with pytest.raises(InputError, match="Faults is answered otherwise"):
        simulated_annotators.rate(
            by=alice,
            study=whole_items(dialogue.study),
            truth={},
            annotators=[SimulatedAnnotator("sim", 0.8)],
            seed=0,
        )
