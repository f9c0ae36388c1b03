from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction

from core.audit.models import Act
from core.errors import InputError
from judging.judges.models import ModelKey
from judging.judges.providers.keys import origin
from judging.judges.services import judges, keys
from tests.support import factories
from tests.support.factories import JudgeFactory
from tests.support.judging import dialogue_study, judged
from tests.support.model_server import MODEL, running

pytestmark = pytest.mark.django_db
SECRET = "sk-of-the-project-1"


@pytest.fixture
def owner():
    return factories.ResearcherFactory()


@pytest.fixture
def project(owner):
    found = factories.ProjectFactory()
    factories.MembershipFactory(project=found, user=owner, role="owner")
    return found


def kept(owner, project, address="https://api.openai.com/v1", key=SECRET, **more):
    return keys.keep(by=owner, project=project, address=address, key=key, **more)


def test_a_key_is_sealed_and_comes_back_on_the_ring_of_its_project_only(owner, project):
    row = kept(owner, project, key=f" {SECRET}\n", note="the grant")
    row.refresh_from_db()
    assert (row.origin, row.note, row.created_by) == ("https://api.openai.com", "the grant", owner)
    assert SECRET not in row.sealed
    assert keys.load_keyring(project.pk).kept == {"https://api.openai.com": SECRET}
    assert keys.load_keyring(factories.ProjectFactory().pk).kept == {}


def test_a_new_key_for_an_address_takes_the_place_of_the_old_one(owner, project):
    first, second = kept(owner, project), kept(owner, project, "https://API.openai.com:443", "sk-another")
    assert (second.pk, ModelKey.objects.count()) == (first.pk, 1)
    assert keys.load_keyring(project.pk).find_key("https://api.openai.com/v1", "") == "sk-another"
    keys.drop(by=owner, key=second)
    assert not ModelKey.objects.exists()


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"address": "openai"}, "address"),
        ({"address": "https://me:secret@host"}, "address"),
        ({"address": f"https://{'a' * 250}.example"}, "address"),
        ({"key": "  "}, "key"),
        ({"key": "two\nlines"}, "key"),
        ({"key": "schlüssel"}, "key"),
        ({"key": "k" * 4001}, "key"),
        ({"note": "n" * 201}, "note"),
    ],
)
def test_what_is_no_key_is_refused_at_its_field(owner, project, given, field):
    with pytest.raises(InputError) as raised:
        kept(owner, project, **given)
    assert raised.value.field == field
    assert not ModelKey.objects.exists()


def test_the_database_keeps_one_whole_key_for_an_address(owner, project):
    kept(owner, project)
    for wrong in ({"origin": "https://api.openai.com", "sealed": "x"}, {"origin": "", "sealed": "x"}, {"origin": "y"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            ModelKey.objects.create(project=project, **wrong)


def test_acts_are_on_record_and_hold_no_key(owner, project):
    row = kept(owner, project, note="the grant")
    keys.drop(by=owner, key=row)
    acts = list(Act.objects.order_by("pk"))
    assert [act.verb for act in acts] == ["key.keep", "key.drop"]
    told = " ".join(str(vars(act)) for act in acts)
    assert "https://api.openai.com" in told
    assert SECRET not in told


def test_a_key_sealed_with_an_old_secret_is_named_and_sealed_anew(owner, project, settings):
    settings.SEALING_SECRETS = ["old"]
    row = kept(owner, project)
    settings.SEALING_SECRETS = ["new"]
    assert not keys.is_readable(row)
    assert keys.load_keyring(project.pk).unreadable == {"https://api.openai.com"}
    assert keys.reseal(by=None) == {"sealed": 0, "unreadable": 1}
    settings.SEALING_SECRETS = ["new", "old"]
    assert keys.reseal(by=None) == {"sealed": 1, "unreadable": 0}
    settings.SEALING_SECRETS = ["new"]
    assert keys.load_keyring(project.pk).find_key("https://api.openai.com", "") == SECRET


def test_a_judge_that_needs_a_key_is_told_where_one_is_entered(owner, project, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    study = dialogue_study(project=project)
    judge = judges.define(by=owner, name="gpt", provider="openai_compatible", model="gpt", project=project)
    with pytest.raises(InputError, match="Keys"):
        judges.check(judge, list(study.criteria.all()))
    kept(owner, project)
    judges.check(judge, list(study.criteria.all()))


@pytest.mark.any_database
def test_the_judges_of_a_project_show_its_key_and_those_of_another_do_not(owner, project, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with running() as server:
        server.key = ""
        kept(owner, project, server.url)
        shown = {}
        for home in (project, factories.ProjectFactory()):
            judge = JudgeFactory(
                project=home,
                name=home.slug,
                provider="openai_compatible",
                model=MODEL,
                parameters={"base_url": f"{server.url}/v1"},
            )
            before = len(server.asked)
            run = judged(dialogue_study(1, project=home), judge)
            assert run.state == "finished"
            shown[home] = {request.headers["authorization"] for request in server.asked[before:]}
    assert shown[project] == {f"Bearer {SECRET}"}
    assert [found for home, found in shown.items() if home != project] == [{"Bearer none"}]


def test_a_backup_holds_no_key_that_can_be_read_without_the_secret(owner, project, tmp_path):
    import zipfile

    kept(owner, project)
    call_command("backup", "-o", str(tmp_path / "site.zip"), "--unencrypted", verbosity=0)
    with zipfile.ZipFile(tmp_path / "site.zip") as archive:
        held = b"".join(archive.read(name) for name in archive.namelist())
    assert b"https://api.openai.com" in held
    assert SECRET.encode() not in held


def test_the_address_of_a_key_is_what_judges_are_asked_at(owner, project):
    assert kept(owner, project, "http://gpu1:8000/v1").origin == origin("http://gpu1:8000/v2/x")
