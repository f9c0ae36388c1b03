from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from core.errors import InputError
from judging.judges.models import Judge, Price
from judging.judges.services import judges
from judging.runs.queries import spending
from judging.runs.services import runs, work
from tests.support import factories
from tests.support.judging import dialogue_study, judged

pytestmark = pytest.mark.django_db

# 1,000 tokens in and 100 out at these prices make $0.01 a reply
PRICE = {"input": Decimal(5), "output": Decimal(50)}


@pytest.fixture
def judge(paid):
    return factories.JudgeFactory(provider="paid", model="m", name="Costly")


@pytest.fixture
def priced():
    return Price.objects.create(provider="paid", model="m", valid_from=date(2026, 1, 1), **PRICE)


def test_a_judgment_knows_what_it_cost(judge, priced):
    run = judged(dialogue_study(1), judge)

    assert set(run.judgments.values_list("cost_usd", "input_tokens", "output_tokens")) == {(Decimal("0.01"), 1000, 100)}
    found = spending.load_run(run)
    assert (found.usd, found.unknown, found.input_tokens) == (Decimal("0.02"), 0, 2000)


def test_without_a_price_the_cost_is_unknown_and_not_zero(judge):
    run = judged(dialogue_study(1), judge)

    assert set(run.judgments.values_list("cost_usd", flat=True)) == {None}
    assert spending.load_run(run).unknown == 2


def test_a_run_stops_itself_within_its_budget_and_says_so(judge, priced, paid):
    run = judged(dialogue_study(10), judge, budget_usd=Decimal("0.055"))

    assert len(paid) == 5, "a sixth would not fit"
    assert run.state == "stopped"
    assert run.stop_reason == (
        "The run's budget of $0.0550 is reached: $0.0500 are spent, and another reply may cost $0.0100."
    )
    assert not run.chunks.filter(worker__isnull=False).exists()


def test_with_many_in_flight_the_budget_still_holds(paid, priced):
    judge = factories.JudgeFactory(provider="paid", model="m", parameters={"concurrency": 8, "delay": 0.02})

    run = judged(dialogue_study(20), judge, budget_usd=Decimal("0.155"))

    assert run.stop_reason
    assert spending.load_run(run).usd <= Decimal("0.155")
    assert len(paid) >= 12


def test_a_higher_budget_lets_it_go_on(judge, priced, paid):
    run = judged(dialogue_study(3), judge, budget_usd=Decimal("0.025"))
    with pytest.raises(InputError, match="higher budget"):
        runs.resume(by=None, run=run, queue=False, budget_usd=Decimal("0.02"))

    runs.resume(by=None, run=run, queue=False, budget_usd=Decimal(1))
    list(work.work_through(run))

    run.refresh_from_db()
    assert (run.state, run.stop_reason, run.budget_usd) == ("finished", "", Decimal(1))
    assert run.judgments.count() == 6


@pytest.mark.parametrize("budget", [Decimal(0), Decimal(-1)])
def test_a_budget_of_nothing_is_refused(judge, priced, budget):
    with pytest.raises(InputError, match="above 0") as raised:
        runs.plan(study=dialogue_study(1), judge=judge, budget_usd=budget)
    assert raised.value.field == "budget_usd"


def test_a_budget_needs_a_price(judge):
    with pytest.raises(InputError, match="price of Costly's model is not known"):
        runs.plan(study=dialogue_study(1), judge=judge, budget_usd=Decimal(1))


def test_answers_known_already_cost_nothing_of_the_budget(judge, priced, paid):
    study = dialogue_study(3)
    judged(study, judge)

    run = judged(study, judge, budget_usd=Decimal("0.001"))

    assert run.state == "finished"
    assert len(paid) == 6


class TestDailyBudget:
    def test_it_holds_for_all_runs_of_all_versions(self, judge, priced, paid):
        judges.set_daily_budget(by=None, judge=judge, usd=Decimal("0.065"))
        judged(dialogue_study(2), judge)
        second = judges.define(by=None, name="Costly", provider="paid", model="m", parameters={"concurrency": 2})

        run = judged(dialogue_study(2), second)

        assert second.version == 2
        assert len(paid) == 6
        assert "The daily budget of Costly" in run.stop_reason

    def test_when_it_is_used_up_nothing_starts(self, judge, priced):
        judges.set_daily_budget(by=None, judge=judge, usd=Decimal("0.02"))
        judged(dialogue_study(1), judge)

        with pytest.raises(InputError, match="Costly has cost"):
            runs.plan(study=dialogue_study(1), judge=judge)

    def test_yesterday_does_not_count(self, judge, priced):
        run = judged(dialogue_study(1), judge)
        run.judgments.update(created_at="2026-01-01T12:00Z")

        assert spending.today("Costly") == 0

    def test_of_a_run_that_began_yesterday_what_came_today_counts(self, judge, priced):
        """Whether it was over since or goes on; one that was over yesterday has nothing of today."""
        run = judged(dialogue_study(1), judge)
        of_today, since = spending.today("Costly"), timezone.now() - timedelta(days=2)
        type(run).objects.filter(pk=run.pk).update(created_at=since)
        assert spending.today("Costly") == of_today > 0

        type(run).objects.filter(pk=run.pk).update(finished_at=None)
        assert spending.today("Costly") == of_today

        type(run).objects.filter(pk=run.pk).update(finished_at=since)
        run.judgments.update(created_at=since)
        assert spending.today("Costly") == 0

    def test_nothing_is_no_budget(self, judge):
        with pytest.raises(InputError, match="above 0"):
            judges.set_daily_budget(by=None, judge=judge, usd=Decimal(0))

    def test_it_makes_no_new_version(self, judge, priced):
        judges.set_daily_budget(by=None, judge=judge, usd=Decimal(5))

        assert judges.define(by=None, name="Costly", provider="paid", model="m") == judge
        assert Judge.objects.get().daily_budget_usd == 5
