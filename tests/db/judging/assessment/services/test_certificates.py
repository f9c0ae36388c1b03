"""A certificate is signed, found again, and expires when what it speaks of changes."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.urls import reverse

from annotation.corpus.models import Dialogue
from annotation.studies.models.studies import Criterion
from core.hashing import content_hash, digest
from judging.assessment import signing
from judging.assessment.canonical_json import to_canonical_bytes
from judging.assessment.models.assessment import Certificate
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.queries.certificates import newest_by_judge, prompts_today
from judging.assessment.services import certificate_checks, certificates, report
from judging.judges.models import Judge
from judging.runs.models.runs import JudgeRun
from judging.stats.verdict import Rules
from tests.db.judging.assessment.services.forging import CHANGES, FORGERIES, signed_elsewhere
from tests.db.judging.assessment.services.judged import study, trusted
from tests.support.factories import CriterionFactory, JudgeFactory, ResearcherFactory
from tests.support.labelled import add_verdicts, people_say
from tests.support.shared_rows import share_rows

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def known(django_db_setup, django_db_blocker):
    """30 items whose calibration and audit are computed: who looks at their judge finds them there."""

    def make():
        criterion = study(n=30)
        trusted(criterion)
        return criterion.pk

    yield from share_rows(django_db_blocker, make)


@pytest.fixture
def criterion(known, db):
    return Criterion.objects.get(pk=known)


def issued(criterion, name="gpt", **rules):
    found = trusted(criterion, name, rules=Rules(**rules))
    return certificates.issue(by=None, found=found)


def state(certificate):
    return certificate_checks.check(certificates.document(Certificate.objects.get(pk=certificate.pk)))


def test_what_it_says(criterion):
    content = issued(criterion).content
    assert content["judge"]["name"] == "gpt"
    assert content["items"]["n"] == 30
    assert content["criteria"]["personalization"]["decision"] == "not enough evidence"
    assert content["criteria"]["personalization"]["n_labelled"] == 30
    assert content["rules"]["least_items"] == 50
    assert content["rules_on_record"]["first_look"]["by"] == "a command"
    assert content["rules_on_record"]["changes"] == []
    assert content["calibration"]["input_hash"] == content["audit"]["input_hash"]


def test_it_holds_and_the_same_is_not_issued_twice(criterion):
    first = issued(criterion)
    said = state(first)
    assert (said.state, said.problems) == ("holds", ())
    assert said.notes == (f"Signed with this site’s key {signing.load_keys()[0].key_id}.",)
    assert issued(criterion) == first
    assert issued(criterion, least_items=10) != first


def test_the_signature_is_of_the_canonical_bytes(criterion):
    """As docs/trust.md tells others to check it, with nothing of Concord but the canonical form."""
    document = json.loads(json.dumps(certificates.document(issued(criterion))))
    signed = to_canonical_bytes(document["content"])
    assert document["sha256"] == digest(signed)
    public, value = (bytes.fromhex(document["signature"][name]) for name in ("public_key", "value"))
    assert signing.is_signed_by(public, value, signed)
    assert not signing.is_signed_by(public, value, signed + b" ")


def test_a_forgery_is_refused_in_words(criterion):
    document = certificates.document(issued(criterion))
    for forge, wanted, words in FORGERIES.values():
        said = certificate_checks.check(forge(document))
        assert said.state == wanted
        assert not said.holds
        assert words in said.problems[0]


def test_what_is_not_like_a_certificate_is_no_crash(criterion):
    document = certificates.document(issued(criterion))
    for change in CHANGES.values():
        said = certificate_checks.check(change(document))
        assert said.state == "malformed"
        assert said.problems[0].endswith(".")


def test_by_a_key_that_is_given_alone_no_database_is_asked(criterion):
    document, public = signed_elsewhere(certificates.document(issued(criterion)))
    said = certificate_checks.check(document, public)
    assert said.state == "holds"
    assert "only its issuer knows" in said.notes[1]
    other = signing.read_key(signing.new_key(), "").public
    assert certificate_checks.check(document, other).state == "foreign key"
    with connection.cursor() as cursor:  # a machine that runs no site
        cursor.execute("ALTER TABLE judging_certificate RENAME TO moved_away")
    assert certificate_checks.check(document, public).state == "holds"


def test_a_signed_one_that_was_never_issued_here_is_unknown(criterion):
    certificate = issued(criterion)
    document = certificates.document(certificate)
    certificate.delete()
    said = certificate_checks.check(document)
    assert said.state == "unknown"
    assert "not among the certificates that this site issued" in said.problems[0]
    assert certificate_checks.find_issued(document["sha256"]).state == "unknown"
    assert certificate_checks.find_issued("no hash").state == "malformed"


def test_a_revoked_one_says_why_and_the_next_is_another(criterion):
    first = issued(criterion)
    certificates.revoke(by=None, certificate=first, reason="two people shared an account")
    said = state(first)
    assert said.state == "revoked"
    assert "two people shared an account" in said.problems[0]
    assert certificate_checks.check(certificates.document(first), bytes.fromhex(first.public_key)).state == "revoked"
    assert newest_by_judge(criterion.study) == {}, "a report names none that is revoked"
    second = issued(criterion)
    assert second.sha256 != first.sha256
    assert state(second).holds
    with pytest.raises(ValueError, match="revoked already"):
        certificates.revoke(by=None, certificate=first, reason="again")
    with pytest.raises(ValueError, match="Say why"):
        certificates.revoke(by=None, certificate=second, reason="  ")


@pytest.mark.long
def test_after_a_rotation_older_ones_still_hold_and_new_ones_have_the_new_key(criterion):
    first = issued(criterion)
    certificates.rotate_key(by=None)
    assert state(first).holds
    second = issued(criterion)
    assert second.public_key == signing.load_keys()[0].hex != first.public_key
    assert [one["public_key"] for one in certificates.list_keys()][:2] == [second.public_key, first.public_key]


def test_one_from_before_signing_says_so(criterion):
    content = {"format": "concord-judge-certificate/1", "rules": {}}
    old = Certificate.objects.create(
        study=criterion.study, judge=Judge.objects.get(), content=content, sha256=content_hash(content)
    )
    said = state(old)
    assert said.state == "unsigned"
    assert said.problems == ("It is not signed: it was issued before certificates were signed.",)


def test_it_expires_with_a_new_version_of_the_judge(criterion):
    certificate = issued(criterion)
    JudgeFactory(name="gpt", version=2)
    assert state(certificate).problems == ("there is a newer version of the judge (v2)",)


@pytest.mark.any_database
@pytest.mark.long
def test_a_report_says_of_an_expired_one_that_it_is(criterion):
    """The defect: the report named its hash as that of one that holds."""
    certificate = issued(criterion)
    evidence = StudyData.load(criterion.study)
    shown = f"certificate {certificate.sha256[:16]}"
    holding = report.build_report(by=None, evidence=evidence)
    (judged,) = holding["judges"].values()
    assert judged["certificate_state"] == "holds"
    assert f"{shown}." in report.to_html(holding)
    Dialogue.objects.filter(items__study=criterion.study, items__position=1).update(content_hash="1" * 64)
    assert state(certificate).state == "expired"
    assert f"{shown} (expired)." in report.to_html(report.build_report(by=None, evidence=evidence))


@pytest.mark.any_database
@pytest.mark.long
def test_criteria_of_one_name_have_each_its_verdict(criterion):
    """The defect: where it was checked, the verdict on the last one stood for all of the name."""
    CriterionFactory(study=criterion.study, key="style", name=criterion.name, position=2)
    other = criterion.study.criteria.get(key="style")
    people_say(other, {f"p{k}": ["1", "2"] * 15 for k in range(3)})
    add_verdicts(JudgeRun.objects.get(), other, ["1", "2"] * 15)
    JudgeRun.objects.get().criteria.add(other)
    certificate = issued(criterion)
    decided = {one["criterion"]: one["decision"] for one in certificate.content["criteria"].values()}
    assert len(decided) == 2
    assert state(certificate).decisions == {f"{criterion.name} ({key})": said for key, said in decided.items()}


def test_it_expires_when_the_judge_is_another(criterion):
    certificate = issued(criterion)
    Judge.objects.filter(name="gpt").update(model="another")
    assert state(certificate).state == "expired"


def test_it_expires_when_an_item_is_edited(criterion):
    certificate = issued(criterion)
    Dialogue.objects.filter(items__study=criterion.study, items__position=1).update(content_hash="1" * 64)
    assert "items have changed" in state(certificate).problems[0]


def test_a_study_that_was_renamed_is_the_same_study(criterion):
    certificate = issued(criterion)
    criterion.study.name = "Renamed"
    criterion.study.save()
    assert state(certificate).holds


@pytest.mark.long
def test_it_expires_when_the_prompt_changes(criterion):
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


def test_the_page_says_the_rules_in_words(criterion, client):
    client.force_login(ResearcherFactory())
    certificate = issued(criterion)
    text = " ".join(client.get(reverse("certificate_detail", args=[certificate.sha256])).content.decode().split())
    assert "Labelled items with a verdict, at least" in text
    assert "the alternative-annotator test</th> <td>must be passed" in text
    assert "position, length, leniency" in text
    assert "Locked at the first look" in text
