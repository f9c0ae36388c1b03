"""A judge's verdicts on responses beside people's, from its own run and from a table."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.agreement.services import exports as files
from annotation.corpus.exchange.registry import EXCHANGES
from annotation.corpus.models import ResponsePair
from annotation.stats.agreement import agreement as stats_agreement
from annotation.stats.table import RatingTable
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Item, Study
from config.archives import reading, writing
from core.errors import InputError
from core.files.input_files import InputFile
from judging.assessment.options import JudgedOptions
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import agreement
from judging.assessment.services.agreement import StudyRatings
from judging.judges.models import Judge
from judging.runs.imports import ratings as judge_tables, study_packages
from judging.runs.models.runs import JudgeRun, Judgment
from judging.runs.services import exports, hf_dataset, tool_files
from judging.stats.agreement import judge_agreement
from tests.support.backed_up import empty_tables
from tests.support.factories import ResearcherFactory, UserFactory
from tests.support.judging import judged, response_study, scripted

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

N = 8
WORDS = ("First", "Second", "Third")
UNITS = [(position, number) for position in range(1, N + 1) for number in (1, 2, 3)]
STATED = {(position, number): (position * number) % 4 + 1 for position, number in UNITS}
OPTIONS = {"bootstrap": 300, "seed": 4}

Values = dict[tuple[int, int], str]


def shift(every: int) -> Values:
    """The stated levels, but for one of every so many responses, which gets the next one."""
    return {unit: str(level if sum(unit) % every else level % 4 + 1) for unit, level in STATED.items()}


SAID = {"ada": shift(100), "ben": shift(3), "robot": shift(4)}
CORRECT = {who: {unit: "yes" if int(v) > 2 else "no" for unit, v in values.items()} for who, values in SAID.items()}


def say(study: Study, who: str, key: str, values: Values) -> None:
    """What a person hands in on each response, which they saw in another order."""
    criterion = study.criteria.get(key=key)
    slots = (
        Assignment.objects.filter(study=study, annotator__username=who)
        .select_related("item")
        .order_by("item__position")
    )
    Annotation.objects.bulk_create(
        Annotation(assignment=slot, criterion=criterion, turn=number, value=values[slot.item.position, number])
        for slot in slots
        for number in (1, 2, 3)
    )


def assign(study: Study, who: str, slot: int) -> None:
    person = UserFactory(username=who)
    study.annotators.add(person)
    handed_in: dict[str, Any] = {"order": "BCA", "state": "submitted", "submitted_at": timezone.now()}
    Assignment.objects.bulk_create(
        Assignment(study=study, item=item, annotator=person, slot=slot, rank=item.position, **handed_in)
        for item in study.items.all()
    )


def let_judge(study: Study, key: str, values: Values) -> JudgeRun:
    """A run of a judge that tells responses by their texts."""
    where = {f"{WORDS[number - 1]} {position}": value for (position, number), value in values.items()}
    return judged(study, scripted(where=where), criteria=[key])


@pytest.fixture
def study() -> Study:
    study = response_study(N, name="Responses", slug="responses", state="closed")
    for slot, who in enumerate(("ada", "ben"), start=1):
        assign(study, who, slot)
        say(study, who, "helpful", SAID[who])
        say(study, who, "correct", CORRECT[who])
    let_judge(study, "helpful", SAID["robot"])
    let_judge(study, "correct", CORRECT["robot"])
    return study


@pytest.fixture
def reader(client: Client) -> Client:
    client.force_login(ResearcherFactory())
    return client


def compute(study: Study) -> dict[str, Any]:
    options = JudgedOptions(**OPTIONS)
    found = StudyRatings.from_options(study, options)
    return agreement.load_or_compute(by=None, study=study, options=options, ratings=found).result["criteria"]


def build_table(values: dict[str, Values], scale: tuple[str, ...], level: str, *, is_clustered: bool) -> RatingTable:
    """The labels by hand: a row for each response, the item as its cluster."""
    codes = np.array([[scale.index(values[who][unit]) for who in ("ada", "ben")] for unit in UNITS])
    names = tuple(f"{position}.{number}" for position, number in UNITS)
    clusters = tuple(str(position) for position, _ in UNITS) if is_clustered else None
    return RatingTable(codes, scale, level, names, ("ada", "ben"), clusters=clusters)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "values", "scale", "level"),
    [("helpful", SAID, ("1", "2", "3", "4"), "ordinal"), ("correct", CORRECT, ("no", "yes"), "nominal")],
)
def test_figures_are_those_of_the_table_with_items_as_clusters(
    study: Study, key: str, values: dict[str, Values], scale: tuple[str, ...], level: str
) -> None:
    found = compute(study)[key]
    table = build_table(values, scale, level, is_clustered=True)
    robot = [scale.index(values["robot"][unit]) for unit in UNITS]

    among_people = stats_agreement(table, **OPTIONS).coefficients
    for name in ("percent_agreement", "krippendorff_alpha", "gwet_ac", "mean_pairwise_cohen_kappa"):
        assert found["coefficients"][name] == among_people[name].to_json()
    (said,) = found["judges"].values()
    wanted = judge_agreement(table, robot, judge_name="robot", **OPTIONS).to_json()
    names = ("mean_cohen_kappa", "mean_weighted_cohen_kappa", "human_ceiling", "accuracy", "per_annotator", "mae")
    assert {name: said[name] for name in names} == {name: wanted[name] for name in names}
    assert (said["scored"], said["unscored"], found["n_items"]) == (3 * N, 0, 3 * N)
    alone = judge_agreement(
        build_table(values, scale, level, is_clustered=False), robot, judge_name="robot", **OPTIONS
    ).to_json()
    assert alone["mean_cohen_kappa"]["value"] == said["mean_cohen_kappa"]["value"]
    assert alone["mean_cohen_kappa"]["low"] != said["mean_cohen_kappa"]["low"]
    resampling = next(one for one in found["conventions"] if one["code"] == "resampling")
    assert f"({N} items)" in resampling["message"]


def test_a_run_on_whole_items_is_not_beside_labels_of_responses(study: Study) -> None:
    run = JudgeRun.objects.filter(criteria__key="helpful").get()
    JudgeRun.objects.filter(pk=run.pk).update(unit="item")
    assert compute(study)["helpful"]["judges"] == {}


OTHER_UNIT = "Asked of each response, and the judge's run rates the whole item. Start a run .* it rates every response"


class TestOtherUnits:
    """What a judge said of whole items is not put beside labels of responses, and the run to make is named."""

    @pytest.fixture
    def judge(self, study: Study) -> Judge:
        JudgeRun.objects.filter(criteria__key="helpful").update(unit="item")
        return Judge.objects.get(runs__criteria__key="helpful")

    @pytest.mark.parametrize("command", ["calibrate", "audit"])
    def test_figures_say_so(self, study: Study, judge: Judge, command: str, capsys: Any) -> None:
        call_command(command, "--study", "responses", "--judge", judge.name)
        assert re.search(OTHER_UNIT, capsys.readouterr().out)

    @pytest.mark.parametrize(
        "command",
        [
            "certificate --study responses --judge J",
            "recalibrate --study responses --judge J",
            "escalate --study responses --judge J --name more",
            "plan_labels --study responses --judge J --criterion helpful --width 0.1",
            "disagreements --study responses --judge J --criterion helpful",
        ],
    )
    @pytest.mark.each_database
    def test_what_rests_on_them_is_refused(self, study: Study, judge: Judge, command: str) -> None:
        with pytest.raises(CommandError, match=OTHER_UNIT):
            call_command(*command.replace("J", judge.name).split(), stdout=StringIO())

    @pytest.mark.long
    def test_pages_say_so(self, study: Study, judge: Judge, reader: Client) -> None:
        for name in ("judge_verdict", "judge_improve", "judge_plan"):
            said = html.unescape(reader.get(reverse(name, args=["responses", judge.pk])).content.decode())
            assert re.search(OTHER_UNIT, said), name

    def test_beside_a_run_on_responses_it_is_no_matter(self, study: Study, judge: Judge) -> None:
        let_judge(study, "helpful", SAID["robot"])
        found = StudyData.load(study)
        assert len(found.judges()) == 2
        assert all(one.left_out == () for one in found.load_judges(found.judges()))


@pytest.mark.each_database
@pytest.mark.long
def test_pages_name_the_response(study: Study, reader: Client) -> None:
    run = JudgeRun.objects.filter(criteria__key="helpful").get()
    third = run.judgments.get(item__position=2, turn=3)
    page = reader.get(reverse("judgment_detail", args=[third.pk])).content.decode()
    assert "Response 3" in page
    assert "Third 2" in page
    assert "ada" in page
    scores = reader.get(reverse("run_scores", args=[run.pk])).content.decode()
    assert "Scores by response" in scores
    assert "by turn" not in scores
    detail = reader.get(reverse("run_detail", args=[run.pk])).content.decode()
    assert "every response" in detail
    assert "Order" not in detail
    assert "response 3" in reader.get(reverse("item_detail", args=["responses", 2])).content.decode()
    results = reader.get(reverse("results", args=["responses"])).content.decode()
    assert "not enough evidence" in results
    listed = reader.get(reverse("item_list", args=["responses"]) + "?criterion=helpful").content.decode()
    assert "response 3" in listed


@pytest.mark.each_database
def test_scores_are_by_response(study: Study, capsys: Any) -> None:
    run = JudgeRun.objects.filter(criteria__key="helpful").get()
    call_command("scores", str(run.pk), "--json", "--bootstrap", "0")
    document = json.loads(capsys.readouterr().out)
    assert (document["unit"], document["every_turn"]) == ("response", False)
    by_number = {one["turn"]: one["estimate"]["value"] for one in document["criteria"]["helpful"]["turns"]}
    means = {n: np.mean([int(v) for (_, k), v in SAID["robot"].items() if k == n]) for n in (1, 2, 3)}
    assert by_number == pytest.approx(means)
    call_command("scores", str(run.pk), "--bootstrap", "0")
    assert "response 3" in capsys.readouterr().out


def list_verdicts(study: Study) -> list[tuple[Any, ...]]:
    rows = Judgment.objects.filter(run__study=study)
    return sorted(rows.values_list("run__unit", "criterion__key", "item__position", "turn", "repeat", "value", "order"))


def list_labels(study: Study) -> list[tuple[Any, ...]]:
    rows = Annotation.objects.filter(assignment__study=study)
    return sorted(rows.values_list("criterion__key", "assignment__item__position", "turn", "value"))


@pytest.mark.parametrize("fmt", ["csv", "jsonl", "parquet"])
def test_files_hold_the_number_of_the_response(study: Study, fmt: str) -> None:
    written = b"".join(files.FORMATS[fmt].pieces(exports.load_labels(study)))
    if fmt == "csv":
        rows: list[dict[str, Any]] = list(csv.DictReader(io.StringIO(written.decode())))
    elif fmt == "jsonl":
        rows = [json.loads(line) for line in written.decode().splitlines()]
    else:
        rows = pytest.importorskip("pyarrow.parquet").read_table(io.BytesIO(written)).to_pylist()
    said = {
        (int(row["position"]), int(row["turn"])): row["value"]
        for row in rows
        if row["rater_kind"] != "person" and row["criterion"] == "helpful"
    }
    assert said == SAID["robot"]


TOOLS = [key for key, one in EXCHANGES.items() if one.files and "pair" in one.kinds]


def drop_third(study: Study) -> None:
    """Two responses of each item, which all tools can hold."""
    ResponsePair.objects.update(n_responses=2, further=[])
    Annotation.objects.filter(turn=3).delete()
    Judgment.objects.filter(turn=3).delete()


@pytest.mark.parametrize("key", TOOLS)
def test_other_tools_hold_two_responses(study: Study, key: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds items of two responses; hf holds any number"):
        tool_files.write(study, EXCHANGES[key], tmp_path / "out")


@pytest.mark.long
@pytest.mark.parametrize(
    "key",
    [
        pytest.param(key, marks=pytest.mark.each_database if key == "argilla" else ())
        for key in [*TOOLS, hf_dataset.KEY]
    ],
)
def test_a_study_comes_back_from_files(study: Study, key: str, tmp_path: Path) -> None:
    if key == hf_dataset.KEY:
        hf_dataset.write(study, tmp_path / "out")
    else:
        drop_third(study)
        tool_files.write(study, EXCHANGES[key], tmp_path / "out")
    before = list_verdicts(study), list_labels(study), compute(study)
    for model in (Judgment, JudgeRun, Judge, Annotation, Assignment, Item, Study, ResponsePair):
        model.objects.all().delete()
    is_folder = key in ("potato", hf_dataset.KEY)
    path = tmp_path / "out" if is_folder else tmp_path / "out" / next(iter(EXCHANGES[key].files))
    study_packages.load(by=None, file=InputFile.from_path(path), format=key, study="Responses")

    again = Study.objects.get()

    assert (list_verdicts(again), list_labels(again)) == before[:2]
    for name, found in compute(again).items():
        assert found["coefficients"] == before[2][name]["coefficients"]
        kappas = [[one["mean_cohen_kappa"] for one in each["judges"].values()] for each in (found, before[2][name])]
        assert kappas[0] == kappas[1]


@pytest.mark.each_database
def test_a_study_comes_back_from_its_archive(study: Study, tmp_path: Path) -> None:
    before = list_verdicts(study), list_labels(study)
    writing.write(study, tmp_path / "study.zip")
    empty_tables()
    reading.restore(by=None, path=tmp_path / "study.zip")
    assert (list_verdicts(Study.objects.get()), list_labels(Study.objects.get())) == before


class TestTables:
    """Judgments made elsewhere, with the number of the response."""

    def load(self, tmp_path: Path, rows: list[str], head: str = "item,criterion,turn,value") -> Any:
        path = tmp_path / "judge.csv"
        path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
        return judge_tables.load(by=None, file=InputFile.from_path(path), study="Responses", judge="gpt")

    def rows_of(self, study: Study, ending: str = "") -> list[str]:
        names = {item.position: item.external_id for item in study.items.select_related("pair")}
        return [f"{names[p]},helpful,{number},{value}{ending}" for (p, number), value in SAID["robot"].items()]

    @pytest.mark.long
    @pytest.mark.parametrize(("more", "ending"), [("", ""), (",order", ",AB")])
    @pytest.mark.each_database
    def test_they_are_a_run_on_responses(self, study: Study, tmp_path: Path, more: str, ending: str) -> None:
        before = compute(study)["helpful"]["judges"]
        head = f"item,criterion,turn,value{more}"
        self.load(tmp_path, self.rows_of(study, ending), head)

        run = JudgeRun.objects.get(judge__name="gpt")
        assert (run.unit, run.judgments.count(), set(run.judgments.values_list("order", flat=True))) == (
            "response",
            3 * N,
            {""},
        )
        after = compute(study)["helpful"]["judges"]
        (own,) = before.values()
        assert after["gpt"]["mean_cohen_kappa"] == own["mean_cohen_kappa"]
        again = self.load(tmp_path, self.rows_of(study, ending), head)
        assert again.to_document()["unchanged"]["judgments"] == 3 * N

    @pytest.mark.parametrize("number", ["", "0", "4"])
    def test_a_response_that_is_not_there_is_named_with_its_line(
        self, study: Study, tmp_path: Path, number: str
    ) -> None:
        name = study.items.first().external_id
        with pytest.raises(InputError, match="is asked of responses: say which, from 1") as wrong:
            self.load(tmp_path, [f"{name},helpful,{number},3"])
        assert (wrong.value.line, wrong.value.field) == (2, "turn")
