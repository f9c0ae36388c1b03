"""The fit of the difficulty model: made once for the same labels, without names, and by a worker where it is large."""

from __future__ import annotations

import pickle

import pytest
from django.core.cache import cache

from annotation.agreement.services import difficulty, stored_difficulty
from annotation.agreement.services.item_tiers import ItemTiers
from annotation.agreement.services.stored_difficulty import load_or_fit, load_or_fit_all
from annotation.stats.difficulty.items import AGREEMENT_CUTS, difficulty as difficulty_of
from annotation.studies.models.labels import Annotation
from annotation.studies.queries import ratings
from core.errors import InputError, NotComputedError
from core.jobs import waiting
from tests.support.difficult import drawn, say
from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import people_say, with_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def fits(monkeypatch):
    """The tables that the model is fitted to from now on."""
    cache.clear()
    made, usual = [], stored_difficulty.fit

    def counting(table, shown=None):
        made.append(table)
        return usual(table, shown)

    monkeypatch.setattr(stored_difficulty, "fit", counting)
    return made


def read(criterion):
    return ratings.load_criterion(criterion)


def test_the_same_labels_are_fitted_once(fits):
    criterion = drawn()
    first, second = (load_or_fit(read(criterion).table) for _ in range(2))
    (third,) = load_or_fit_all(ratings.load_study(criterion.study))
    assert len(fits) == 1
    assert first.found.to_json() == second.found.to_json() == third.found.to_json()
    assert [one.person for one in second.found.people] == ["sim-a", "sim-b", "sim-c"]


def test_other_cuts_describe_the_fit_that_is_kept(fits, monkeypatch):
    table = read(drawn()).table
    usual = load_or_fit(table).found
    monkeypatch.setattr(stored_difficulty, "AT_ONCE", 0)
    other = load_or_fit(table, (0.5, 0.7, 0.95), at_once=0).found
    assert len(fits) == 1
    assert other.value.tolist() == usual.value.tolist()
    anew = difficulty_of(table, cuts=(0.5, 0.7, 0.95))
    assert other.tiers.tolist() == anew.tiers.tolist()
    assert [one.to_json() for one in other.people] == [one.to_json() for one in anew.people]
    assert (other.cuts, other.items) == (anew.cuts, anew.items)


def test_another_label_is_fitted_anew(fits):
    criterion = drawn()
    before = load_or_fit(read(criterion).table).found
    changed = Annotation.objects.filter(criterion=criterion, value="1").first()
    Annotation.objects.filter(pk=changed.pk).update(value="4")
    after = load_or_fit(read(criterion).table).found
    stricter = load_or_fit(read(criterion).table, (0.6, 0.75, 0.95)).found
    assert len(fits) == 2
    assert before.value.tolist() != after.value.tolist()
    assert stricter.expected_counts["easy"] < after.expected_counts["easy"]


def test_nobody_is_named_in_what_is_kept(fits, monkeypatch):
    kept = {}
    monkeypatch.setattr(stored_difficulty.cache, "set", lambda key, value, *_: kept.setdefault(key, value))
    load_or_fit(read(drawn()).table)
    fits = [value for value in kept.values() if isinstance(value, stored_difficulty.Fit | stored_difficulty.StoredFit)]
    assert len(fits) == 2
    for fit in fits:
        assert b"sim-" not in pickle.dumps(fit)


def test_why_there_is_no_fit_is_kept_too(fits):
    criterion = CriterionFactory(study=with_items(30), yes_no=True)
    people_say(criterion, {"bob": ["yes"] * 30, "dana": ["yes"] * 30})
    for _ in range(2):
        assert load_or_fit(read(criterion).table).reason == "every answer is the same"
    assert len(fits) == 1


def test_what_is_large_is_left_to_a_worker_and_then_there(fits, monkeypatch):
    sent = []
    monkeypatch.setattr(waiting.current_app, "send_task", lambda name, args: sent.append((name, args)))
    criterion = drawn()
    CriterionFactory(study=criterion.study, key="unrated")
    monkeypatch.setattr(stored_difficulty, "AT_ONCE", 100)
    left = load_or_fit_all([read(criterion)])[0]
    assert (left.found, left.is_left, fits) == (None, True, [])
    with pytest.raises(NotComputedError, match="on the page Tiers"):
        ItemTiers.read(criterion.study, patient=False)
    stored_difficulty.ask(by=ResearcherFactory(username="rosa"), study=criterion.study)
    assert "by rosa; no worker has begun yet" in stored_difficulty.find_request(criterion.study, AGREEMENT_CUTS).says
    ((name, args),) = sent
    assert name == stored_difficulty.TASK
    stored_difficulty.compute(*args)
    stored_difficulty.compute(*args)
    assert stored_difficulty.find_request(criterion.study, AGREEMENT_CUTS) is None
    assert load_or_fit_all([read(criterion)])[0].found is not None
    assert sum(table.n_ratings > 0 for table in fits) == 1


def test_criteria_that_are_large_together_are_left_too(fits, monkeypatch):
    criterion = drawn()
    say(CriterionFactory(study=criterion.study, key="width"), 40, seed=1)
    monkeypatch.setattr(stored_difficulty, "AT_ONCE", 200)
    each = ratings.load_study(criterion.study)
    assert [fit.is_left for fit in load_or_fit_all(each)] == [True, True]
    assert [fit.is_left for fit in load_or_fit_all(each[:1])] == [False]
    assert [fit.is_left for fit in load_or_fit_all(each)] == [False, True]
    assert [fit.is_left for fit in load_or_fit_all(each, patient=True)] == [False, False]


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
        difficulty.parse_model_cuts(text)
    assert refused.value.field == "agreement_cuts"


def test_the_document_tells_every_item_once_in_any_order(fits):
    criterion = drawn()
    document = difficulty.compute_criterion(criterion.study, read(criterion))
    rows = document["items"]
    assert [row["position"] for row in rows] == list(range(1, 41))
    assert rows[0]["item"] == "suits-d1"
    by = [row["difficulty"]["value"] for row in rows.sort_by("difficulty", descending=True)]
    assert by == sorted(by, reverse=True)
    certain = [max(row["tiers"].values()) for row in rows.sort_by("certain")]
    assert certain == sorted(certain)
    assert sum(document["expected_counts"].values()) == pytest.approx(document["n_items"])
    for tier, (low, high) in document["count_intervals"].items():
        assert low <= document["expected_counts"][tier] <= high + 0.5
