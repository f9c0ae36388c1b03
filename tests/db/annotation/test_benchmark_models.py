"""What the database and the models keep of a benchmark: cases once, gold or a reason, and no change after release."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.benchmarks.models import Benchmark, BenchmarkCase, ReleasedError
from tests.support.factories import BenchmarkCaseFactory, BenchmarkFactory, ResponsePairFactory

pytestmark = pytest.mark.django_db


def release(benchmark: Benchmark) -> None:
    benchmark.state, benchmark.released_at = Benchmark.State.RELEASED, timezone.now()
    benchmark.save()


def test_a_released_benchmark_and_its_cases_refuse_every_change():
    case = BenchmarkCaseFactory()
    benchmark = case.benchmark
    release(benchmark)

    case.gold = "2"
    for change in (
        case.save,
        benchmark.save,
        benchmark.delete,
        lambda: BenchmarkCaseFactory(benchmark=benchmark),
        lambda: Benchmark.objects.filter(pk=benchmark.pk).update(notes="new"),
        lambda: Benchmark.objects.filter(pk=benchmark.pk).delete(),
        lambda: BenchmarkCase.objects.filter(benchmark=benchmark).update(gold="2"),
        lambda: BenchmarkCase.objects.filter(benchmark=benchmark).delete(),
    ):
        with pytest.raises(ReleasedError, match="is released and does not change"):
            change()
    assert BenchmarkCase.objects.get().gold == "1"


def test_a_draft_changes():
    case = BenchmarkCaseFactory()
    case.gold = "2"
    case.save()
    assert BenchmarkCase.objects.filter(benchmark=case.benchmark).update(split="test") == 1
    case.benchmark.delete()
    assert not BenchmarkCase.objects.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"gold": ""},
        {"gold": "tie"},
        {"tier": "trivial"},
        {"votes_1": None},
    ],
)
def test_a_case_that_contradicts_itself_is_refused(wrong):
    with pytest.raises(IntegrityError), transaction.atomic():
        BenchmarkCaseFactory(**wrong)


def test_cases_without_gold_say_why_and_do_not_count():
    benchmark = BenchmarkFactory()
    BenchmarkCaseFactory(benchmark=benchmark, gold="", excluded_reason="four votes each: tied")
    good = BenchmarkCaseFactory(benchmark=benchmark, votes_1=None, votes_2=None, votes_tie=None, kappa=None)

    assert list(benchmark.cases.only_counting()) == [good]


def test_a_pair_is_in_a_benchmark_once():
    case = BenchmarkCaseFactory()
    with pytest.raises(IntegrityError), transaction.atomic():
        BenchmarkCaseFactory(benchmark=case.benchmark, pair=case.pair)


def test_chosen_and_rejected_follow_the_gold():
    pair = ResponsePairFactory(response_1="one", response_2="two")
    assert (BenchmarkCaseFactory(pair=pair).chosen, BenchmarkCaseFactory(pair=pair, gold="2").chosen) == ("one", "two")
    assert BenchmarkCaseFactory(pair=pair, gold="2").rejected == "one"
    assert BenchmarkCaseFactory(pair=pair, gold="", excluded_reason="tied").chosen == ""
