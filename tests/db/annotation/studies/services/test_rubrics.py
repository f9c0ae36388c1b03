"""A rubric is changed: nothing that labels rest on is lost."""

from __future__ import annotations

import copy

import pytest

from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion, GuidelineVersion, Study
from annotation.studies.parsing.rubrics import parse_rubric
from annotation.studies.queries.criteria import load_rubric
from annotation.studies.queries.guidelines import history
from annotation.studies.services import rubrics, studies
from annotation.workbench.services import annotations, assignments
from core.accounts.models.users import User
from core.audit.models import Act
from core.errors import InputError
from tests.support.answer_types import DIALOGUE, PAIR
from tests.support.people import OpenStudy

RUBRIC = {
    "criterion": [
        {"key": "done", "type": "binary", "question": "Is it done?"},
        {"key": "tone", "type": "ordinal", "question": "How kind?", "category": ["1", "2", "3"]},
        {
            "key": "why",
            "type": "text",
            "question": "Why not?",
            "condition": {"criterion": "done", "values": ["no"]},
            "required": False,
        },
    ]
}


def changed(**criteria) -> dict:
    """The rubric with other fields of some criteria; None leaves one out."""
    document = copy.deepcopy(RUBRIC)
    there = [one | criteria[one["key"]] if criteria.get(one["key"]) else one for one in document["criterion"]]
    return {"criterion": [one for one in there if criteria.get(one["key"], 1) is not None]}


@pytest.fixture
def rated(open_study: OpenStudy, bob: User) -> Study:
    study = open_study([bob], criteria=None, rubric=RUBRIC)
    slot = assignments.lease_next(by=bob, study=study)
    annotations.submit(by=bob, assignment=slot, values={"done": "yes", "tone": "3"})
    return study


def asked(study: Study) -> list[str]:
    return [one.key for one in Study.objects.get(pk=study.pk).asked]


def test_a_study_is_made_with_a_rubric_and_gives_it_back(alice: User) -> None:
    for kind, rubric in (("dialogue", DIALOGUE), ("pair", PAIR)):
        study = studies.create(by=alice, name=kind, kind=kind, rubric=rubric)
        assert load_rubric(study).criteria == parse_rubric(rubric).criteria


def test_a_draft_is_changed_in_place(alice: User) -> None:
    study = studies.create(by=alice, name="Draft", kind="dialogue", rubric=RUBRIC)
    before = dict(study.criteria.values_list("key", "pk"))
    document = changed(tone={"category": ["1", "2"]}, why=None)
    document["criterion"].reverse()
    done = rubrics.change(by=alice, study=study, rubric=document)
    assert (done.added, done.edited, done.removed, done.retired) == ((), ("tone",), ("why",), ())
    assert asked(study) == ["tone", "done"]
    assert dict(study.criteria.values_list("key", "pk")) == {key: before[key] for key in ("tone", "done")}
    assert not GuidelineVersion.objects.exists()
    assert Act.objects.filter(verb="rubric.change").count() == 1


def test_other_texts_are_a_new_version_and_labels_keep_theirs(rated: Study, alice: User) -> None:
    done = rubrics.change(
        by=alice,
        study=rated,
        rubric=changed(tone={"question": "How friendly?", "help": "All in all."}),
        reason="Clearer",
    )
    assert done.edited == ("tone",)
    tone = rated.criteria.get(key="tone")
    assert (tone.guideline_version, tone.question) == (2, "How friendly?")
    assert Annotation.objects.get(criterion=tone).guideline_version == 1
    now, first = history(tone)
    assert (now.row.reason, first.row.question, first.row.rest["help"]) == ("Clearer", "How kind?", "")
    assert [what for what, _ in now.change.parts] == ["Question", "Help"]


def test_another_scale_is_asked_under_another_key(rated: Study, alice: User) -> None:
    document = changed(tone={"category": ["1", "2", "3", "4"]})
    done = rubrics.change(by=alice, study=rated, rubric=document, reason="Finer")
    assert (done.added, done.retired, done.renamed) == (("tone-2",), ("tone",), (("tone", "tone-2"),))
    assert asked(rated) == ["done", "tone-2", "why"]
    old = rated.criteria.get(key="tone")
    assert (old.values, old.is_asked, old.guideline_version) == (["1", "2", "3"], False, 1)
    assert old.name.startswith(f"{rated.criteria.get(key='tone-2').name} (until 20"), "results show both"
    assert Annotation.objects.get(criterion=old).value == "3"


def test_a_condition_follows_the_new_key(rated: Study, alice: User) -> None:
    document = changed(done={"type": "choice", "category": ["yes", "partly", "no"]})
    rubrics.change(by=alice, study=rated, rubric=document, reason="Finer")
    assert rated.criteria.get(key="why").condition == {"criterion": "done-2", "values": ["no"]}


def test_what_is_left_out_is_asked_no_more_and_comes_back(rated: Study, alice: User, bob: User) -> None:
    rubrics.change(by=alice, study=rated, rubric=changed(tone=None), reason="Shorter")
    assert asked(rated) == ["done", "why"]
    slot = assignments.lease_next(by=bob, study=Study.objects.get(pk=rated.pk))
    annotations.submit(by=bob, assignment=slot, values={"done": "yes"})
    assert Annotation.objects.filter(criterion__key="tone").count() == 1
    rubrics.change(by=alice, study=rated, rubric=RUBRIC, reason="As before")
    assert asked(rated) == ["done", "tone", "why"]
    slot = assignments.lease_next(by=bob, study=Study.objects.get(pk=rated.pk))
    with pytest.raises(InputError, match="Tone has no answer yet"):
        annotations.submit(by=bob, assignment=slot, values={"done": "yes"})


def test_labels_on_what_is_asked_no_more_stay_when_an_item_is_handed_in_again(
    rated: Study, alice: User, bob: User
) -> None:
    rubrics.change(by=alice, study=rated, rubric=changed(tone=None), reason="Shorter")
    slot = rated.assignments.get(annotator=bob, state="submitted")
    annotations.submit(by=bob, assignment=slot, values={"done": "no"})
    assert dict(Annotation.objects.values_list("criterion__key", "value")) == {"done": "no", "tone": "3"}


def test_the_same_rubric_changes_nothing(rated: Study, alice: User) -> None:
    change = rubrics.change(by=alice, study=rated, rubric=RUBRIC, reason="Nothing")
    assert not any((change.added, change.edited, change.retired, change.removed))
    assert not GuidelineVersion.objects.exists()


@pytest.mark.parametrize(
    ("rubric", "reason", "field", "said"),
    [
        (RUBRIC, "", "reason", "say why it changes"),
        ({"criterion": []}, "x", "criterion", "needs at least 1"),
        ({**RUBRIC, "kind": "pair"}, "x", "kind", "This rubric is for pairs, and the study has dialogues."),
        (PAIR | {"kind": None}, "x", "criterion.helpful", "a dialogue has none"),
        (changed(tone={"category": ["1"]}), "x", "criterion.tone", "at least two categories"),
    ],
)
def test_a_bad_change_changes_nothing(rated: Study, alice: User, rubric, reason, field, said) -> None:
    before = list(Criterion.objects.order_by("pk").values())
    with pytest.raises(InputError) as caught:
        rubrics.change(by=alice, study=rated, rubric=rubric, reason=reason)
    assert (caught.value.field, said in caught.value.message) == (field, True), caught.value
    assert list(Criterion.objects.order_by("pk").values()) == before


def test_criteria_are_named_or_a_rubric_is_given(alice: User) -> None:
    with pytest.raises(InputError, match="not both"):
        studies.create(by=alice, name="Both", kind="dialogue", criteria=["task_completion"], rubric=RUBRIC)
