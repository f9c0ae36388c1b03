"""What alice sees of benchmarks: the way from votes to a released folder, in the browser."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from django.urls import reverse

from annotation.benchmarks.models import Benchmark, FilterRound
from annotation.benchmarks.services import building, filtering, versions
from tests.db.annotation.benchmarks.services.voting import FITTED, pairs, study_of, vote
from tests.support.factories import BenchmarkCaseFactory, BenchmarkFactory, ResearcherFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(client):
    client.force_login(ResearcherFactory(username="alice"))
    return client


@pytest.fixture
def study():
    criterion = study_of(pairs(4), name="Trips", slug="trips")
    vote(criterion, [(9, 0), (1, 8), (5, 4), (4, 4)])
    return criterion.study


@pytest.fixture
def benchmark(study):
    return building.build(by=None, study=study, name="Trips", notes="<b>A try</b>")


def page(client, name, *arguments, **query) -> str:
    answer = client.get(reverse(name, args=arguments), query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_from_votes_to_a_release(alice, study):
    alice.post(reverse("filter_rounds", args=["trips"]), {**usual(), "rule_tied": "dropped"})
    assert FilterRound.objects.get().created_by.username == "alice"
    listed = page(alice, "filter_rounds", "trips")
    assert "2 kept, 2 dropped." in listed
    assert "Every item is decided." in listed

    answer = alice.post(
        reverse("benchmark_create"),
        {
            "study": "trips",
            "name": "Trips",
            "version": "1",
            "cuts": "0.4,0.6,0.8",
            "seed": "0",
            "splits": "dev=0.5 test=0.5",
        },
    )
    assert answer["Location"] == reverse("benchmark_detail", args=["trips-1"])
    assert "2 cases of 2 personas" in page(alice, "benchmark_detail", "trips-1")
    assert alice.get(reverse("release_download", args=["trips-1"])).status_code == 404

    alice.post(reverse("benchmark_release", args=["trips-1"]))
    assert Benchmark.objects.get().is_released
    answer = alice.get(reverse("release_download", args=["trips-1"]))
    with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as packed:
        assert {"trips-1/benchmark.json", "trips-1/general/easy.jsonl", "trips-1/datasheet.html"} <= set(
            packed.namelist()
        )
    assert "released already" in follow(alice, "benchmark_release", "trips-1")


def usual() -> dict[str, str]:
    rules = {"too_few": "asked again", "tied": "asked again", "no_preference": "dropped", "contested": "dropped"}
    kept = dict.fromkeys(("hard", "medium", "easy"), "kept")
    return {**{f"rule_{k}": v for k, v in (rules | kept).items()}, "cuts": "0.4,0.6,0.8", "min_votes": "2", "seed": "0"}


def follow(client, name, *arguments) -> str:
    return client.post(reverse(name, args=arguments), follow=True).content.decode()


@pytest.mark.any_database
def test_what_is_refused_is_said_at_its_field(alice, benchmark, study):
    again = {"study": "trips", "name": "Trips", "version": "1", "cuts": "0.4,0.6,0.8", "seed": "0"}
    assert "There is a version &#x27;1&#x27;" in alice.post(reverse("benchmark_create"), again).content.decode()
    wrong = {**again, "version": "2", "splits": "dev=1.5"}
    assert "sum to 1" in alice.post(reverse("benchmark_create"), wrong).content.decode()
    cuts = alice.post(reverse("filter_rounds", args=["trips"]), {**usual(), "cuts": "3"}).content.decode()
    assert "three ascending numbers" in cuts
    alice.post(reverse("filter_rounds", args=["trips"]), usual())
    twice = alice.post(reverse("filter_rounds", args=["trips"]), usual()).content.decode()
    assert "No item of Trips is ready and not decided yet." in twice


@pytest.mark.any_database
def test_tiers_by_the_model_say_how_sure_they_are(alice):
    vote(study_of(pairs(len(FITTED)), name="Trips", slug="trips"), FITTED)
    given = {"study": "trips", "name": "Trips", "version": "1", "cuts": "0.4,0.6,0.8", "seed": "0", "tiers": "model"}
    wrong = alice.post(reverse("benchmark_create"), {**given, "agreement_cuts": "0.6,0.9,2"}).content.decode()
    assert "must lie between 0 and 1" in wrong
    alice.post(reverse("benchmark_create"), given)
    made = Benchmark.objects.get()
    for name in ("benchmark_detail", "benchmark_datasheet"):
        html = page(alice, name, "trips-1")
        assert f"probability {made.made['model']['sure']:.2f} on average" in html
    case = made.cases.first()
    assert f"{case.tier} {case.history[0]['tiers'][case.tier]:.2f}" in page(alice, "benchmark_case", "trips-1", case.pk)


def test_why_there_are_no_tiers_by_the_model_is_said_at_the_field(alice):
    vote(study_of(pairs(2), name="Few", slug="few"), [(1, 0), (0, 1)])
    given = {"study": "few", "name": "Few", "version": "1", "cuts": "0.4,0.6,0.8", "seed": "0", "tiers": "model"}
    html = alice.post(reverse("benchmark_create"), given).content.decode()
    assert "The difficulty model cannot be fitted: every item has one rating" in html
    assert not Benchmark.objects.exists()


def test_cases_are_narrowed_down_and_one_tells_its_history(alice, study):
    filtering.run(by=None, study=study)
    building.build(by=None, study=study, name="Trips")
    every = page(alice, "benchmark_cases", "trips-1")
    assert all(f"Question {k}?" in every for k in range(4))
    assert "Question 1?" not in page(alice, "benchmark_cases", "trips-1", kind="general")
    assert "Question 0?" not in page(alice, "benchmark_cases", "trips-1", only="excluded")
    assert "No case matches" in page(alice, "benchmark_cases", "trips-1", q="nothing like it")
    case = Benchmark.objects.get().cases.get(pair__external_id="pair2")
    html = page(alice, "benchmark_case", "trips-1", case.pk)
    assert "dropped in Trips, round 1: contested: 5 to 4 votes" in html
    assert "5 for response 1, 4 for response 2, 0 for a tie" in html
    assert alice.get(reverse("benchmark_case", args=["trips-1", 0])).status_code == 404


def test_the_audit_and_a_cleaned_version(alice, benchmark):
    assert "Not audited yet" in page(alice, "benchmark_audit", "trips-1")
    assert alice.get(reverse("benchmark_audit_download", args=["trips-1"])).status_code == 404
    alice.post(reverse("benchmark_audit", args=["trips-1"]))
    html = page(alice, "benchmark_audit", "trips-1")
    assert "Trivial baselines" in html
    assert json.loads(alice.get(reverse("benchmark_audit_download", args=["trips-1"])).content)["n"] == 2
    refused = alice.post(reverse("benchmark_audit", args=["trips-1"]), {"version": "2"}).content.decode()
    assert "This field is required" in refused
    answer = alice.post(reverse("benchmark_audit", args=["trips-1"]), {"rules": ["repeated"], "version": "2"})
    assert answer["Location"] == reverse("benchmark_detail", args=["trips-2"])


def test_the_datasheet_as_page_and_files(alice, benchmark):
    html = page(alice, "benchmark_datasheet", "trips-1")
    assert "35 votes on 4 cases, 8 to 9 a case" in html
    assert "&lt;b&gt;A try&lt;/b&gt;" in html
    for ending, words in (("md", "# Trips 1: datasheet"), ("html", "<!DOCTYPE html>"), ("json", '"agreement"')):
        assert words in page(alice, "datasheet_download", "trips-1", ending)
    assert alice.get(reverse("datasheet_download", args=["trips-1", "pdf"])).status_code == 404


BADGE = "badge--simulated"


def test_votes_drawn_by_a_program_say_so_on_every_page(alice, study):
    assert BADGE not in page(alice, "filter_rounds", "trips")
    study.annotators.update(kind="simulated")
    drawn = building.build(by=None, study=study, name="Drawn")
    for name in ("benchmark_detail", "benchmark_cases", "benchmark_audit", "benchmark_datasheet", "benchmark_release"):
        assert BADGE in page(alice, name, drawn.slug), name
    assert "their votes are drawn by a program" in page(alice, "benchmark_datasheet", drawn.slug)
    assert BADGE in page(alice, "benchmark_list")
    assert BADGE in page(alice, "filter_rounds", "trips")
    assert BADGE in page(alice, "evaluation_index")
    assert BADGE in page(alice, "evaluation_list", drawn.slug)
    cleaned = versions.clean(by=None, benchmark=drawn, rules=["repeated"], version="2")
    assert BADGE in page(alice, "benchmark_detail", cleaned.slug)


def test_what_the_choice_hides(alice, study):
    assert "not graded yet" in page(alice, "graded", "trips")
    answer = alice.post(reverse("graded", args=["trips"]))
    assert answer["Location"] == reverse("study_detail", args=["trips-graded"])
    shown = page(alice, "graded", "trips")
    assert "0 choices on 0 cases" in shown
    assert "once somebody has graded both responses" in " ".join(shown.split())
    kept = alice.get(reverse("graded_download", args=["trips"])).json()
    assert (kept["n"], kept["no_difference"]["value"], kept["graded"]) == (0, None, "trips-graded")
    study.kind = "dialogue"
    study.save()
    assert alice.get(reverse("graded", args=["trips"])).status_code == 404


def test_the_same_pair_elsewhere_and_with_which_label(alice):
    one = BenchmarkCaseFactory(benchmark=BenchmarkFactory(slug="a"))
    other = BenchmarkCaseFactory(benchmark=BenchmarkFactory(slug="b"), pair=one.pair, gold="2")
    assert "with the opposite label" in page(alice, "benchmark_case", "a", one.pk)
    assert "with the opposite label" in page(alice, "benchmark_case", "b", other.pk)


@pytest.mark.any_database
def test_queries_do_not_grow_with_the_cases(alice, django_assert_max_num_queries):
    """Sign-in takes two, the line four, the page itself the rest; as many for one case as for sixty."""
    benchmark = BenchmarkFactory(slug="many")
    for _ in range(60):
        BenchmarkCaseFactory(benchmark=benchmark)
    benchmark = versions.release(by=None, benchmark=benchmark)
    versions.audit(by=None, benchmark=benchmark, bootstrap=10)
    for name, most in (
        ("benchmark_list", 7),
        ("benchmark_detail", 13),
        ("benchmark_cases", 12),
        ("benchmark_audit", 9),
        ("benchmark_datasheet", 13),
        ("benchmark_release", 10),
    ):
        with django_assert_max_num_queries(most):
            page(alice, name, *([] if name == "benchmark_list" else ["many"]))


def test_with_nothing_there_it_says_what_to_do(alice):
    nothing = page(alice, "benchmark_list")
    assert "No benchmark yet" in nothing
    assert "Build from a study" not in nothing
    assert "New study" in nothing
    study_of(pairs(1), name="P", slug="p")
    assert "Build from a study" in page(alice, "benchmark_list")
    dialogues = study_of([], name="D", slug="d").study
    dialogues.kind = "dialogue"
    dialogues.save()
    assert alice.get(reverse("filter_rounds", args=["d"])).status_code == 404


def test_annotators_do_not_see_it(client, benchmark):
    client.force_login(UserFactory())
    for name in ("benchmark_detail", "benchmark_cases", "benchmark_audit", "benchmark_datasheet", "benchmark_release"):
        assert client.get(reverse(name, args=["trips-1"])).status_code == 403
    assert client.get(reverse("filter_rounds", args=["trips"])).status_code == 403
