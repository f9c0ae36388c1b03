"""What reads all that a judge said says so first where that is much."""

from __future__ import annotations

import pytest
from django.urls import reverse

from core import row_counts
from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.judging import dialogue_study, judged, scripted
from tests.support.labelled import judge_says, people_say, with_items
from tests.support.large import forget_counts

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

ASKS = "Read them all now"


@pytest.fixture(autouse=True)
def small_limit(monkeypatch):
    monkeypatch.setattr(row_counts, "LARGE", 3)
    forget_counts()
    yield
    forget_counts()


@pytest.fixture
def alice(client):
    client.force_login(ResearcherFactory(username="alice"))


@pytest.fixture
def criterion():
    made = CriterionFactory(study=with_items(4))
    people_say(made, {"bob": ["1", "2", "3", "1"], "charlie": ["1", "1", "3", "2"]})
    return made


@pytest.mark.parametrize(
    ("page", "command"),
    [
        ("judge_verdict", "audit"),
        ("judge_improve", "disagreements --limit 25"),
        ("judge_plan", "plan_labels --criterion KEY --width 0.1"),
    ],
)
def test_a_page_on_a_judge(client, alice, criterion, page, command):
    run = judge_says(criterion, "gpt", ["1", "2", "1", "3"])
    address = reverse(page, args=[criterion.study.slug, run.judge.pk])

    first = client.get(address, {"part": "all"}).content.decode()
    assert ASKS in first
    assert f"manage.py {command} --judge &quot;gpt&quot; --study {criterion.study.slug}" in first
    assert "?part=all&amp;whole=1" in first

    whole = client.get(address, {"whole": "1"})
    assert whole.status_code == 200
    assert ASKS not in whole.content.decode()
    row_counts.LARGE = 10
    assert ASKS not in client.get(address).content.decode()


@pytest.mark.parametrize("page", ["report", "against_majority"])
def test_a_page_on_all_judges(client, alice, criterion, page):
    judge_says(criterion, "gpt", ["1", "2", "1", "3"])
    address = reverse(page, args=[criterion.study.slug])

    assert ASKS in client.get(address).content.decode()
    assert ASKS not in client.get(address, {"whole": "1"}).content.decode()


class TestScores:
    def test_of_many_judgments(self, client, alice):
        run = judged(dialogue_study(4), scripted(otherwise="1"))
        address = reverse("run_scores", args=[run.pk])

        first = client.get(address, {"by": "condition"}).content.decode()
        assert ASKS in first
        assert f"manage.py scores {run.pk} --by condition --read verdict" in first
        assert "?by=condition&amp;whole=1" in first

        whole = client.get(address, {"whole": "1"})
        assert whole.context["document"]["run"] == run.pk
        assert ASKS not in whole.content.decode()

    def test_of_few(self, client, alice):
        row_counts.LARGE = 10**6
        run = judged(dialogue_study(4), scripted(otherwise="1"))

        assert ASKS not in client.get(reverse("run_scores", args=[run.pk])).content.decode()
