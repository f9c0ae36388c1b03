"""No benchmark is built or released whose splits are empty or far from what was asked for."""

from __future__ import annotations

import pytest

from annotation.benchmarks.models import Benchmark
from annotation.benchmarks.services import building, versions
from annotation.benchmarks.services.building import BuildOptions
from annotation.corpus.models import ResponsePair
from annotation.studies.models.studies import Study
from core.errors import InputError
from tests.db.annotation.benchmarks.services.voting import pairs, study_of, vote

pytestmark = pytest.mark.django_db

WANTED = {"dev": 0.2, "test": 0.8}


def studied(counts, *, level: str = "none", personas: int = 5) -> Study:
    """A study of pairs that all have response 2 in common, which is of that level."""
    found = pairs(len(counts), personas=personas)
    for one in found:
        one.response_2, one.extra = "Whatever you like.", {"levels": ["full", level]}
    ResponsePair.objects.bulk_update(found, ["response_2", "extra"])
    criterion = study_of(found)
    vote(criterion, counts)
    return criterion.study


def built(study: Study, **options) -> Benchmark:
    return building.build(by=None, study=study, name="Trips", options=BuildOptions(splits=WANTED, **options))


def test_a_response_for_anybody_leaves_both_splits_filled():
    made = built(studied([(9, 0)] * 20))
    sizes = {name: made.cases.filter(split=name).count() for name in WANTED}
    assert sizes == {"dev": 4, "test": 16}
    people = {name: set(made.cases.filter(split=name).values_list("pair__profile", flat=True)) for name in WANTED}
    assert not people["dev"] & people["test"]
    made.cases.filter(split="dev").update(excluded_reason="left out")
    with pytest.raises(InputError, match="The split dev of Trips 1 has no case that counts"):
        versions.release(by=None, benchmark=made)


def test_a_shared_response_of_another_level_is_refused_in_words():
    with pytest.raises(InputError, match="dev has 0 of 20 cases, 20 % were asked for") as caught:
        built(studied([(9, 0)] * 20, level="generic"))
    assert caught.value.field == "splits"
    assert not Benchmark.objects.exists()


@pytest.mark.any_database
def test_lopsided_splits_are_refused_unless_the_difference_is_allowed():
    study = studied([(9, 0)] * 20, personas=2)
    with pytest.raises(InputError, match="dev has 10 of 20 cases"):
        built(study)
    assert built(study, split_tolerance=0.3).cases.count() == 20


def test_a_split_without_a_case_that_counts_is_refused():
    with pytest.raises(InputError, match="has no case that counts"):
        built(studied([(9, 0) if k % 5 == 0 else (5, 4) for k in range(20)]))
