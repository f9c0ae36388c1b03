"""Pages of certificates: checked by anybody, revoked by the project."""

from __future__ import annotations

import json
import re

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils.html import escape

from judging.assessment import signing
from judging.assessment.models.assessment import Certificate
from judging.assessment.services import certificates
from tests.db.judging.assessment.services.forging import CHANGES, FORGERIES
from tests.db.judging.assessment.services.judged import study, trusted
from tests.support.factories import ResearcherFactory
from tests.support.shared_rows import share_rows

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_counted():
    cache.clear()


@pytest.fixture(scope="module")
def certificate(django_db_setup, django_db_blocker):
    def make():
        return certificates.issue(by=None, found=trusted(study(n=30))).pk

    yield from share_rows(django_db_blocker, make)


@pytest.fixture
def issued(certificate, db):
    return Certificate.objects.get(pk=certificate)


@pytest.fixture
def alice(client):
    client.force_login(ResearcherFactory(username="alice"))
    return client


def text_of(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def check(client, **given):
    return client.post(reverse("certificate_verify"), given)


def as_text(document):
    return json.dumps(document, ensure_ascii=False)


def test_anybody_checks_a_file_a_text_or_a_hash(issued, client):
    text = as_text(certificates.document(issued))
    assert "Choose" not in text_of(client.get(reverse("certificate_verify")))
    for given in (
        {"file": SimpleUploadedFile("c.json", text.encode())},
        {"text": text},
        {"sha256": issued.sha256.upper()},
    ):
        response = check(client, **given)
        assert response.status_code == 200
        said = text_of(response)
        assert "This certificate is authentic" in said
        assert "Known" not in said, "whoever has the hash alone reads nothing of the study"
        assert ("Its verdict: " in said) == ("sha256" not in given), said
        assert "message--info" in response.content.decode(), "no check mark over a judge that must not be used"
        assert "Open it" not in said


def test_a_certificate_without_a_bias_says_none(issued, alice):
    page = alice.get(reverse("certificate_detail", args=[issued.sha256])).content.decode()
    assert "found" not in [said for one in issued.content["criteria"].values() for said in one["probes"].values()]
    assert re.findall(r'data-column="Biases found" class="small">(.*?)</td>', page) == ["none"] * len(
        issued.content["criteria"]
    )
    assert not re.search(r"\d{4}-\d\d-\d\dT\d\d", page), "times are written as on other pages"


def test_who_is_of_the_project_can_open_it(issued, alice):
    response = check(alice, sha256=issued.sha256)
    assert reverse("certificate_detail", args=[issued.sha256]) in response.content.decode()


def test_a_forgery_is_refused_in_words(issued, client):
    for forge, wanted, words in FORGERIES.values():
        said = text_of(check(client, text=as_text(forge(certificates.document(issued)))))
        assert f"This certificate does not hold: {wanted}" in said
        assert words in said
        assert "Issued here" not in said, "the hash of a real one is easily written into another"


def test_what_is_not_like_a_certificate_is_400(issued, client):
    for change in CHANGES.values():
        response = check(client, text=json.dumps(change(certificates.document(issued))))
        assert response.status_code == 400


@pytest.mark.parametrize("text", ['{"a": <b>', '{"a": "<b>"}'])
def test_what_was_pasted_is_there_again(client, text):
    said = check(client, text=text, sha256="12ab").content.decode()
    assert f">{escape(text)}</textarea>" in said
    assert 'value="12ab"' in said


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "The file is empty"),
        (b"x", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "nested more than 200 deep"),
        (b'{"a": 1, "a": 2}', "twice"),
        (b" " * (4 * 2**20 + 2), "larger than 4 MB"),
    ],
)
def test_a_hostile_file_is_400_in_words(data, words, client):
    response = check(client, file=SimpleUploadedFile("c.json", data))
    assert response.status_code == 400
    assert words in text_of(response)


def test_an_unknown_hash_and_no_hash(client):
    assert "No certificate of this hash was issued here" in text_of(check(client, sha256="0" * 64))
    assert check(client, sha256="x").status_code == 400


def test_somebody_who_asks_without_end_is_slowed_down(client, settings):
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "verify": "2/m/ip"}
    codes = [check(client, sha256="0" * 64).status_code for _ in range(3)]
    assert codes == [200, 200, 429]


@pytest.mark.long
def test_the_project_revokes_for_a_reason(issued, alice):
    at = reverse("certificate_revoke", args=[issued.sha256])
    assert "Say why" in text_of(alice.post(at, {"reason": " "}, follow=True))
    said = text_of(alice.post(at, {"reason": "wrong labels <b>"}, follow=True))
    assert "does not hold: revoked" in said
    assert "by alice" in said
    assert "wrong labels &lt;b&gt;" in said
    assert "It was revoked on" in text_of(check(alice, sha256=issued.sha256))
    assert "revoked already" in text_of(alice.post(at, {"reason": "again"}, follow=True))


def test_the_public_keys_stand_on_a_page(issued, client):
    certificates.rotate_key(by=None)
    said = text_of(client.get(reverse("signing_keys")))
    assert issued.public_key in said
    assert signing.load_keys()[0].hex in said
    assert signing.read_lines(signing.settings.SIGNING_KEY_FILE)[0] not in said
