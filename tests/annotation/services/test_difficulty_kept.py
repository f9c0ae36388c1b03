"""The fit of the difficulty model: made once for the same labels, without names, and by a worker where it is large."""

from __future__ import annotations

import pickle

import pytest
from django.core.cache import cache

from annotation.errors import InputError, NotComputedError
from annotation.models import Annotation
from annotation.queries import ratings
from annotation.services import difficulty, difficulty_kept, waiting
from annotation.services.difficulty_kept import of_criteria, of_table
from annotation.services.item_tiers import ItemTiers
from annotation.stats.difficulty.items import AGREEMENT_CUTS
from tests.difficult import drawn, say
from tests.factories import CriterionFactory, ResearcherFactory
from tests.labelled import people_say, with_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def fits(monkeypatch):
    """The tables that the model is fitted to from now on."""
    cache.clear()
    made, usual = [], difficulty_kept.fit

    def counting(table, cuts, shown=None):
        made.append(table)
        return usual(table, cuts, shown)

    monkeypatch.setattr(difficulty_kept, "fit", counting)
    return made


def read(criterion):
    return ratings.of_criterion(criterion)


def test_the_same_labels_are_fitted_once(fits):
    criterion = drawn()
    first, second = (of_table(read(criterion).table) for _ in range(2))
    (third,) = of_criteria(ratings.of_study(criterion.study))
    assert len(fits) == 1
    assert first.found.as_json() == second.found.as_json() == third.found.as_json()
    assert [one.person for one in second.found.people] == ["sim-a", "sim-b", "sim-c"]


def test_another_label_or_other_cuts_are_fitted_anew(fits):
    criterion = drawn()
    before = of_table(read(criterion).table).found
    changed = Annotation.objects.filter(criterion=criterion, value="1").first()
    Annotation.objects.filter(pk=changed.pk).update(value="4")
    after = of_table(read(criterion).table).found
    stricter = of_table(read(criterion).table, (0.6, 0.75, 0.95)).found
    assert len(fits) == 3
    assert before.value.tolist() != after.value.tolist()
    assert stricter.expected_counts["easy"] < after.expected_counts["easy"]


def test_nobody_is_named_in_what_is_kept(fits, monkeypatch):
    kept = {}
    monkeypatch.setattr(difficulty_kept.cache, "set", lambda key, value, *_: kept.setdefault(key, value))
    of_table(read(drawn()).table)
    (fit,) = (value for value in kept.values() if isinstance(value, difficulty_kept.Fit))
    assert fit.found is not None
    assert b"sim-" not in pickle.dumps(fit)


def test_why_there_is_no_fit_is_kept_too(fits):
    criterion = CriterionFactory(study=with_items(30), yes_no=True)
    people_say(criterion, {"bob": ["yes"] * 30, "dana": ["yes"] * 30})
    for _ in range(2):
        assert of_table(read(criterion).table).reason == "every answer is the same"
    assert len(fits) == 1


def test_what_is_large_is_left_to_a_worker_and_then_there(fits, monkeypatch):
    sent = []
    monkeypatch.setattr(waiting.current_app, "send_task", lambda name, args: sent.append((name, args)))
    criterion = drawn()
    CriterionFactory(study=criterion.study, key="unrated")
    monkeypatch.setattr(difficulty_kept, "AT_ONCE", 100)
    left = of_criteria([read(criterion)])[0]
    assert (left.found, left.is_left, fits) == (None, True, [])
    with pytest.raises(NotComputedError, match="on the page Tiers"):
        ItemTiers.read(criterion.study, patient=False)
    difficulty_kept.ask(by=ResearcherFactory(username="rosa"), study=criterion.study)
    assert "by rosa; no worker has begun yet" in difficulty_kept.asked_for(criterion.study, AGREEMENT_CUTS).says
    ((name, args),) = sent
    assert name == difficulty_kept.TASK
    difficulty_kept.compute(*args)
    difficulty_kept.compute(*args)
    assert difficulty_kept.asked_for(criterion.study, AGREEMENT_CUTS) is None
    assert of_criteria([read(criterion)])[0].found is not None
    assert sum(table.n_ratings > 0 for table in fits) == 1


def test_criteria_that_are_large_together_are_left_too(fits, monkeypatch):
    criterion = drawn()
    say(CriterionFactory(study=criterion.study, key="width"), 40, seed=1)
    monkeypatch.setattr(difficulty_kept, "AT_ONCE", 200)
    each = ratings.of_study(criterion.study)
    assert [fit.is_left for fit in of_criteria(each)] == [True, True]
    assert [fit.is_left for fit in of_criteria(each[:1])] == [False]
    assert [fit.is_left for fit in of_criteria(each)] == [False, True]
    assert [fit.is_left for fit in of_criteria(each, patient=True)] == [False, False]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0.9,0.75,0.6", "three ascending numbers such as 0.6,0.75,0.9"),
        ("0.6,0.75", "three ascending numbers"),
        ("a,b,c", "three ascending numbers"),
        ("nan,0.5,0.6", "three ascending numbers"),
        ("0,0.5,0.6", "between 0 and 1"),
        ("0.5,0.6,1", "between 0 and 1"),
        ("0.5,0.6,inf", "three ascending numbers"),
    ],
)
def test_cuts_that_make_no_sense(text, says):
    with pytest.raises(InputError, match=says) as refused:
        difficulty.cuts_of(text)
    assert refused.value.field == "agreement_cuts"


def test_the_document_tells_every_item_once_in_any_order(fits):
    criterion = drawn()
    document = difficulty.of_criterion(criterion.study, read(criterion))
    rows = document["items"]
    assert [row["position"] for row in rows] == list(range(1, 41))
    assert rows[0]["item"] == "suits-d1"
    by = [row["difficulty"]["value"] for row in rows.by("difficulty", descending=True)]
    assert by == sorted(by, reverse=True)
    certain = [max(row["tiers"].values()) for row in rows.by("certain")]
    assert certain == sorted(certain)
    assert sum(document["expected_counts"].values()) == pytest.approx(document["n_items"])
    for tier, (low, high) in document["count_intervals"].items():
        assert low <= document["expected_counts"][tier] <= high + 0.5
