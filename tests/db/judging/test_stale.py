"""A judgment knows which text it is of."""

from __future__ import annotations

import pytest

from judging.runs.models.runs import Judgment
from tests.support import factories
from tests.support.judging import dialogue_study, judged, pair_study, scripted

pytestmark = pytest.mark.django_db


def edit(subject) -> None:
    subject.content_hash = "f" * 64
    subject.save()


@pytest.mark.parametrize("study_of", [dialogue_study, pair_study])
def test_judgments_of_an_edited_item_are_stale_and_no_others(study_of):
    run = judged(study_of(2), scripted())
    assert not Judgment.objects.stale().exists()

    edit(run.study.items.first().subject)

    stale = Judgment.objects.stale().select_related("item__dialogue", "item__pair")
    assert {judgment.item.position for judgment in stale} == {1}
    assert all(judgment.is_stale for judgment in stale)
    assert stale.count() == run.judgments.filter(item__position=1).count()


def test_one_that_does_not_know_what_it_saw_is_not_called_stale():
    judgment = factories.JudgmentFactory(item_hash="")

    edit(judgment.item.subject)

    assert not Judgment.objects.stale().exists()
    assert not judgment.is_stale


def test_what_is_judged_after_the_edit_is_of_the_new_text():
    study, judge = dialogue_study(1), scripted()
    judged(study, judge)
    edit(study.items.get().subject)

    again = judged(study, judge)

    assert not again.judgments.stale().exists()
