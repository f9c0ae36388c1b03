"""Pages of rules: free before the first look at a judge's result, locked by it, changed with a reason."""

from __future__ import annotations

import pytest
from django.urls import reverse

from judging.assessment.models.assessment import Certificate
from judging.assessment.models.rules import VerdictRules
from judging.judges.models import Judge
from tests.db.judging.assessment.services.judged import study
from tests.db.judging.assessment.views.test_certificates import text_of
from tests.support.factories import ResearcherFactory

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.fixture
def alice(client):
    client.force_login(ResearcherFactory(username="alice"))
    return client


@pytest.fixture
def known():
    return study(n=30).study


def at(known):
    return reverse("study_rules", args=[known.slug])


def verdict(alice, known, **query):
    return alice.get(reverse("judge_verdict", args=[known.slug, Judge.objects.get().pk]), query)


@pytest.mark.long
@pytest.mark.each_database
def test_set_before_and_locked_by_the_first_look(known, alice):
    said = text_of(alice.post(at(known), {"least_items": "20", "success": "assist and escalate"}, follow=True))
    assert "Nobody has looked at a judge’s result yet" in said
    shown = text_of(verdict(alice, known))
    assert "Criterion of success: assist and escalate on every criterion" in shown
    assert [row.kind for row in VerdictRules.objects.all()] == ["set", "locked"]
    assert "Locked since the first look" in text_of(alice.get(at(known)))


@pytest.mark.long
def test_changed_after_it_with_a_reason_alone(known, alice):
    verdict(alice, known)
    refused = alice.post(at(known), {"tolerated_biases": "central_tendency"})
    assert refused.status_code == 400
    assert "Give a reason to change them on record" in text_of(refused)
    alice.post(at(known), {"tolerated_biases": "central_tendency", "reason": "it is noise"})
    sentence = "by alice: Tolerated biases: from none to central_tendency. Reason: it is noise"
    pages = [verdict(alice, known), alice.get(at(known))]
    pages += [alice.get(reverse(name, args=[known.slug])) for name in ("results", "report")]
    judge = Judge.objects.get()
    pages.append(alice.post(reverse("certificate_issue", args=[known.slug, judge.pk]), follow=True))
    for page in pages:
        assert "Rules changed after the first look on" in text_of(page)
        assert sentence in text_of(page)


@pytest.mark.long
def test_an_address_sets_nothing(known, alice):
    assert verdict(alice, known, least_items="50").status_code == 200, "these are the rules"
    for given in ({"least_items": "10"}, {"tolerated_biases": "length"}, {"least_items": "many"}):
        assert verdict(alice, known, **given).status_code == 400
    judge = Judge.objects.get()
    alice.post(reverse("certificate_issue", args=[known.slug, judge.pk]), {"least_items": "10"})
    assert not Certificate.objects.exists()
    assert VerdictRules.objects.count() == 1


def test_what_cannot_be_is_said_and_kept_in_the_form(known, alice):
    response = alice.post(at(known), {"least_items": "many", "reason": "because"})
    assert response.status_code == 400
    assert "is not a number" in text_of(response)
    assert 'value="many"' in response.content.decode()
    assert alice.post(at(known), {"success": "do not use"}).status_code == 400
    assert alice.post(at(known), {"criteria": "nope"}).status_code == 400
