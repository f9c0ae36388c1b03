"""The tiers page by the difficulty model, and the other places that tell the same."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pyarrow.parquet as pq
import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.urls import reverse

from annotation.agreement.models import TierOverride
from annotation.agreement.services import difficulty, stored_difficulty
from annotation.corpus.models import Dialogue
from annotation.studies.imports.ratings import load
from annotation.studies.models.studies import Item
from core.files.input_files import InputFile
from core.jobs import waiting
from tests.support.difficult import drawn, say
from tests.support.factories import CriterionFactory, DialogueFactory, ResearcherFactory, ScenarioFactory
from tests.support.labelled import people_say, with_items

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.fixture
def alice(client):
    client.force_login(ResearcherFactory(username="alice"))
    return client


def page(client, **query):
    return client.get(reverse("tiers", args=["suits"]), query)


def text(response) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def test_it_begins_with_the_expected_tiers_and_how_many_are_clear(alice):
    drawn(name="Depth")
    response = page(alice)
    model = response.context["model"]
    lead = response.context["lead"]
    counts = [int(n) for n in re.findall(r"(\d+) (?:easy|medium|hard|contested)", lead)]
    assert lead.startswith("Expected among 40 items on Depth: ")
    assert sum(counts) == 40
    for n, (_, expected) in zip(reversed(counts), model["expected_counts"].items(), strict=True):
        assert abs(n - expected) < 1
    assert model["clear"] == sum(row["clear"] for row in model["items"])
    assert lead in text(response)
    assert response.context["more"]["sentence"] in text(response)
    assert "sim-a · simulated annotator" in text(response)


def test_the_least_certain_items_come_first_and_open_their_page(alice):
    drawn()
    response = page(alice)
    rows = list(response.context["page"])
    certain = [max(row["tiers"].values()) for row in rows]
    assert certain == sorted(certain)
    assert certain[-1] < 0.8
    first = rows[0]
    address = f"{reverse('item_detail', args=['suits', first['position']])}?criterion=depth"
    assert f'href="{address}"' in response.content.decode()
    assert alice.get(address).status_code == 200
    said = ", ".join(f"{tier} {p:.2f}" for tier, p in first["likely"])
    assert said in text(response)


@pytest.mark.parametrize("sort", ["position", "-position", "difficulty", "-difficulty", "certain", "-certain", "nope"])
def test_items_sort(alice, sort):
    drawn()
    rows = list(page(alice, sort=sort, items="all").context["page"])
    assert len(rows) == 25
    of = {
        "position": lambda row: row["position"],
        "difficulty": lambda row: row["difficulty"]["value"],
        "certain": lambda row: max(row["tiers"].values()),
    }.get(sort.removeprefix("-"), lambda row: max(row["tiers"].values()))
    values = [of(row) for row in rows]
    assert values == sorted(values, reverse=sort.startswith("-"))


@pytest.mark.long
def test_items_of_each_tier_are_all_items(alice):
    drawn()
    listed = {name: page(alice, items=name).context["page"].paginator.count for name in
              ("unclear", "all", "easy", "medium", "hard", "contested")}  # fmt: skip
    assert listed.pop("all") == 40
    unclear = listed.pop("unclear")
    assert sum(listed.values()) == 40
    assert unclear == 40 - page(alice).context["model"]["clear"]
    assert "There is none." in text(page(alice, items="contested")) or listed["contested"]


@pytest.mark.long
def test_other_cuts_are_previewed_before_they_are_used(alice):
    drawn()
    now = page(alice).context["model"]
    shown = page(alice, new_cuts="0.5,0.6,0.7")
    preview = shown.context["preview"]
    assert shown.context["model"]["cuts"] == now["cuts"]
    assert preview["easier"] == sum(one["n"] for one in preview["moved"]) > 0
    assert preview["harder"] == 0
    then = alice.get(reverse("tiers", args=["suits"]) + preview["href"]).context
    assert then["model"]["cuts"] == [0.5, 0.6, 0.7]
    assert [n for _, _, n in preview["tiers"]] == [then["model"]["expected_counts"][t] for t, _, _ in preview["tiers"]]
    back = page(alice, agreement_cuts="0.5,0.6,0.7", new_cuts="0.6,0.75,0.9").context["preview"]
    assert (back["easier"], back["harder"]) == (0, preview["easier"])
    moved = {(one["from"], one["to"]): one["n"] for one in preview["moved"]}
    assert {(one["to"], one["from"]): one["n"] for one in back["moved"]} == moved
    assert "These are the cut-offs in use." in text(page(alice, new_cuts="0.6,0.75,0.9"))


def test_a_mistake_in_the_cuts_is_said_at_their_field_and_the_page_stands(alice):
    drawn()
    response = page(alice, new_cuts="0.9,<b>,0.6")
    html = response.content.decode()
    assert response.status_code == 400
    assert response.context["model"]["n_items"] == 40
    assert 'aria-describedby="cut-offs-error"' in html
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert "is not three ascending numbers such as 0.6,0.75,0.9" in text(response)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"agreement_cuts": "0.9,0.75,0.6"}, "three ascending numbers such as 0.6,0.75,0.9"),
        ({"agreement_cuts": "0.5,0.75,1"}, "must lie between 0 and 1"),
        ({"items": "nice"}, "is not one of unclear, all, easy"),
        ({"by": "colour"}, "tems cannot be grouped"),
        ({"criterion": "nope"}, "o criterion is called"),
    ],
)
def test_what_makes_no_sense_is_said_on_the_page(alice, query, says):
    drawn()
    response = page(alice, **query)
    assert response.status_code == 400
    assert says in text(response)


def test_without_labels_there_is_something_to_do(alice):
    CriterionFactory(study=with_items(3, slug="suits"))
    assert "No labels yet" in text(page(alice))
    assert page(alice, criterion="").status_code == 200


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ({"bob": ["1", "2", "3"] * 10}, "every item has one rating"),
        ({"bob": ["2"] * 30, "dana": ["2"] * 30}, "every answer is the same"),
        ({"bob": ["1"] * 15 + [None] * 15, "dana": [None] * 15 + ["2"] * 15}, "every item has one rating"),
        ({"bob": ["1", "2"] * 5 + [None] * 20, "dana": ["2", "2"] * 5 + [None] * 20}, "the model needs 20"),
        ({"bob": [""] * 30, "dana": [""] * 30}, None),
    ],
    ids=["one person", "all alike", "nothing shared", "few", "nobody could judge"],
)
def test_where_the_model_cannot_be_fitted_it_says_why_and_the_counted_tiers_stand(alice, answers, why):
    people_say(CriterionFactory(study=with_items(30, slug="suits")), answers)
    response = page(alice)
    assert response.status_code == 200
    if why is None:
        assert "No labels yet" in text(response)
        return
    assert f"The difficulty model is not fitted: {response.context['not_fitted']}" in text(response)
    assert why in response.context["not_fitted"]
    assert response.context["found"]["counts"]
    files = {name: alice.get(reverse("tiers_download", args=["suits", name])) for name in ("json", "csv", "parquet")}
    assert json.loads(files["json"].getvalue())["difficulty"]["reason"] == response.context["not_fitted"]
    assert {row["model_tier"] for row in csv.DictReader(io.StringIO(files["csv"].getvalue().decode()))} == {""}
    assert set(pq.read_table(io.BytesIO(files["parquet"].getvalue()))["difficulty"].to_pylist()) == {None}


@pytest.mark.long
@pytest.mark.each_database
def test_bars_by_domain(alice):
    drawn()
    hotels, music = (ScenarioFactory(task__domains=[name]) for name in ("Hotels", "Music"))
    keys = list(Dialogue.objects.order_by("pk").values_list("pk", flat=True))
    Dialogue.objects.filter(pk__in=keys[:10]).update(scenario=hotels)
    Dialogue.objects.filter(pk__in=keys[10:]).update(scenario=music)
    response = page(alice, by="domain")
    assert "by domain" in response.context["model_bars_caption"]
    assert "Hotels" in response.context["model_bars"]


@pytest.mark.long
@pytest.mark.each_database
def test_counted_tiers_stand_beside_those_of_the_model(alice):
    criterion = drawn()
    item = Item.objects.get(study=criterion.study, position=1)
    TierOverride.objects.create(
        item=item, criterion=criterion, tier="contested", reason="unclear", decided_by=ResearcherFactory()
    )
    response = page(alice, items="all", sort="position")
    rows = response.context["by_counted"]
    assert sum(row["n"] for row, _ in rows) == 40
    assert sum(sum(expected) for _, expected in rows) == pytest.approx(40)
    assert "by hand: contested" in text(response)
    counted = page(alice, mode="counted").context
    assert {row["counted"]: row["n"] for row, _ in rows} == {
        tier: n for tier, n in counted["found"]["counts"].items() if n
    }
    assert "model" not in counted
    assert counted["counted_lead"].startswith("Counted among 40 items")


def test_nine_votes_on_two_options_are_told_that_none_can_be_medium(alice):
    criterion = drawn(yes_no=True, people="abcdefghi")
    few = page(alice)
    assert "9 votes on two options split in only 5 ways" in text(few)
    assert "no item can be counted as medium" in text(few)
    assert page(alice).context["thresholds"][0][:2] == tuple(one["label"] for one in criterion.categories)


def test_on_an_unordered_scale_people_have_no_severity_and_the_scale_no_thresholds(alice):
    criterion = CriterionFactory(
        study=with_items(40, slug="suits"), level="nominal",
        categories=[{"value": one, "label": one, "guideline": ""} for one in ("red", "green", "blue")],
    )  # fmt: skip
    say(criterion, 40, seed=2)
    response = page(alice)
    assert response.context["model"]["method"] == "categories"
    assert response.context["thresholds"] == []
    assert "Severity" not in text(response)
    assert "how often a person knows the category" in text(response)


@pytest.mark.each_database
def test_numbers_have_tiers_and_severities_but_no_thresholds(alice):
    scale = [{"value": str(one), "label": str(one), "guideline": ""} for one in range(101)]
    criterion = CriterionFactory(study=with_items(40, slug="suits"), level="interval", categories=scale)
    rng = np.random.default_rng(3)
    trait, noise = rng.normal(50, 15, 40), np.exp(rng.normal(1.8, 0.7, 40))
    given = {who: np.clip(trait + rng.normal(size=40) * noise, 0, 100).round().astype(int) for who in "abc"}
    people_say(criterion, {who: [str(one) for one in said.tolist()] for who, said in given.items()})
    response = page(alice)
    assert response.context["model"]["method"] == "linear mixed model"
    assert response.context["thresholds"] == []
    assert "numbers lie below the mean" in text(response)


@pytest.mark.long
def test_of_preferences_it_tells_who_is_drawn_to_the_response_shown_first(alice):
    criterion = CriterionFactory(study=with_items(40, kind="pair", slug="suits"), key="preference", preference=True)
    say(criterion, 40, seed=2)
    response = page(alice)
    assert response.context["model"]["method"] == "paired comparison"
    assert "Drawn to the first response" in text(response)
    for form in ("html", "latex"):
        report = alice.get(reverse("report_download", args=["suits", form])).content.decode()
        assert "Drawn to the first response" in report
        order = response.context["model"]["people"][0]["order"]["value"]
        assert f"{abs(order):.2f}" in report


@pytest.mark.long
def test_the_same_number_of_queries_for_any_number_of_items_and_criteria(alice, django_assert_num_queries):
    criterion = drawn()
    page(alice)
    with django_assert_num_queries(30):
        page(alice, new_cuts="0.5,0.6,0.7")
    say(CriterionFactory(study=criterion.study, key="width", position=2), 40, seed=1)
    with django_assert_num_queries(30):
        page(alice, new_cuts="0.5,0.6,0.7")


@pytest.mark.long
def test_one_value_in_every_place(alice):
    drawn(name="Depth")
    cuts = "0.5,0.7,0.9"
    shown = page(alice, agreement_cuts=cuts).context["model"]
    model = json.loads(json.dumps({**shown, "items": list(shown["items"])}))
    address = {name: reverse("tiers_download", args=["suits", name]) for name in ("json", "csv", "parquet")}
    file = json.loads(alice.get(address["json"], {"agreement_cuts": cuts}).getvalue())
    api = alice.get(reverse("api_study_tiers", args=["suits"]), {"agreement_cuts": cuts}).json()
    said = io.StringIO()
    call_command("tiers", "--study", "suits", "--agreement-cuts", cuts, "--json", stdout=said)
    assert model == file["difficulty"] == api["difficulty"] == json.loads(said.getvalue())["difficulty"]
    table = alice.get(address["csv"], {"agreement_cuts": cuts}).getvalue().decode()
    for row, one in zip(csv.DictReader(io.StringIO(table)), model["items"], strict=True):
        assert [row[name] for name in difficulty.COLUMNS] == [str(cell) for cell in difficulty.to_cells(one)]
    columns = pq.read_table(io.BytesIO(alice.get(address["parquet"], {"agreement_cuts": cuts}).getvalue()))
    assert columns.num_rows == 40
    assert columns["model_tier"].to_pylist() == [one["tier"] for one in model["items"]]


@pytest.mark.parametrize("form", ["json", "html", "latex"])
def test_the_report_tells_expected_tiers_and_severities(alice, form):
    drawn(name="Depth")
    model = page(alice).context["model"]
    answer = alice.get(reverse("report_download", args=["suits", form])).content.decode()
    if form == "json":
        found = json.loads(answer)["difficulty"]["depth"]
        assert found["expected_counts"] == model["expected_counts"]
        assert [one["severity"] for one in found["people"]] == [one["severity"] for one in model["people"]]
        assert "items" not in found
        assert "Samejima" in "".join(json.loads(answer)["methods"]["references"])
    else:
        assert f"{model['expected_counts']['medium']:.1f}" in answer
        assert f"{model['people'][0]['consistency']['value']:.2f}" in answer
        assert "sim-c" in answer


class TestLarge:
    @pytest.fixture(autouse=True)
    def large(self, monkeypatch):
        cache.clear()
        monkeypatch.setattr(stored_difficulty, "AT_ONCE", 10)

    @pytest.fixture
    def sent(self, monkeypatch):
        asked = []
        monkeypatch.setattr(waiting.current_app, "send_task", lambda name, args: asked.append((name, args)))
        return asked

    @pytest.mark.long
    def test_it_is_asked_for_fitted_by_a_worker_and_shown(self, alice, sent):
        drawn()
        first = page(alice)
        assert "a worker fits the model on request" in text(first)
        assert first.context["found"]["counts"]
        assert alice.post(first.context["compute"]).status_code == 302
        assert "by alice; no worker has begun yet" in text(page(alice))
        stored_difficulty.compute(*sent[0][1])
        assert page(alice).context["model"]["n_items"] == 40
        other = page(alice, new_cuts="0.5,0.6,0.7")  # the fit that is kept, described at other cut-offs
        assert "Not known yet" not in text(other)
        counts = {tier: (before, after) for tier, before, after in other.context["preview"]["tiers"]}
        assert counts["easy"][1] > counts["easy"][0]

    def test_over_the_api_it_is_asked_for_too(self, alice, sent):
        drawn()
        address = reverse("api_study_tiers", args=["suits"])
        assert "a worker fits" in alice.get(address).json()["difficulty"]["reason"]
        assert alice.get(address, {"whole": "true"}).json()["difficulty"]["n_items"] == 40
        cuts = {"agreement_cuts": "0.5,0.6,0.7"}
        assert alice.post(address, cuts, content_type="application/json").json() == {"queued": True}
        stored_difficulty.compute(*sent[0][1])
        assert alice.get(address, cuts).json()["difficulty"]["cuts"] == [0.5, 0.6, 0.7]

    def test_files_of_labels_with_tiers_wait_for_it(self, alice):
        drawn()
        assert alice.get(reverse("export", args=["suits", "csv"]), {"tiers": "1"}).status_code == 404
        refused = alice.get(reverse("api_study_labels", args=["suits", "csv"]), {"tiers": "true"})
        assert (refused.status_code, refused.json()["field"]) == (409, "tiers")

    @pytest.mark.long
    def test_whoever_insists_gets_it_at_once(self, alice):
        drawn()
        assert page(alice, whole="1").context["model"]["n_items"] == 40


@pytest.mark.parametrize(("cuts", "status"), [("1,2", 400), ("0.9,0.5,0.6", 400), ("0.5,0.6,1.5", 400), ("x", 400)])
def test_cuts_that_make_no_sense_name_their_field_over_the_api(alice, cuts, status):
    drawn()
    address = reverse("api_study_tiers", args=["suits"])
    for answer in (
        alice.get(address, {"agreement_cuts": cuts}),
        alice.post(address, {"agreement_cuts": cuts}, content_type="application/json"),
    ):
        assert (answer.status_code, answer.json()["field"]) == (status, "agreement_cuts")


@pytest.mark.long
def test_turns_are_listed_as_turns_of_their_item(alice, tmp_path):
    talk = [{"role": role, "content": "Yes."} for role in ("user", "assistant") * 2]
    rng, lines = np.random.default_rng(4), ["item,rater,criterion,turn,value"]
    for n in range(15):
        DialogueFactory(external_id=f"d{n}", turns=talk)
        for turn in (2, 4):
            values = np.clip(rng.integers(1, 6) + rng.integers(-1, 2, size=3), 1, 5).tolist()
            lines += [f"d{n},{who},naturalness_assistant,{turn},{v}" for who, v in zip("abc", values, strict=True)]
    path = tmp_path / "turns.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    load(by=None, file=InputFile.from_path(path), study="Suits", on_error="stop")
    response = page(alice, items="all", sort="position")
    first, second = list(response.context["page"])[:2]
    assert [(one["position"], one["turn"]) for one in (first, second)] == [(1, 2), (1, 4)]
    assert f"{first['item']} turn 2" in text(response)
    assert response.context["model"]["n_items"] == 30
    assert alice.get(reverse("tiers_download", args=["suits", "csv"])).status_code == 200
