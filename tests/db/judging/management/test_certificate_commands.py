"""`verify_certificate` exits with 2 and says why; `revoke_certificate`, `signing_keys` and `rules` beside it."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command

from core.audit.models import Act
from judging.assessment import signing
from judging.assessment.models.assessment import Certificate
from judging.assessment.models.rules import VerdictRules
from judging.assessment.services import certificates
from tests.db.judging.assessment.services.forging import CHANGES, FORGERIES, signed_elsewhere
from tests.db.judging.assessment.services.judged import study, trusted
from tests.support.factories import JudgeFactory
from tests.support.shared_rows import share_rows

pytestmark = pytest.mark.django_db

JUDGE = ("--study", "Known", "--judge", "gpt")


def run(*args):
    out = io.StringIO()
    call_command(*map(str, args), stdout=out)
    return out.getvalue()


def refused(*args):
    """What a command says on both its channels that ends with the code of bad input."""
    out = io.StringIO()
    with pytest.raises(CommandError) as caught:
        call_command(*map(str, args), stdout=out)
    assert caught.value.returncode == 2
    return f"{out.getvalue()} {caught.value}"


@pytest.fixture(scope="module")
def certificate(django_db_setup, django_db_blocker):
    def make():
        return certificates.issue(by=None, found=trusted(study(n=30))).pk

    yield from share_rows(django_db_blocker, make)


@pytest.fixture
def issued(certificate, db):
    return Certificate.objects.get(pk=certificate)


@pytest.fixture
def file(issued, tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(certificates.document(issued), ensure_ascii=False), encoding="utf-8")
    return path


def test_a_forgery_exits_with_2_in_words(file):
    document = json.loads(file.read_text())
    for forge, wanted, words in FORGERIES.values():
        file.write_text(json.dumps(forge(document)))
        said = refused("verify_certificate", file)
        assert wanted in said
        assert words in said
        printed = refused("verify_certificate", file, "--json").rpartition("}")[0]
        assert json.loads(printed + "}")["state"] == wanted


def test_what_is_not_like_a_certificate_exits_with_2(file):
    document = json.loads(file.read_text())
    for change in CHANGES.values():
        file.write_text(json.dumps(change(document)))
        said = refused("verify_certificate", file)
        assert "malformed" in said or "not JSON" in said  # half of a character is none


TEXTS = {
    "empty": (b"", "is empty"),
    "blanks": (b" \n", "is empty"),
    "not JSON": (b"certificate", "not JSON"),
    "not UTF-8": (b'{"content": "\xff\xfe"}', "not JSON"),
    "UTF-16": ('{"content": {}}'.encode("utf-16"), "not JSON"),
    "deep": (b"[" * 100_000, "nested more than 200 deep"),
    "no number": (b'{"content": {"a": NaN}}', "not JSON"),
    "beyond numbers": (b'{"content": {"a": 1e999}}', "is not a finite number"),
    "digits": (b'{"content": ' + b"9" * 5000 + b"}", ""),
    "NUL": (b'{"content": "\\u0000"}', "NUL"),
    "twice": (b'{"content": {"format": 1, "format": 2}}', "holds 'format' twice"),
    "huge": (b" " * (4 * 2**20 + 1), "larger than 4 MB"),
}


@pytest.mark.parametrize("what", TEXTS)
def test_hostile_files_exit_with_2_in_words(what, tmp_path):
    path = tmp_path / "hostile.json"
    text, words = TEXTS[what]
    path.write_bytes(text)
    said = refused("verify_certificate", path)
    assert words in said
    assert "Error" not in said.replace("CommandError", "")


@pytest.mark.parametrize("part", [0.1, 0.5, 0.99])
def test_a_truncated_one_exits_with_2(part, file):
    text = file.read_bytes()
    file.write_bytes(text[: int(part * len(text))])
    assert "not JSON" in refused("verify_certificate", file)


def test_a_file_that_is_not_there_or_a_folder(tmp_path):
    assert "No such file" in refused("verify_certificate", tmp_path / "none.json")
    assert "directory" in refused("verify_certificate", tmp_path)


def test_by_a_public_key_of_ones_own(issued, file, tmp_path):
    assert run("verify_certificate", file, "--public-key", issued.public_key).startswith("holds")
    key = tmp_path / "lab.pub"
    key.write_text(f"public:{issued.public_key}\n")
    assert run("verify_certificate", file, "--public-key", key).startswith("holds")
    other = signing.read_key(signing.new_key(), "").hex
    assert "another key" in refused("verify_certificate", file, "--public-key", other)
    assert "64 hexadecimal digits" in refused("verify_certificate", file, "--public-key", "ab")
    key.write_bytes(b"\xff\xfe")
    assert "cannot be read as a public key" in refused("verify_certificate", file, "--public-key", key)


def test_of_another_site_by_its_key(file):
    document, public = signed_elsewhere(json.loads(file.read_text()))
    file.write_text(json.dumps(document))
    assert "proves nothing about who signed it" in refused("verify_certificate", file)
    assert "only its issuer knows" in run("verify_certificate", file, "--public-key", public.hex())


def test_a_revoked_one_exits_with_2(issued, file):
    said = run("revoke_certificate", issued.sha256, "--reason", "two people shared an account")
    assert "revoked" in said
    found = refused("verify_certificate", file)
    assert "It was revoked on" in found
    assert "two people shared an account" in found
    assert "revoked already" in refused("revoke_certificate", issued.sha256, "--reason", "again")
    assert "Say why" in refused("revoke_certificate", issued.sha256, "--reason", " ")
    assert "no certificate of this hash" in refused("revoke_certificate", "0" * 64, "--reason", "x")
    assert Act.objects.get(verb="certificate.revoke").parsed_arguments == {"reason": "two people shared an account"}


def test_an_expired_one_exits_with_2(file):
    JudgeFactory(name="gpt", version=2, provider="imported")
    assert "newer version" in refused("verify_certificate", file)


def test_keys_are_listed_and_rotated(file):
    before = json.loads(run("signing_keys", "--json"))["keys"]
    assert before[0]["signs"] is True
    after = json.loads(run("signing_keys", "--rotate", "--json"))["keys"]
    assert after[1]["public_key"] == before[0]["public_key"]
    assert [one["signs"] for one in after][:2] == [True, False]
    assert run("verify_certificate", file).startswith("holds")
    assert Act.objects.filter(verb="signing_key.rotate").exists()
    key = json.loads(run("signing_keys", "--new-key", "--json"))["key"]
    assert signing.read_key(key, "").private is not None
    assert after[0]["public_key"] in run("signing_keys")


@pytest.mark.any_database
@pytest.mark.long
def test_other_rules_after_the_first_look_take_a_reason(file, tmp_path):
    """The defect: `--rule` turned one decision into another, without a trace."""
    change = ("certificate", *JUDGE, "--rule", "tolerated_biases=central_tendency", "-o", tmp_path / "second.json")
    assert "Give a reason" in refused(*change)
    assert VerdictRules.objects.count() == 1
    assert Certificate.objects.count() == 1
    said = run(*change, "--reason", "it is noise")
    assert "Rules changed after the first look on" in said
    assert "from none to central_tendency" in said
    content = json.loads((tmp_path / "second.json").read_text())["content"]
    assert content["rules_on_record"]["changes"][0]["reason"] == "it is noise"
    audit = run("audit", *JUDGE)
    assert "Rules changed after the first look on" in audit
    assert "Rules changed after the first look on" in run("report", "--study", "Known", "-o", tmp_path / "r.html")
    assert "Rules changed after the first look on" in (tmp_path / "r.html").read_text()
