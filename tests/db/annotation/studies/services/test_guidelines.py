"""Alice edits a guideline while bob rates."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import GuidelineVersion
from annotation.studies.options import LONGEST_TEXT
from annotation.studies.queries import asks, guidelines as queries, ratings
from annotation.studies.services import guidelines
from annotation.workbench.queries import work
from annotation.workbench.services import annotations, assignments, drafts
from core.accounts.models.users import User
from core.errors import InputError
from tests.support.factories import AnnotationFactory, CriterionFactory, JudgmentFactory, scale
from tests.support.people import OpenStudy

GOOD = {"task_completion": "yes", "personalization": "3"}
pytestmark = pytest.mark.django_db


def test_an_edit_is_a_new_version_and_the_first_text_stays_on_record(alice: User) -> None:
    criterion = CriterionFactory(question="How well?", guideline="Look at the start.")
    made = guidelines.edit(by=alice, criterion=criterion, guideline="Look at the end.", reason="The start says little.")
    criterion.refresh_from_db()
    assert (criterion.guideline, criterion.guideline_version) == ("Look at the end.", 2)
    first, second = GuidelineVersion.objects.filter(criterion=criterion)
    assert (first.version, first.guideline, first.reason) == (1, "Look at the start.", "")
    assert (second, second.version, second.created_by) == (made, 2, alice)
    assert second.question == "How well?"
    guidelines.edit(by=None, criterion=criterion, question="How well does it fit?", reason="Clearer.")
    assert criterion.guideline_versions.count() == 3


def test_a_version_stands_once(alice: User) -> None:
    criterion = CriterionFactory()
    guidelines.edit(by=alice, criterion=criterion, guideline="New.", reason="Why not.")
    row = criterion.guideline_versions.get(version=2)
    row.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save(force_insert=True)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"guideline": "New."}, "reason"),
        ({"reason": "Because."}, "guideline"),
        ({"reason": "Because.", "question": " "}, "question"),
        ({"reason": "Because.", "guideline": "a\0b"}, "guideline"),
        ({"reason": "Because.", "guideline": "x" * (LONGEST_TEXT + 1)}, "guideline"),
        ({"reason": "Because.", "categories": [{"value": "1"}]}, "categories"),
        ({"reason": "Because.", "categories": [{"value": "1"}, {"value": "1"}]}, "categories"),
    ],
)
def test_what_cannot_be_a_version_is_refused(alice: User, given, field: str) -> None:
    criterion = CriterionFactory()
    with pytest.raises(InputError) as wrong:
        guidelines.edit(by=alice, criterion=criterion, **{"reason": "", **given})
    assert wrong.value.field == field
    criterion.refresh_from_db()
    assert criterion.guideline_version == 1
    assert not GuidelineVersion.objects.exists()


@pytest.mark.parametrize("resting", [AnnotationFactory, JudgmentFactory])
def test_the_scale_stays_once_something_rests_on_it_and_its_guidelines_do_not(alice: User, resting) -> None:
    criterion = CriterionFactory(categories=scale("bad", "good"))
    guidelines.edit(by=alice, criterion=criterion, categories=scale("bad", "better"), reason="No answers yet.")
    resting(criterion=criterion)
    other = scale("bad", "best")
    with pytest.raises(InputError, match="has answers on its scale already") as wrong:
        guidelines.edit(by=alice, criterion=criterion, categories=other, reason="Too late.")
    assert wrong.value.field == "categories"
    only_text = [{"value": "1", "guideline": "Nothing fits."}, {"value": "2", "guideline": "All fits."}]
    guidelines.edit(by=alice, criterion=criterion, categories=only_text, reason="What they mean.")
    assert [one["label"] for one in criterion.categories] == ["bad", "better"]
    assert [one["guideline"] for one in criterion.categories] == ["Nothing fits.", "All fits."]


def test_a_label_keeps_the_version_that_was_shown(open_study: OpenStudy, alice: User, bob: User) -> None:
    study = open_study([bob], items=3)
    slot = assignments.lease_next(by=bob, study=study)
    criterion = study.criteria.get(key="personalization")
    guidelines.edit(by=alice, criterion=criterion, guideline="New.", reason="Better.")
    annotations.submit(by=bob, assignment=slot, values=GOOD, versions={"personalization": "1"})
    slot = assignments.lease_next(by=bob, study=study)
    annotations.submit(by=bob, assignment=slot, values=GOOD)
    shown = Annotation.objects.filter(criterion=criterion).order_by("pk").values_list("guideline_version", flat=True)
    assert list(shown) == [1, 2]
    assert queries.labels_by_version(study, [criterion]) == {criterion.pk: {1: 1, 2: 1}}
    by_key = {one.criterion.key: one.table.n_ratings for one in ratings.load_study(study, guideline_version=2)}
    assert by_key == {"task_completion": 0, "personalization": 1}


@pytest.mark.parametrize("version", ["0", "3", "-1", "x", "١", "9" * 30])
def test_a_version_that_there_is_not_is_refused(open_study: OpenStudy, bob: User, version: str) -> None:
    slot = assignments.lease_next(by=bob, study=open_study([bob]))
    with pytest.raises(InputError, match="no version") as wrong:
        annotations.submit(by=bob, assignment=slot, values=GOOD, versions={"personalization": version})
    assert wrong.value.field == "personalization"
    assert not Annotation.objects.exists()


def test_late_answers_keep_the_version_that_was_shown(open_study: OpenStudy, alice: User, bob: User) -> None:
    study = open_study([bob])
    slot = assignments.lease_next(by=bob, study=study)
    content = GOOD | {"personalization-version": "1"}
    draft = drafts.keep_late(by=bob, assignment=slot, content=content, reason="Taken by another.")
    guidelines.edit(by=alice, criterion=study.criteria.get(key="personalization"), guideline="New.", reason="Better.")
    drafts.use_late(by=alice, draft=draft)
    assert Annotation.objects.get(criterion__key="personalization").guideline_version == 1


def news(slot, bob: User, draft=None) -> list[tuple[str, int, int]]:
    asked = asks.asks(slot, slot.study.criteria.all())
    found = queries.news(slot, work.find_previous(slot, bob), asked, draft)
    return [(one.name, one.before, one.after) for one in found]


def test_news_is_told_until_it_was_rated_under_and_costs_nothing_before_any_edit(
    open_study: OpenStudy, alice: User, bob: User, django_assert_num_queries
) -> None:
    study = open_study([bob], items=3)
    slot = assignments.lease_next(by=bob, study=study)
    asked = asks.asks(slot, slot.study.criteria.all())
    with django_assert_num_queries(0):
        assert queries.news(slot, None, asked) == []
    annotations.submit(by=bob, assignment=slot, values=GOOD)
    criterion = study.criteria.get(key="personalization")
    for text in ("Second.", "Third."):
        guidelines.edit(by=alice, criterion=criterion, guideline=text, reason="Better.")
    slot = assignments.lease_next(by=bob, study=study)
    assert news(slot, bob) == [("Personalization", 1, 3)]
    asked = asks.asks(slot, slot.study.criteria.all())
    before = work.find_previous(slot, bob)
    with django_assert_num_queries(2):
        queries.news(slot, before, asked)
    annotations.submit(by=bob, assignment=slot, values=GOOD)
    slot = assignments.lease_next(by=bob, study=study)
    assert news(slot, bob) == []
    draft = drafts.save(by=bob, assignment=slot, changes={"personalization-version": "2"}, active_seconds=1)
    assert news(slot, bob, draft) == [("Personalization", 2, 3)]


def test_one_who_begins_after_the_edit_is_told_nothing(open_study: OpenStudy, alice: User, bob: User) -> None:
    study = open_study([bob])
    guidelines.edit(by=alice, criterion=study.criteria.get(key="personalization"), guideline="New.", reason="Better.")
    assert news(assignments.lease_next(by=bob, study=study), bob) == []


def test_pieces_put_together_are_both_texts() -> None:
    found = queries.pieces("Look at the start.", "Look at the very end.")
    assert "".join(text for kind, text in found if kind != "new") == "Look at the start."
    assert "".join(text for kind, text in found if kind != "gone") == "Look at the very end."
    assert ("gone", "start") in found
    assert queries.pieces("用户喜欢", "用户喜欢") == (("same", "用户喜欢"),)


@pytest.mark.parametrize("text", ["9" * 5000, "\u00b2", "-1", "", "x"])
def test_a_version_that_is_no_number_is_none(open_study: OpenStudy, bob: User, text: str) -> None:
    study = open_study([bob])
    slot = assignments.lease_next(by=bob, study=study)
    asked = asks.asks(slot, study.asked)
    assert queries.read_versions({f"{asked[0].name}-version": text}, asked) == {}
    assert queries.read_versions({f"{asked[0].name}-version": "2"}, asked) == {asked[0].criterion.pk: 2}
