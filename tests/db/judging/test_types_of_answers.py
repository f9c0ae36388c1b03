"""Every type of answer from stored labels to each result and a judge, on the page, by the command and by the API.

What there is for which type stands in `annotation.stats.by_level`; where there is nothing, all three say why.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F
from django.test import Client
from django.urls import reverse

from annotation import urls as annotation_urls
from annotation.corpus.exchange.registry import EXCHANGES
from annotation.stats.by_level import NOT_FOR, Result
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from judging import urls as judging_urls
from judging.judges.models import Judge
from judging.judges.services import judges
from judging.runs.models.runs import JudgeRun, Judgment
from tests.support import typed
from tests.support.factories import ResearcherFactory

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

TYPES = list(typed.LEVELS)
JUDGED = [kind for kind in TYPES if kind != "rewrite"]
"""What judges are asked of whole items: a rewrite is of a single response."""


@pytest.fixture(params=TYPES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def study(kind: str) -> Study:
    """Forty pairs with one criterion of the type, rated by three people."""
    made = typed.make_study(kind, state="closed")
    typed.say_all(made)
    return made


@pytest.fixture
def judged(study: Study) -> Study:
    """The same with a scripted judge beside the people."""
    judge(study)
    return study


@pytest.fixture
def reader(client: Client) -> Client:
    client.force_login(ResearcherFactory())
    return client


def judge(study: Study) -> None:
    """Let a scripted judge say what it says of everything that judges are asked."""
    judges.define(by=None, name="robot", provider="scripted", parameters={"answers": typed.script(study)})
    call_command("judge", study.slug, "--judge", "robot", "--now", verbosity=0)


def missing(result: Result, kind: str) -> str | None:
    return NOT_FOR[result].get(typed.LEVELS[kind])  # type: ignore[call-overload]


def run(capsys: Any, *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    call_command(*arguments, "--json")
    return json.loads(capsys.readouterr().out)


def say(capsys: Any, *arguments: str) -> str:
    capsys.readouterr()
    call_command(*arguments)
    return str(capsys.readouterr().out)


def ask(reader: Client, study: Study, what: str) -> dict[str, Any]:
    answer = reader.get(f"/api/v1/studies/{study.slug}/{what}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_agreement(study: Study, reader: Client, capsys: Any, kind: str) -> None:
    by_command = run(capsys, "agreement", "--study", study.slug)
    by_api = ask(reader, study, f"agreement?criterion={kind}")
    page = reader.get(reverse("agreement", args=[study.slug])).content.decode()
    if reason := missing("agreement", kind):
        assert by_command["reason"] == by_api["reason"] == reason
        assert reason in page
        assert reason in say(capsys, "agreement", "--study", study.slug)
        return
    headline = by_command["headline"]["people"]
    value = by_command["coefficients"][headline]["value"]
    assert 0.2 < value < 0.95
    assert by_api["coefficients"][headline]["value"] == value
    assert f"{value:.3f}" in page
    assert f"{value:.2f}" in say(capsys, "agreement", "--study", study.slug)


@pytest.mark.parametrize("result", ["tiers", "gold"])
def test_results_of_items(study: Study, reader: Client, capsys: Any, kind: str, result: Result) -> None:
    by_command = run(capsys, result, "--study", study.slug)
    by_api = ask(reader, study, f"{result}?criterion={kind}")
    page = reader.get(reverse(result, args=[study.slug]))
    assert page.status_code == 200
    if reason := missing(result, kind):
        assert by_command["reason"] == by_api["reason"] == reason
        assert reason in page.content.decode()
        assert reason in say(capsys, result, "--study", study.slug)
    else:
        assert len(by_command["items"]) == len(by_api["items"]) == typed.N
        assert sum(by_command["counts"].values()) == typed.N
        assert study.items.first().external_id in page.content.decode()


def test_disputes(study: Study, reader: Client, capsys: Any, kind: str) -> None:
    by_command = run(capsys, "disputes", "--study", study.slug)
    by_api = ask(reader, study, "disputes")
    page = reader.get(reverse("adjudication", args=[study.slug])).content.decode()
    if reason := missing("adjudication", kind):
        assert by_command["reason"] == by_api["reason"] == reason
        assert reason in page
        return
    first = by_command["items"][0]
    assert sum(n for _, n in first["answers"]) == len(typed.PEOPLE)
    there = {one["position"] for one in by_command["items"]}
    assert {one["position"] for one in by_api["results"]} <= there
    here = reverse("adjudicate", args=[study.slug, kind, first["position"]])
    assert reader.get(here).status_code == 200
    value = typed.DECIDED[kind]
    field = "value" if kind == "choice" else "other"
    assert reader.post(here, {field: value, "reason": "It is."}).status_code == 302
    gold = {one["position"]: one for one in run(capsys, "gold", "--study", study.slug)["items"]}
    assert gold[first["position"]]["source"] == "adjudication"
    assert str(gold[first["position"]]["gold"]) == value, "gold is not what was decided"


@pytest.mark.parametrize("kind", ["rewrite"], indirect=True)
def test_a_judge_rewrites_each_response(study: Study) -> None:
    judge(study)
    found = list(Judgment.objects.all())
    assert len(found) == 2 * typed.N
    assert {(one.turn, one.content["response"]) for one in found} == {(1, 1), (2, 2)}
    assert {one.order for one in found} == {""}


@pytest.mark.parametrize("kind", JUDGED, indirect=True)
@pytest.mark.each_database
def test_the_answers_of_a_judge_are_stored_as_peoples(judged: Study, kind: str) -> None:
    found = list(Judgment.objects.filter(criterion__key=kind).select_related("item__pair"))
    assert len(found) == typed.N
    assert [one.unscored_reason for one in found if not one.value] == []
    if kind == "ranking":
        script = typed.script(judged)[kind]
        for one in found:
            names = dict(zip(one.order, "AB", strict=True)) if one.order == "AB" else {"A": "B", "B": "A"}
            said = "".join({"A": "1", "B": "2"}.get(names.get(c, c), c) for c in script[one.item.external_id])
            assert one.value == said.replace("2=1", "1=2")
    if kind == "spans":
        assert {span["part"] for one in found for span in one.content} == {"response-1", "response-2"}
        texts = [
            (span, getattr(one.item.pair, span["part"].replace("-", "_"))) for one in found for span in one.content
        ]
        assert all(text[span["start"] : span["end"]] == span["text"] for span, text in texts)
    if kind == "text":
        assert all(one.content["text"] for one in found)


@pytest.mark.long
@pytest.mark.parametrize("kind", JUDGED, indirect=True)
def test_a_judge_beside_people(judged: Study, reader: Client, capsys: Any, kind: str) -> None:
    found = run(capsys, "agreement", "--study", judged.slug)
    page = reader.get(reverse("agreement", args=[judged.slug])).content.decode()
    if reason := missing("agreement", kind):
        assert "judges" not in found
        assert reason in page
        return
    held, headline = found["judges"]["robot"], found["headline"]
    assert held["scored"] == typed.N
    assert -0.3 < held[headline["judge"]]["value"] < held[headline["ceiling"]]["value"]
    if reason := missing("alt_test", kind):
        assert held["not_for"]["alt_test"] == reason
        assert reason in page
    else:
        assert held["alt_test"]["passes"] is False


@pytest.mark.long
@pytest.mark.parametrize("kind", JUDGED, indirect=True)
def test_calibration_audits_and_verdict(judged: Study, reader: Client, capsys: Any, kind: str) -> None:
    calibrated = run(capsys, "calibrate", "--study", judged.slug, "--judge", "robot")
    audited = run(capsys, "audit", "--study", judged.slug, "--judge", "robot")
    pk = Judge.objects.get().pk
    by_api = ask(reader, judged, f"judges/{pk}/calibration")
    pages = [reverse("calibration", args=[judged.slug]), reverse("judge_verdict", args=[judged.slug, pk])]
    pages += [reverse("report", args=[judged.slug])]
    shown = [reader.get(page) for page in pages]
    assert [one.status_code for one in shown] == [200, 200, 200]
    page = shown[1].content.decode()
    if reason := missing("calibration", kind):
        for left_out in (calibrated["left_out"], audited, by_api["left_out"]):
            assert {row["criterion"]: row["reason"] for row in left_out} == {kind: reason}
        assert all(reason in one.content.decode() for one in shown)
        told = "mean F1 of the marked characters" in shown[2].content.decode()
        assert told is (kind == "spans")
        return
    assert audited[0]["verdict"]["decision"] in ("not enough evidence", "do not use")
    assert by_api["agreement"]["scored"] == typed.N
    assert calibrated["agreement"]["scored"] == typed.N
    assert calibrated["ppi"] is not None or calibrated["estimand"] == "the rate of each category"
    assert audited[0]["verdict"]["decision"].capitalize() in page


def list_pages(study: Study) -> list[str]:
    """Addresses of the study's pages, of those of its judge and of its run, and of a judgment on each criterion."""
    run = JudgeRun.objects.get(study=study)
    begins = {"studies/<study:slug>/calibration/<judge:pk>": run.judge_id, "runs/<run:pk>": run.pk, "studies/": 0}
    found = []
    for pattern in [*annotation_urls.urlpatterns, *judging_urls.urlpatterns]:
        names, route = set(pattern.pattern.converters), str(pattern.pattern)
        given = next((pk for start, pk in begins.items() if route.startswith(start)), None)
        known = {"slug": study.slug, "pk": given}
        if given is not None and names <= ({"slug", "pk"} if given else {"slug"}):
            found.append(reverse(pattern.name, kwargs={name: known[name] for name in names}))
    judgments = Judgment.objects.filter(run=run).order_by("criterion_id", "pk")
    first = {one.criterion_id: one.pk for one in reversed(judgments)}
    return [*found, *(reverse("judgment_detail", args=[pk]) for pk in first.values())]


@pytest.mark.long
@pytest.mark.parametrize(
    "labelled", ["all", pytest.param("one item by one person", marks=pytest.mark.each_database), "nothing"]
)
def test_no_page_of_a_study_of_all_types_fails(reader: Client, labelled: str) -> None:
    study = typed.make_study(state="closed")
    typed.say_all(study)
    if labelled != "all":
        kept = study.assignments.order_by("pk").values("pk")[: 1 if labelled.startswith("one") else 0]
        Annotation.objects.exclude(assignment__in=kept).delete()
    judge(study)
    pages = list_pages(study)
    assert len(pages) > 20
    answers = {page: reader.get(page).status_code for page in pages}
    assert {page: code for page, code in answers.items() if code not in (200, 301, 302, 404, 405)} == {}
    assert sum(code == 200 for code in answers.values()) > 30
    for kind in TYPES:
        for page in ("item_list", "tiers", "gold", "adjudication", "against_majority"):
            assert reader.get(reverse(page, args=[study.slug]), {"criterion": kind}).status_code == 200, (page, kind)
    assert reader.get(reverse("item_detail", args=[study.slug, 1])).status_code == 200


def read_labels(study: Study) -> list[tuple[Any, ...]]:
    """What people and judges said, without what differs from one study to the next."""
    people = Annotation.objects.filter(assignment__study=study).values_list(
        "assignment__item__position",
        "criterion__key",
        "turn",
        "assignment__annotator__display_name",
        "value",
        "content",
    )
    named = [(place, key, who, turn, value, repr(content)) for place, key, turn, who, value, content in people]
    said = Judgment.objects.filter(run__study=study).values_list("item__position", "criterion__key", "value", "content")
    return [*sorted(named), *sorted((place, key, value, repr(content)) for place, key, value, content in said)]


@pytest.mark.parametrize(
    "fmt",
    [
        pytest.param(name, marks=pytest.mark.each_database if name == "labelstudio" else ())
        for name, one in EXCHANGES.items()
        if one.files
    ],
)
@pytest.mark.long
def test_a_study_of_all_types_comes_back_from_other_tools_files(fmt: str, tmp_path: Path) -> None:
    study = typed.make_study(state="closed")
    typed.say_all(study)
    judge(study)
    User.objects.filter(username__in=typed.PEOPLE).update(display_name=F("username"))
    call_command("export", "--study", study.slug, "--format", fmt, "-o", str(tmp_path / "out"), verbosity=0)
    place = tmp_path / "out" if fmt == "potato" else tmp_path / "out" / next(iter(EXCHANGES[fmt].files))
    call_command("import_study", str(place), "--format", fmt, "--study", "Back", verbosity=0)
    back = Study.objects.get(name="Back")
    fields = ("key", "name", "type", "level", "categories", "limits", "unit", "is_required")
    assert list(back.criteria.values(*fields)) == list(study.criteria.values(*fields))
    assert read_labels(back) == read_labels(study)


@pytest.mark.each_database
def test_labels_of_a_table_come_back(study: Study, tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    call_command("export", "--study", study.slug, "--format", "csv", "-o", str(file), verbosity=0)
    columns = {name: name for name in ("rater", "criterion", "value", "content", "turn")} | {"item": "item_id"}
    with file.open(encoding="utf-8", newline="") as source, (tmp_path / "in.csv").open("w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(columns)
        writer.writerows([row[name] for name in columns.values()] for row in csv.DictReader(source))
    before = read_labels(study)
    study.assignments.all().delete()
    assert read_labels(study) == []
    call_command("import_ratings", str(tmp_path / "in.csv"), "--study", study.name, verbosity=0)
    assert sorted(row[:2] + row[3:] for row in read_labels(study)) == sorted(row[:2] + row[3:] for row in before)


class TestFiles:
    """Files of ratings know a level and no criterion."""

    def write(self, folder: Path, rows: list[tuple[str, str]]) -> str:
        file = folder / "ratings.csv"
        with file.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["item", "ann", "bob"])
            writer.writerows([number, *row] for number, row in enumerate(rows, start=1))
        return str(file)

    def test_sets(self, tmp_path: Path, capsys: Any) -> None:
        file = self.write(tmp_path, [("a|b", "b | a"), ("a", "a|b"), ("-", "-"), ("c", "a")] * 5)
        found = run(capsys, "agreement", file, "--level", "set", "--bootstrap", "50")
        assert found["categories"] == ["-", "a", "a|b", "c"]
        assert found["weights"] == "masi"
        assert 0 < found["coefficients"]["krippendorff_alpha"]["value"] < 1
        with pytest.raises(CommandError, match=r"line 5, field bob: 'c' is not among a, b|line 5, field ann"):
            call_command("agreement", file, "--level", "set", "--categories", "a,b")

    def test_spans(self, tmp_path: Path, capsys: Any) -> None:
        spans = [('[["t",0,4,"a"]]', '[["t",2,6,"a"]]'), ("[]", "[]")]
        file = self.write(tmp_path, spans * 5)
        found = run(capsys, "agreement", file, "--level", "spans", "--bootstrap", "50")
        assert found["coefficients"]["overlap_f1"]["value"] == pytest.approx(0.5)
        assert found["coefficients"]["unitizing_alpha"]["reason"] == "the lengths of the texts are not known"
        gold = run(capsys, "gold", file, "--level", "spans")
        assert gold["counts"]["consensus"] == 10
        with pytest.raises(CommandError, match="Marked spans agree by degrees"):
            call_command("tiers", file, "--level", "spans")

    def test_texts_have_no_level_to_ask_for(self, tmp_path: Path) -> None:
        with pytest.raises(CommandError, match="invalid choice"):
            call_command("agreement", self.write(tmp_path, [("so", "so")]), "--level", "text")
