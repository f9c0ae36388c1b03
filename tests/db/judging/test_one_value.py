"""Every quantity that two pages, commands, files or API answers share has one value and one interval."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.studies.models.studies import Study
from config import demo
from judging.assessment import wording
from judging.assessment.wording import interval, short
from judging.judges.models import Judge
from judging.runs.models.runs import JudgeRun
from judging.runs.services import work
from judging.runs.services.leases import leases
from tests.support.factories import ResearcherFactory
from tests.support.labelled import judge_says, pandalm_study
from tests.support.paths import SHARED
from tests.support.shared_rows import share_rows

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.any_database,
    pytest.mark.xdist_group("one value"),  # the demo is made once
    pytest.mark.long,
]

PANDALM = SHARED / "pandalm"
Key = tuple[str, ...]
Seen = dict[Key, dict[str, tuple[float | None, ...]]]
"""By quantity, where it stands and what stands there."""


@pytest.fixture(scope="module")
def demo_studies(django_db_setup, django_db_blocker) -> Iterator[None]:
    yield from share_rows(django_db_blocker, load_demo)


@pytest.fixture(scope="module", params=["demo dialogues", "demo pairs", "PandaLM"])
def made(request, demo_studies, django_db_blocker) -> Iterator[int]:
    if request.param == "PandaLM" and not PANDALM.is_dir():
        pytest.skip("PandaLM's files are not there")
    yield from share_rows(django_db_blocker, lambda: of_two_judges(request.param).pk)


@pytest.fixture
def study(made, db) -> Study:
    return Study.objects.get(pk=made)


def load_demo() -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(leases, "send", lambda ids, wait=None: None)
        demo.load()
    for run in JudgeRun.objects.all():
        for _ in work.work_through(run):
            pass


def of_two_judges(name: str) -> Study:
    """A study with two judges; of the demo's dialogues one has rated a part of the items only."""
    if name == "PandaLM":
        return pandalm_study(PANDALM)
    if name == "demo pairs":
        found = Study.objects.get(name=demo.PAIRS)
        for name, answers in (("first", ["1", "2", "1"]), ("second", ["2", "2", "1"])):
            judge_says(found.criteria.get(), name, (answers * found.items.count())[: found.items.count()])
        return found
    found = Study.objects.get(name=demo.DIALOGUES)
    values = [str(1 + k % 4) if k % 5 else None for k in range(found.items.count())]
    judge_says(found.criteria.get(key="personalization"), "partial", values)
    return found


def estimates(document: Any, path: Key = ()) -> Iterator[tuple[Key, Mapping[str, Any]]]:
    """Every estimate in a document, by the names that lead to it."""
    if isinstance(document, Mapping):
        if {"value", "low", "high"} <= document.keys():
            yield path, document
        for name, part in document.items():
            yield from estimates(part, (*path, str(name)))
    elif isinstance(document, list):
        for one in document:
            named = one if isinstance(one, Mapping) else {}
            yield from estimates(one, (*path, *(str(named[name]) for name in ("a", "b", "rater") if name in named)))


def note(seen: Seen, where: str, key: Key, one: Mapping[str, Any]) -> None:
    numbers = (None if one[name] in (None, "") else float(one[name]) for name in ("value", "low", "high"))
    seen[key][where] = tuple(numbers)


def note_agreement(seen: Seen, where: str, result: Mapping[str, Any]) -> None:
    """People's coefficients and each judge's figures, by criterion."""
    for key, document in result["criteria"].items():
        for path, one in estimates(document["coefficients"]):
            note(seen, where, (key, "people", *path), one)
        for judge, held in document["judges"].items():
            for path, one in estimates(held):
                note(seen, where, (key, judge, *path), one)
            if held["scored"] == document["n_items"]:  # what people reach on the judge's items is what they reach
                headline = document["headline"]
                note(
                    seen, f"{where}, ceiling of {judge}", (key, "people", headline["people"]), held[headline["ceiling"]]
                )


def note_differences(seen: Seen, where: str, key: str, figure: str, one: Mapping[str, Any]) -> None:
    """One judge minus another, by the order of their names."""
    difference = one["difference"]
    turned = {"value": -difference["value"], "low": -difference["high"], "high": -difference["low"]}
    a, b = sorted((one["a"], one["b"]))
    note(seen, where, (key, a, b, figure), difference if one["a"] == a else turned)


def note_calibration(seen: Seen, where: str, judge: str, result: Mapping[str, Any]) -> None:
    for key, document in result["criteria"].items():
        for path, one in estimates({**document["agreement"], "alt_test": document["alt_test"]}):
            note(seen, where, (key, judge, *path), one)
        for path, one in estimates({part: document[part] for part in ("human_only", "judge_only", "ppi", "scores")}):
            note(seen, where, (key, judge, "calibration", *path), one)


def command(name: str, **options: Any) -> dict[str, Any]:
    out = io.StringIO()
    call_command(name, json=True, stdout=out, **options)
    document: dict[str, Any] = json.loads(out.getvalue())
    return document


def whole(document: dict[str, Any]) -> dict[str, Any]:
    """A study's document, also where it has one criterion."""
    return document if "criteria" in document else {"criteria": {document["criterion"]: document}}


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_what_two_places_share_is_the_same_in_both(study, client):
    client.force_login(ResearcherFactory())
    slug, seen = study.slug, defaultdict(dict)
    names = {judge.pk: str(judge) for judge in Judge.objects.filter(runs__study=study).distinct()}

    def get(name: str, *args: Any) -> str:
        answer = client.get(reverse(name, args=[slug, *args]))
        assert answer.status_code == 200, name
        return answer.content.decode()

    page = get("results")
    note_agreement(seen, "page", whole(json.loads(get("agreement_download", "json"))))
    note_agreement(seen, "API", whole(json.loads(get("api_study_agreement"))))
    note_agreement(seen, "command", whole(command("agreement", study=slug)))
    for row in rows(get("agreement_download", "csv")):
        if row["group"] in ("people", "judge"):
            note(seen, "CSV", (row["criterion"], row["a"] or "people", row["figure"]), row)
    report = json.loads(get("report_download", "json"))
    for key, found in report["people"].items():
        for path, one in estimates(found["coefficients"]):
            note(seen, "report", (key, "people", *path), one)
    for pk, name in names.items():
        note_calibration(seen, "report", name, report["judges"][name]["calibration"])
        note_calibration(seen, "API of calibration", name, whole(json.loads(get("api_calibration", pk))))
        note_calibration(seen, "calibrate", name, whole(command("calibrate", study=slug, judge=name)))
        note_calibration(
            seen, "comparison", name, json.loads(get("calibration_download", "json"))["judges"][name]["calibration"]
        )
        for row in rows(get("judge_verdict_download", pk, "calibration", "csv")):
            if row["part"] == "agreement":
                note(seen, "CSV of calibration", (row["criterion"], name, row["figure"]), row)
        headlines = {key: one["headline"] for key, one in report["judges"][name]["calibration"]["criteria"].items()}
        for key, one in command("certificate", study=slug, judge=name)["content"]["criteria"].items():
            note(seen, "certificate", (key, name, headlines[key]["judge"]), one["kappa"])
            note(seen, "certificate", (key, name, headlines[key]["ceiling"]), one["human_ceiling"])
        assert get("judge_verdict", pk)

    for part in report["differences"]:
        for row in part["rows"]:
            pair = {"a": part["best"], "b": row["judge"], "difference": row["difference"]}
            note_differences(seen, "report", part["criterion"], part["figure"], pair)
    for key, found in whole(command("agreement", study=slug))["criteria"].items():
        for one in found["differences"]:
            figure = found["headline"]["judge"]
            pair = {"a": one["a"], "b": one["b"], "difference": one["figures"][figure]["difference"]}
            note_differences(seen, "command", key, figure, pair)

    shared = {key: found for key, found in seen.items() if len(found) > 1}
    assert len(shared) > 100
    wrong = {key: found for key, found in shared.items() if not alike(list(found.values()))}
    assert not wrong, dict(list(wrong.items())[:3])

    assert_pages_agree(report, page, get("report"))
    latex = get("report_download", "latex")
    for held in report["judges"].values():
        for audit in held["audit"]["criteria"].values():
            assert not audit["tiers"] or f"(tiers: {wording.item_tiers(audit['tiers']).replace('’', chr(39))}" in latex


def alike(given: list[tuple[float | None, ...]]) -> bool:
    first = given[0]
    return all(one == first if None in one else one == pytest.approx(first, abs=1e-9) for one in given)


def assert_pages_agree(report: Mapping[str, Any], results: str, printed: str) -> None:
    """The headline values stand on every page as they stand in the files."""
    for found in report["people"].values():
        people = found["coefficients"][found["headline"]["people"]]
        if people["value"] is not None:
            assert short(people) in results
            assert interval(people, 3) in printed
    for held in report["judges"].values():
        for document in held["calibration"]["criteria"].values():
            kappa = document["agreement"][document["headline"]["judge"]]
            if kappa["value"] is not None:
                assert all(short(kappa) in page for page in (results, printed))


def test_the_csv_has_every_figure_of_the_document(study, client):
    client.force_login(ResearcherFactory())
    document = whole(json.loads(client.get(reverse("agreement_download", args=[study.slug, "json"])).content))
    listed = rows(client.get(reverse("agreement_download", args=[study.slug, "csv"])).content.decode())
    there = defaultdict(int)
    for key, found in document["criteria"].items():
        for _, one in estimates(found):
            there[key, *(str(one[name]) if one[name] is not None else "" for name in ("value", "low", "high"))] += 1
    for row in listed:
        there[row["criterion"], row["value"], row["low"], row["high"]] -= 1
    missing = {key: n for key, n in there.items() if n > 0}
    assert not missing


@pytest.mark.parametrize("made", ["demo pairs"], indirect=True)
def test_simulated_annotators_are_called_that_in_every_form_of_the_report(study, client):
    client.force_login(ResearcherFactory())
    slug = study.slug
    for form in ("html", "latex", "json"):
        assert "Simulated A" in client.get(reverse("report_download", args=[slug, form])).content.decode()
    assert "Simulated annotators, not people" in client.get(reverse("report", args=[slug])).content.decode()
