"""Agreement of a large study: asked for, computed by a worker, kept, and shown with its date."""

from __future__ import annotations

from time import time
from typing import Any

import pytest
from django.urls import reverse
from kombu.exceptions import OperationalError

from annotation.studies.models.labels import AgreementRun
from core.accounts.models.users import User
from core.jobs import waiting
from core.jobs.waiting import alone
from judging.assessment.options import JudgedOptions
from judging.assessment.services import deferred_agreement as later
from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import judge_says, people_say, with_items

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("all_are_large"), pytest.mark.any_database]


@pytest.fixture
def study(client):
    client.force_login(ResearcherFactory(username="rosa"))
    made = with_items(5, slug="suits")
    criterion = CriterionFactory(study=made, key="tone")
    people_say(criterion, {"bob": ["1", "2", "1", "3", "3"], "dana": ["1", "2", "2", "3", "1"]})
    judge_says(criterion, "gpt", ["1", "2", "1", "", "3"])
    return made


def page(client, **query) -> str:
    return " ".join(client.get(reverse("agreement", args=["suits"]), query).content.decode().split())


def ask(client, **query) -> None:
    address = reverse("agreement_compute", args=["suits"])
    assert client.post(f"{address}?by=stratum" if query else address).status_code == 302


def test_it_is_asked_for_computed_and_shown(client, study, sent):
    assert "a worker computes agreement on request" in page(client)
    ask(client)
    ((name, args),) = sent
    assert name == later.TASK
    assert "by rosa; no worker has begun yet" in page(client)
    later.compute(*args)
    shown = page(client)
    assert "It leaves out later labels and judgments" in shown
    assert "Coefficients on" in shown
    assert "no worker has begun" not in shown
    assert AgreementRun.objects.get().created_by == User.objects.get(username="rosa")


def test_a_task_that_runs_twice_computes_once(client, study, sent):
    ask(client)
    later.compute(*sent[0][1])
    later.compute(*sent[0][1])
    assert AgreementRun.objects.count() == 1


@pytest.mark.long
def test_the_page_is_the_one_that_reads_all_labels(client, study, sent):
    ask(client)
    later.compute(*sent[0][1])
    kept, read = (client.get(reverse("agreement", args=["suits"]), query).context for query in ({}, {"whole": "1"}))
    for name in ("sections", "warnings", "conventions", "versions"):
        assert kept[name] == read[name], name
    assert AgreementRun.objects.count() == 1
    files = [client.get(reverse("agreement_download", args=["suits", name])) for name in ("json", "csv", "svg")]
    assert [one.status_code for one in files] == [200, 200, 200]


@pytest.mark.long
def test_what_came_since_is_in_it_only_once_it_is_computed_anew(client, study, sent, monkeypatch):
    ask(client)
    later.compute(*sent[0][1])
    people_say(study.criteria.get(), {"bob": [None] * 5, "dana": [None] * 5, "carl": ["1", "2", "1", "3", "3"]})
    assert client.get(reverse("agreement", args=["suits"])).context["sections"][0]["document"]["n_raters"] == 2
    ask(client)
    later.compute(*sent[1][1])
    assert client.get(reverse("agreement", args=["suits"])).context["sections"][0]["document"]["n_raters"] == 3


def test_while_one_worker_is_at_it_nobody_else_begins(client, study, sent, monkeypatch):
    ask(client)
    options = JudgedOptions()
    with alone(f"{later.build_key(study, options)}-alive") as is_mine:
        assert is_mine
        waiting.remember(later.build_key(study, options), waiting.DeferredRequest("rosa", time(), begun=time()))
        shown = page(client)
        assert "Being computed for 0 s; asked for 0 s ago by rosa" in shown
        assert "agreement/compute/" not in shown
        ask(client)
        assert len(sent) == 1
        later.compute(*sent[0][1])
    assert not AgreementRun.objects.exists()
    assert "The worker that computed it is gone" in page(client)


def test_what_cannot_be_computed_is_said_on_the_page(client, study, sent):
    options = JudgedOptions(by="moon").model_dump()
    later.compute(study.pk, options, None)
    assert "items cannot be grouped by" in page(client, by="moon")
    assert "It could not be computed" not in page(client)


def test_a_failure_is_said_and_not_swallowed(client, study, sent, monkeypatch):
    def fail(**_: Any) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(later.agreement, "load_or_compute", fail)
    ask(client)
    with pytest.raises(MemoryError):
        later.compute(*sent[0][1])
    assert "MemoryError: no room" in page(client)
    assert "agreement/compute/" in page(client)


def test_without_a_broker_it_is_said(client, study, monkeypatch):
    def away(*_: Any, **__: Any) -> None:
        raise OperationalError

    monkeypatch.setattr(waiting.current_app, "send_task", away)
    address = reverse("agreement_compute", args=["suits"])
    assert "No worker can be reached now" in client.post(address, follow=True).content.decode()
    assert "no worker has begun" not in page(client)


def test_other_options_are_asked_for_by_themselves(client, study, sent):
    ask(client, by="stratum")
    assert sent[0][1][1]["by"] == "stratum"
    assert "no worker has begun" in page(client, by="stratum")
    assert "no worker has begun" not in page(client)


def test_a_file_that_nobody_computed_is_not_there(client, study, sent):
    assert client.get(reverse("agreement_download", args=["suits", "csv"])).status_code == 404
