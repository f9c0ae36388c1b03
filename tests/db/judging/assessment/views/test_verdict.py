"""What alice sees of a judge's worth: all judges, one verdict, its certificate, the report."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import UTC, datetime

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.corpus.models import ResponsePair
from annotation.studies.models.studies import Criterion
from annotation.workbench.services.exclusions import exclude
from core.accounts.models.users import User
from judging.assessment import latex, typst_report, wording
from judging.assessment.models.assessment import AuditRun, CalibrationRun, Certificate
from judging.assessment.services import assessment, hold_out
from judging.assessment.services.assessment import AssessmentRequest
from judging.judges.models import Judge
from tests.db.judging.assessment.services.judged import compute_results, study
from tests.support.factories import CriterionFactory, JudgeFactory, ResearcherFactory, StudyFactory, UserFactory
from tests.support.labelled import judge_says, pandalm_study, people_say, with_items
from tests.support.shared_rows import share_rows

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.fixture
def alice(client):
    client.force_login(ResearcherFactory(username="alice"))
    return client


@pytest.fixture(scope="module")
def suits(django_db_setup, django_db_blocker):
    """Two judges on pairs, and what they are worth: computed, and looked at by nobody."""

    def make():
        criterion = two_judges()
        compute_results(criterion.study)
        return criterion.pk

    yield from share_rows(django_db_blocker, make)


@pytest.fixture
def pairs(suits, db):
    return Criterion.objects.get(pk=suits)


def two_judges():
    """60 pairs of two assistants, a judge that agrees with people and one that always takes the first."""
    made = with_items(60, kind="pair", name="Suits", slug="suits")
    ResponsePair.objects.update(model_1="fern", model_2="moss")
    criterion = CriterionFactory(study=made, key="preference", name="Preference", preference=True)
    truth = ["1", "2", "1", "1", "2", "tie"] * 10
    people_say(criterion, {"bob": truth, "dana": [*truth[:50], *["1"] * 10], "erin": truth})
    judge_says(criterion, "good", [*truth[:54], *["2"] * 6], order="AB")
    judge_says(criterion, "first", ["1"] * 60, provider="baseline", order="AB")
    return criterion


def text_of(response):
    return re.sub(r"\s+", " ", re.sub(r"<style.*?</style>|<[^>]+>", " ", response.content.decode(), flags=re.DOTALL))


def verdict_page(client, criterion, name="good", **query):
    pk = Judge.objects.get(name=name).pk
    return client.get(reverse("judge_verdict", args=[criterion.study.slug, pk]), query)


def criterion_page(client, criterion, name="good", **query):
    pk = Judge.objects.get(name=name).pk
    return client.get(reverse("criterion_verdict", args=[criterion.study.slug, pk, criterion.key]), query)


def test_judges_are_compared_on_a_tab(pairs, alice):
    response = alice.get(reverse("calibration", args=["suits"]))
    assert "Each judge compared with the one that agrees most with people" in text_of(response)
    assert response.context["differences"][0]["best"] == "good"


def test_the_page_of_a_judge_has_a_line_for_each_criterion(pairs, alice):
    response = verdict_page(alice, pairs, "first")
    ((row,), text) = response.context["rows"], text_of(response)
    assert "Do not use on every criterion" in text
    assert "Judge–human kappa 0.00" in text
    assert "Preference" in text_of(alice.get(row["href"]))
    assert "<svg" not in response.content.decode().split('id="certificate"')[1].split("<footer")[0]


def test_the_verdict_comes_first_with_its_reasons(pairs, alice):
    text = text_of(criterion_page(alice, pairs, "first"))
    assert text.index("Do not use") < text.index("Why") < text.index("What would change it") < text.index("Rules Rule")
    assert "judge–human kappa 0.00" in text
    for part in (
        "Verdict by tier",
        "Can it replace an annotator?",
        "the rate of each category",
        "Which verdicts may be accepted without review?",
        "Biases",
        "Escalated to people",
        "Probes",
        "The longer response",
        "Label noise by annotator",
        "Bradley–Terry strengths",
        "Certificate",
    ):
        assert part in text, part


@pytest.mark.long
def test_a_judge_that_reads_the_scale_backwards_throughout_is_said_to(alice):
    """A correlation of -1 has no interval, and is as plain as can be."""
    criterion = CriterionFactory(study=with_items(20, name="Turned", slug="turned"), key="depth", name="Depth")
    scores = [str(1 + k % 4) for k in range(20)]
    people_say(criterion, {"bob": scores, "dana": scores})
    judge_says(criterion, "turned", [str(5 - int(score)) for score in scores])
    compute_results(criterion.study)
    said = text_of(criterion_page(alice, criterion, "turned"))
    assert "Judge–human correlation: −1.000" in said
    assert "One side reads the scale backwards." in said


def test_a_researcher_changes_the_rules(pairs, alice):
    verdict_page(alice, pairs)
    alice.post(reverse("study_rules", args=["suits"]), {"least_items": "100", "reason": "more is better"})
    shown = verdict_page(alice, pairs)
    assert shown.context["decision"] == "not enough evidence"
    assert "These are not the default rules" in text_of(shown)
    assert CalibrationRun.objects.count() == AuditRun.objects.count() == 2, "what was computed for two judges"


@pytest.mark.long
@pytest.mark.each_database
def test_a_certificate_is_issued_by_the_rules_on_the_page_and_shown_with_its_state(pairs, alice):
    pk = Judge.objects.get(name="good").pk
    alice.post(reverse("study_rules", args=["suits"]), {"least_items": "100", "reason": "more is better"})
    shown = alice.post(reverse("certificate_issue", args=["suits", pk]), follow=True)
    assert "This certificate is authentic" in text_of(shown)
    certificate = Certificate.objects.get()
    assert certificate.content["rules"]["least_items"] == 100
    assert certificate.created_by.username == "alice"
    file = alice.get(reverse("certificate_download", args=[certificate.sha256]))
    assert json.loads(file.content)["sha256"] == certificate.sha256
    Judge.objects.filter(pk=pk).update(parameters={"other": True})
    again = alice.get(reverse("certificate_detail", args=[certificate.sha256]))
    assert "does not hold: expired" in text_of(again)
    assert "expired" in text_of(verdict_page(alice, pairs))


def test_a_certificate_is_of_what_was_seen(pairs, alice):
    pk, shown = Judge.objects.get(name="good").pk, re.compile(r'name="shown" value="(\w+)"')
    seen = shown.search(verdict_page(alice, pairs).content.decode())[1]
    alice.post(reverse("study_rules", args=["suits"]), {"least_items": "100", "reason": "more is better"})
    told = alice.post(reverse("certificate_issue", args=["suits", pk]), {"shown": seen}, follow=True)
    assert "Read the results of now" in text_of(told)
    assert not Certificate.objects.exists()
    seen = shown.search(told.content.decode())[1]
    alice.post(reverse("certificate_issue", args=["suits", pk]), {"shown": seen})
    assert Certificate.objects.get().content["rules"]["least_items"] == 100


@pytest.mark.long
@pytest.mark.each_database
def test_page_report_and_certificate_say_how_many_figures_were_recomputed(pairs, alice):
    verdict_page(alice, pairs)
    found = CalibrationRun.objects.get(judge__name="good").result["criteria"]["preference"]["second_opinion"]
    assert found["agrees"] is True
    said = f"{found['recomputed']} figures recomputed with krippendorff and scikit-learn; largest difference"
    pk = Judge.objects.get(name="good").pk
    certificate = alice.post(reverse("certificate_issue", args=["suits", pk]), follow=True)
    for response in (criterion_page(alice, pairs), alice.get(reverse("report", args=["suits"])), certificate):
        assert said in text_of(response)


@pytest.mark.long
def test_downloads(pairs, alice):
    pk = Judge.objects.get(name="good").pk
    for part, first in (("calibration", "criterion,part,of,figure"), ("audit", "criterion,probe,effect")):
        table = alice.get(reverse("judge_verdict_download", args=["suits", pk, part, "csv"])).content.decode()
        assert table.startswith(first)
        rows = list(csv.reader(io.StringIO(table)))
        assert {len(row) for row in rows} == {len(rows[0])}
    (document,) = json.loads(alice.get(reverse("judge_verdict_download", args=["suits", pk, "audit", "json"])).content)
    assert document["verdict"]["decision"] == "not enough evidence"
    assert document["verdict"]["power"]["design"]["n_items"] == 60
    for name, kind in (("svg", "image/svg+xml"), ("png", "image/png"), ("csv", "text/csv")):
        response = alice.get(reverse("judge_plot", args=["suits", pk, "preference", "alt-test", name]))
        assert response["Content-Type"].startswith(kind)
    missing = [("preference", "reliability", "svg"), ("preference", "none", "svg"), ("other", "alt-test", "svg")]
    for key, plot, form in missing:
        assert alice.get(reverse("judge_plot", args=["suits", pk, key, plot, form])).status_code == 404


OPEN = r"<details[^>]*\sopen"


@pytest.mark.long
def test_the_report_as_page_and_files(pairs, alice):
    text = text_of(alice.get(reverse("report", args=["suits"])))
    assert "Methods" in text
    assert "Calderon" in text
    html = alice.get(reverse("report_download", args=["suits", "html"])).content.decode()
    assert html.startswith("<!DOCTYPE html>")
    assert not re.search(r'(src|href)="(?!#)', html), "nothing from outside the file"
    assert "<svg" in html
    assert html.count("<details") == len(re.findall(OPEN, html)) == 7, "the file is complete without a click"
    told = ("Trivial baselines", "accuracy after Dawid and Skene", "duplicate items in", "Agreement by difficulty")
    for part in told:
        assert part in html, part
    tables = alice.get(reverse("report_download", args=["suits", "latex"])).content.decode()
    assert tables.count(r"\begin{tabular}") == tables.count(r"\end{tabular}") >= 5
    told = ("trivial baselines", "annotators after Dawid and Skene", "Items that are copies", "agreement by difficulty")
    for part in told:
        assert part in tables, part
    document = json.loads(alice.get(reverse("report_download", args=["suits", "json"])).content)
    assert set(document["judges"]) == {"good", "first"}
    assert alice.get(reverse("report_download", args=["suits", "docx"])).status_code == 404


@pytest.mark.long
def test_the_report_begins_with_a_summary_and_folds_the_rest(pairs, alice):
    html = alice.get(reverse("report", args=["suits"])).content.decode()
    summary = html[html.index('id="summary"') : html.index('id="contents"')]
    assert summary.count("<tr>") >= 1 + 2, "a row for each criterion and judge"
    for part in ("good", "(baseline judge)", "#criterion-preference", "1:", "tie:"):
        assert part in summary, part
    for place in ("summary", "people", "criterion-preference", "methods"):
        assert f'href="#{place}"' in html
        assert f'id="{place}"' in html
    assert html.count("<details") == 7
    assert html.count("data-fold-narrow") == len(re.findall(OPEN, html)) == 3, "open where there is room"


@pytest.mark.long
def test_the_report_says_what_is_held_out_and_who_looked(pairs, alice):
    hold_out.hold_out(by=None, study=pairs.study, share=0.4)
    judge = Judge.objects.get(name="good")
    hold_out.record_access(by=None, study=pairs.study, judge=judge, asked=AssessmentRequest())
    text = text_of(alice.get(reverse("report", args=["suits"])))
    assert "Judges’ figures are of the development part, people’s of all items. 40 % of the study is held out" in text
    assert "1 look at it is on record : good" in text.replace("record:", "record :")
    document = json.loads(alice.get(reverse("report_download", args=["suits", "json"])).content)
    assert [look["judge"] for look in document["held_out"]["looks"]] == ["good"]
    assert document["study"]["n_items"] == pairs.study.items.count()
    said = wording.describe_hold_out(document["held_out"])
    assert said in text
    assert latex.escape(said) in latex.report(document)
    assert typst_report.quote(said) in typst_report.write(document, [])


@pytest.mark.long
def test_excluded_annotators_are_in_no_sentence_of_the_report(pairs, alice):
    people_say(pairs, {**dict.fromkeys(["bob", "dana", "erin"], [None] * 60), "robot": ["1"] * 60}, kind="simulated")
    robot, early = User.objects.get(username="robot"), datetime(2020, 1, 1, tzinfo=UTC)
    pairs.study.annotators.add(robot)
    pairs.study.assignments.filter(annotator=robot).update(submitted_at=early)

    def ask():
        document = json.loads(alice.get(reverse("report_download", args=["suits", "json"])).content)
        page = text_of(verdict_page(alice, pairs))
        return document, [("robot" in page), ("2020-01-01" in document["methods"]["text"])]

    assert ask()[1] == [True, True]
    exclude(by=User.objects.get(username="alice"), study=pairs.study, annotator=robot, reason="a test")
    document, told = ask()
    assert told == [False, False]
    assert (document["raters"], document["simulated"]) == ({"people": 3, "simulated": 0}, [])
    assert "of three people" in document["summary"]


@pytest.mark.long
def test_names_from_outside_are_escaped_everywhere(pairs, alice):
    ResponsePair.objects.update(model_1="<script>alert(1)</script>")
    Judge.objects.filter(name="good").update(name="<img src=x>")
    pairs.name = "<b>bold</b> & 50 %"
    pairs.save()
    pages = [
        verdict_page(alice, pairs, "<img src=x>"),
        criterion_page(alice, pairs, "<img src=x>"),
        alice.get(reverse("results", args=["suits"])),
        alice.get(reverse("report", args=["suits"])),
        alice.get(reverse("report_download", args=["suits", "html"])),
        alice.get(reverse("calibration", args=["suits"])),
    ]
    for page in pages:
        html = page.content.decode()
        assert "<script>alert" not in html
        assert "<img src=x" not in html
        assert "<b>bold" not in html
    tables = alice.get(reverse("report_download", args=["suits", "latex"])).content.decode()
    assert r"\textless{}b\textgreater{}bold" in tables
    assert r"\& 50 \%" in tables


def test_studies_without_judge_or_label_say_what_to_do(alice):
    StudyFactory(slug="empty")
    assert "No labels yet" in text_of(alice.get(reverse("results", args=["empty"])))
    assert "Fewer than two judges have rated labelled items" in text_of(
        alice.get(reverse("calibration", args=["empty"]))
    )
    assert "Nothing to report yet" in text_of(alice.get(reverse("report", args=["empty"])))
    judge = JudgeFactory(name="elsewhere", provider="baseline")
    here = ["empty", judge.pk]
    assert "elsewhere has not rated this study" in text_of(alice.get(reverse("judge_verdict", args=here)))
    assert "Run this judge" in text_of(alice.get(reverse("criterion_verdict", args=[*here, "tone"])))


@pytest.mark.long
def test_the_number_of_queries_does_not_grow(pairs, alice, django_assert_num_queries, django_assert_max_num_queries):
    addresses = [reverse(name, args=["suits"]) for name in ("calibration", "report")]
    for address in addresses:
        alice.get(address)
    with django_assert_num_queries(35):
        alice.get(addresses[0])
    with django_assert_num_queries(62):
        alice.get(addresses[1])
    for key in ("a", "b"):
        more = CriterionFactory(study=pairs.study, key=key, level="nominal")
        people_say(more, {"bob": list("123412") * 10, "dana": list("123412") * 10})
        judge_says(more, f"judge-{key}", list("123412") * 10)
    for address in addresses:
        alice.get(address)
    with django_assert_max_num_queries(35):
        alice.get(addresses[0])
    with django_assert_max_num_queries(64):
        alice.get(addresses[1])


@pytest.mark.long
@pytest.mark.each_database
def test_what_takes_long_is_left_to_a_worker(alice, monkeypatch, django_capture_on_commit_callbacks):
    criterion = study(n=20)
    monkeypatch.setattr(assessment, "MOST_AT_ONCE", 10)
    sent = []
    monkeypatch.setattr(
        "judging.assessment.services.assessment.current_app.send_task", lambda *a, **k: sent.append((a, k))
    )
    judge = Judge.objects.get(name="gpt")
    assert "A worker computes the results" in text_of(alice.get(reverse("results", args=["known"])))
    assert "Not yet computed" in text_of(alice.get(reverse("report", args=["known"])))
    with django_capture_on_commit_callbacks(execute=True):
        alice.post(reverse("judge_assess", args=["known", judge.pk]))
    assert sent == [((assessment.TASK,), {"args": [criterion.study_id, judge.pk]})]
    assessment.assess(*sent[0][1]["args"])
    assessment.assess(*sent[0][1]["args"])
    assert CalibrationRun.objects.filter(judge=judge).count() == AuditRun.objects.filter(judge=judge).count() == 1
    assert "A worker computes the results" not in text_of(alice.get(reverse("results", args=["known"])))


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("results", []),
        ("calibration", []),
        ("criterion_verdict", [1, "preference"]),
        ("calibration_download", ["csv"]),
        ("judge_verdict", [1]),
        ("judge_verdict_download", [1, "audit", "json"]),
        ("judge_plot", [1, "preference", "alt-test", "svg"]),
        ("report", []),
        ("report_download", ["json"]),
    ],
)
def test_charlie_sees_nothing(pairs, client, name, more):
    address = reverse(name, args=["suits", *more])
    assert client.get(address).status_code == 302
    client.force_login(UserFactory(username="charlie"))
    assert client.get(address).status_code == 403


@pytest.mark.long
def test_pandalm_in_the_browser_and_by_commands_gives_the_same(shared_data, alice, tmp_path):
    made = pandalm_study(shared_data / "pandalm")
    for name in ("gpt-3.5-turbo", "pandalm-7b"):
        pk = Judge.objects.get(name=name).pk
        for part, command in (("calibration", "calibrate"), ("audit", "audit")):
            out = io.StringIO()
            call_command(command, study="PandaLM", judge=name, json=True, stdout=out)
            page = alice.get(reverse("judge_verdict_download", args=["pandalm", pk, part, "json"]))
            assert json.loads(page.content) == json.loads(out.getvalue()), (name, part)
        assert "Assist and escalate" in text_of(verdict_page(alice, made.criteria.get(), name))
    path = tmp_path / "report.json"
    call_command("report", study="PandaLM", format="json", output=path, stdout=io.StringIO())
    page = json.loads(alice.get(reverse("report_download", args=["pandalm", "json"])).content)
    written = json.loads(path.read_text())
    assert {**page, "generated_at": ""} == {**written, "generated_at": ""}
