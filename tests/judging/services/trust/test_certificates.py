"""A certificate is sealed, found again, and expires when what it speaks of changes."""

from __future__ import annotations

import copy

import pytest
from django.urls import reverse

from annotation.hashing import content_hash
from annotation.models import Criterion, Dialogue
from judging.models import Certificate, Judge, JudgeRun
from judging.queries.certificates import prompts_today
from judging.services.trust import certificates
from judging.stats.verdict import Rules
from tests.factories import JudgeFactory, ResearcherFactory
from tests.judging.services.trust.judged import study, trusted

pytestmark = pytest.mark.django_db


def issued(criterion, name="gpt", **rules):
    found = trusted(criterion, name, rules=Rules(**rules))
    return certificates.issue(by=None, found=found)


def state(certificate):
    return certificates.check(certificates.document(Certificate.objects.get(pk=certificate.pk)))


def test_what_it_says():
    criterion = study(n=60)
    content = issued(criterion).content
    assert content["judge"]["name"] == "gpt"
    assert content["items"]["n"] == 60
    assert content["criteria"]["personalization"]["decision"] == "not enough evidence"
    assert content["criteria"]["personalization"]["n_labelled"] == 60
    assert content["rules"]["least_items"] == 50
    assert content["calibration"]["input_hash"] == content["audit"]["input_hash"]


def test_it_holds_and_the_same_is_not_issued_twice():
    criterion = study(n=30)
    first = issued(criterion)
    assert state(first).as_json() == {"state": "holds", "holds": True, "problems": []}
    assert issued(criterion) == first
    assert issued(criterion, least_items=10) != first


def test_a_changed_word_breaks_the_seal():
    document = certificates.document(issued(study(n=30)))
    forged = copy.deepcopy(document)
    forged["content"]["criteria"]["personalization"]["decision"] = "replace"
    assert certificates.check(forged).state == "altered"
    assert certificates.check({"content": {"format": "other"}, "sha256": ""}).state == "unknown"


def test_what_somebody_sealed_themselves_is_no_crash():
    """The seal is a hash that anybody can compute."""
    content = certificates.document(issued(study(n=30)))["content"]
    for change in (
        {"study": None},
        {"study": {}},
        {"study": {"name": {"a": 1}}},
        {"judge": []},
        {"judge": {"name": "gpt", "version": "1", "hash": ""}},
        {"judge": {"name": "gpt", "version": 10**30, "hash": ""}},
        {"runs": ["1"]},
        {"runs": [10**30]},
        {"runs": 5},
        {"prompts": [[]]},
        {"items": {"n": True, "hash": ""}},
    ):
        sealed = {**content, **change}
        forged = certificates.check({"content": sealed, "sha256": content_hash(sealed)})
        assert forged.state == "unknown"
        assert forged.problems == ("it lacks something that a certificate of this format says",)


def test_it_expires_with_a_new_version_of_the_judge():
    certificate = issued(study(n=30))
    JudgeFactory(name="gpt", version=2)
    assert state(certificate).problems == ("there is a newer version of the judge (v2)",)


def test_it_expires_when_the_judge_is_another():
    certificate = issued(study(n=30))
    Judge.objects.filter(name="gpt").update(model="another")
    assert state(certificate).state == "expired"


def test_it_expires_when_an_item_is_edited():
    criterion = study(n=30)
    certificate = issued(criterion)
    Dialogue.objects.filter(items__study=criterion.study, items__position=1).update(content_hash="1" * 64)
    assert "items have changed" in state(certificate).problems[0]


def test_elsewhere_it_cannot_be_told_whether_it_holds():
    criterion = study(n=30)
    document = certificates.document(issued(criterion))
    criterion.study.name = "Renamed"
    criterion.study.save()
    assert certificates.check(document).state == "unknown"


def test_it_expires_when_the_prompt_changes():
    criterion = study(n=30)
    run = JudgeRun.objects.get()
    Judge.objects.filter(pk=run.judge_id).update(provider="openai_compatible", model="small")
    run.judgments.update(details={"prompt": "of old"})
    (today,) = prompts_today([run.pk])
    assert state(issued(criterion)).problems == ("the prompt that the judge is asked with has changed",)
    run.judgments.update(details={"prompt": today})
    certificate = issued(criterion)
    assert certificate.content["prompts"] == [today]
    assert state(certificate).state == "holds"
    Criterion.objects.filter(pk=criterion.pk).update(question="Another question?")
    assert state(certificate).state == "holds"  # the question is no part of the template
    Judge.objects.filter(pk=run.judge_id).update(parameters={"template": "$conversation $asked $scale $answer"})
    assert "the prompt that the judge is asked with has changed" in state(certificate).problems


def test_the_page_says_the_rules_in_words(client):
    client.force_login(ResearcherFactory())
    issued = certificates.issue(by=None, found=trusted(study()))
    text = " ".join(client.get(reverse("certificate_detail", args=[issued.sha256])).content.decode().split())
    assert "Labelled items with a verdict, at least" in text
    assert "the alternative-annotator test</th> <td>must be passed" in text
    assert "position, length, leniency" in text
