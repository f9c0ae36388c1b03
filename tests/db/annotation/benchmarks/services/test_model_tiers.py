"""Benchmarks with the likeliest tier by the difficulty model in place of the one by a case's own kappa."""

from __future__ import annotations

import json

import pytest

from annotation.agreement.services import stored_difficulty, tiers
from annotation.benchmarks.imports import releases as importing
from annotation.benchmarks.models import Benchmark
from annotation.benchmarks.queries import lineages
from annotation.benchmarks.services import building, datasheets, filtering, model_tiers, releasing, versions
from annotation.benchmarks.services.building import BuildOptions
from annotation.stats.bands import TIERS
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion
from annotation.studies.queries import ratings
from annotation.studies.queries.preferences import preferences
from core.errors import InputError
from tests.db.annotation.benchmarks.services.test_releasing import empty_the_database, everything
from tests.db.annotation.benchmarks.services.voting import FITTED as VOTES, pairs, study_of, vote
from tests.support.factories import ResearcherFactory

pytestmark = pytest.mark.django_db

MODEL = BuildOptions(tiers="model")


@pytest.fixture
def criterion() -> Criterion:
    made = study_of(pairs(len(VOTES)), name="Trips", slug="trips")
    vote(made, VOTES)
    return made


def build(criterion: Criterion, options: BuildOptions = MODEL, **more) -> Benchmark:
    return building.build(by=None, study=criterion.study, name="Trips", options=options, **more)


def likeliest(criterion: Criterion) -> tuple[str | None, ...]:
    """What the page Tiers shows of the same study."""
    (fit,) = stored_difficulty.load_or_fit_all([ratings.load_criterion(criterion)], patient=True)
    return fit.found.tier


def test_tiers_are_those_of_the_page_of_tiers(criterion):
    cases = list(build(criterion).cases.all())
    counted = list(build(criterion, BuildOptions(), version="2").cases.all())
    assert tuple(case.tier for case in cases) == likeliest(criterion)
    assert [case.tier for case in cases] != [case.tier for case in counted]
    assert [case.kappa for case in cases] == [case.kappa for case in counted]
    for case in cases:
        (step,) = case.history
        assert step["outcome"] == case.tier == max(step["tiers"], key=step["tiers"].get)
        assert sum(step["tiers"].values()) == pytest.approx(1)


def test_the_model_is_given_the_votes_as_the_page_of_tiers_gives_them(criterion):
    Annotation.objects.update(strength="slightly")
    Annotation.objects.filter(value="2").update(strength="much")
    found = lineages.load_study(criterion.study)
    said = lineages.votes(found, "preference", pooled=False)
    table, shown = model_tiers.to_table(found, said, with_tie=False)
    of_page, shown_there = preferences(ratings.load_criterion(criterion))
    assert (table.codes.tolist(), table.categories) == (of_page.codes.tolist(), of_page.categories)
    assert table.categories[-1] == "2 much"
    assert shown.order.tolist() == shown_there.order.tolist()
    assert set(shown.order.ravel().tolist()) == {1, -1}
    assert list(shown.systems) == list(shown_there.systems)


def test_what_the_tiers_are_made_of_is_on_record(criterion):
    made = build(criterion).made
    assert (made["tiers"], made["agreement_cuts"]) == ("model", [0.6, 0.75, 0.9])
    model = made["model"]
    assert model["n_cases"] == len(VOTES) == sum(one["n"] for one in model["by_counted"])
    assert sum(model["expected"].values()) == pytest.approx(len(VOTES))
    assert all(model["intervals"][t][0] <= model["expected"][t] <= model["intervals"][t][1] for t in TIERS)
    assert 0.25 < model["sure"] < 1
    counted = build(criterion, BuildOptions(), version="2").made
    assert counted["tiers"] == "counted"
    assert not {"model", "agreement_cuts"} & counted.keys()
    assert datasheets.tiers_by_model(counted) == ""


@pytest.mark.any_database
def test_contested_by_the_model_is_excluded_and_says_so(criterion):
    for case in build(criterion).cases.all():
        assert bool(case.excluded_reason) == (case.tier == "contested")
        if case.excluded_reason:
            assert case.excluded_reason.startswith("contested by the difficulty model: ")
            assert case.gold == ""


@pytest.mark.any_database
def test_a_tier_set_by_hand_stands_above_the_model(criterion):
    tier = likeliest(criterion)[0]
    wanted = next(one for one in ("easy", "hard") if one != tier)
    item = criterion.study.items.order_by("position")[0]
    tiers.set_tier(by=ResearcherFactory(), item=item, criterion=criterion, tier=wanted, reason="a trap")
    case = build(criterion).cases.get(pair=item.pair)
    assert case.tier == wanted
    assert [step["outcome"] for step in case.history] == [tier, wanted]


@pytest.mark.any_database
def test_votes_of_filter_rounds_are_fitted_together(criterion):
    rule = filtering.Rule({**filtering.Rule().outcomes, "contested": "asked again"})
    found = filtering.run(by=None, study=criterion.study, rule=rule)
    again = found.follow_up.criteria.get()
    vote(again, [(9, 0)] * again.study.items.count())
    made = build(criterion).made["model"]
    pooled = build(criterion, BuildOptions(tiers="model", pooled=True), version="2").made["model"]
    assert made["n_cases"] == pooled["n_cases"] == len(VOTES)
    assert made["expected"]["easy"] > likeliest(criterion).count("easy")


@pytest.mark.parametrize("options", [MODEL, BuildOptions(tiers="model", min_votes=1)])
def test_without_a_fit_nothing_is_built(options):
    criterion = study_of(pairs(4), name="Trips", slug="trips")
    vote(criterion, [(1, 0), (0, 1), (1, 0), (0, 0)])
    with pytest.raises(InputError, match="every item has one rating") as caught:
        build(criterion, options)
    assert caught.value.field == "tiers"
    assert not Benchmark.objects.exists()


def test_cuts_of_the_model_are_probabilities(criterion):
    with pytest.raises(InputError, match="between 0 and 1"):
        build(criterion, BuildOptions(tiers="model", agreement_cuts=(0.6, 0.8, 1.2)))
    strict = build(criterion, BuildOptions(tiers="model", agreement_cuts=(0.9, 0.98, 0.99)))
    assert strict.cases.filter(tier="contested").count() > likeliest(criterion).count("contested")


def test_a_case_without_votes_has_no_tier():
    criterion = study_of(pairs(len(VOTES)), name="Trips", slug="trips")
    vote(criterion, [*VOTES[:-1], (0, 0)])
    made = build(criterion)
    last = made.cases.order_by("pk").last()
    assert (last.tier, last.history, last.excluded_reason) == ("", [], "too few: nobody voted")
    assert made.made["model"]["n_cases"] == len(VOTES) - 1


@pytest.mark.any_database
def test_it_goes_out_and_in_and_into_a_cleaned_version(criterion, tmp_path):
    draft = build(criterion)
    cleaned = versions.clean(by=None, benchmark=draft, rules=["repeated"], version="2")
    assert cleaned.made["model"] == draft.made["model"]
    made = versions.release(by=None, benchmark=draft)
    before = everything(made)
    sheet = datasheets.to_markdown(datasheets.datasheet(made, bootstrap=0))
    assert datasheets.tiers_by_model(made.made) in sheet
    assert "| all | 24 |" in sheet
    assert "How sure the tiers are" in datasheets.to_html(datasheets.datasheet(made, bootstrap=0))
    releasing.write(benchmark=made, folder=tmp_path / "out")
    kept = json.loads((tmp_path / "out" / "benchmark.json").read_text())
    assert not {"people", "v1"} & set(json.dumps(kept["made"]).replace('"', " ").split())
    cleaned.delete()
    empty_the_database()
    importing.load(by=None, folder=tmp_path / "out")
    assert everything(Benchmark.objects.get()) == before
