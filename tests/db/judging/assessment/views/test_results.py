"""The results of a study: one matrix whose figures every page, the report and the API repeat, and from a figure on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.studies.models.labels import AgreementRun
from annotation.studies.models.studies import Criterion
from core import row_counts
from core.jobs.waiting import alone
from judging.assessment.models.assessment import CalibrationRun
from judging.assessment.options import JudgedOptions
from judging.assessment.services import deferred_agreement as later, stored_pages
from judging.assessment.views import results
from judging.judges.models import Judge
from judging.runs.models.runs import JudgeRun
from tests.db.judging.assessment.services.judged import compute_results
from tests.support.factories import CriterionFactory, JudgeRunFactory, ResearcherFactory
from tests.support.labelled import add_verdicts, judge_says, people_say, with_items
from tests.support.large import forget_counts
from tests.support.shared_rows import share_rows

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

N = 60
TONE = ["1", "2", "3", "4", "2", "3"] * 10
DONE = ["yes", "no", "yes", "yes", "no", "yes"] * 10


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: Any) -> Iterator[int]:
    """Two criteria, and two judges of both."""

    def make() -> int:
        study = with_items(N, name="Suits", slug="suits")
        tone = CriterionFactory(study=study, key="tone", name="Tone", position=1)
        done = CriterionFactory(study=study, key="done", name="Done", yes_no=True, position=2)
        people_say(tone, {"bob": TONE, "dana": [*TONE[:50], *["1"] * 10], "erin": [*TONE[5:], *TONE[:5]]})
        people_say(done, {"bob": DONE, "dana": DONE, "erin": [*DONE[:54], *["no"] * 6]})
        for name, of_tone, of_done in (
            ("good", TONE, [*DONE[:55], *[""] * 5]),
            ("poor", TONE[::-1], ["yes"] * N),
        ):
            run = judge_says(tone, name, of_tone)
            run.criteria.add(done)
            add_verdicts(run, done, of_done)
        compute_results(study)
        return study.pk

    yield from share_rows(django_db_blocker, make)


@pytest.fixture
def alice(client: Client, made: int) -> Client:
    client.force_login(ResearcherFactory(username="alice"))
    return client


def text_of(response: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<style.*?</style>|<[^>]+>", " ", response.content.decode(), flags=re.DOTALL))


def read_figures(estimate: Any) -> tuple[Any, ...]:
    return tuple(estimate[name] for name in ("value", "low", "high", "n_items"))


@pytest.mark.long
def test_each_figure_is_the_same_on_results_criterion_page_judge_page_report_and_api(alice: Client) -> None:
    matrix = alice.get(reverse("results", args=["suits"])).context["matrix"]
    report = alice.get(reverse("report", args=["suits"])).context["report"]
    agreement = alice.get(reverse("api_study_agreement", args=["suits"])).json()["criteria"]
    cells = matrix.list_cells()
    assert [(row.key, cell.judge) for row, cell in cells] == [
        ("tone", "good"),
        ("tone", "poor"),
        ("done", "good"),
        ("done", "poor"),
    ]
    assert len({cell.decision for _, cell in cells}) > 1
    for row, cell in cells:
        here = ["suits", cell.judge_id]
        page = alice.get(reverse("criterion_verdict", args=[*here, row.key])).context["verdict"]
        of_judge = alice.get(reverse("judge_verdict", args=here)).context["rows"]
        (line,) = [one["verdict"] for one in of_judge if one["verdict"].key == row.key]
        audit = alice.get(reverse("api_audit", args=here), {"criterion": row.key}).json()["verdict"]
        every = alice.get(reverse("api_study_calibration", args=["suits"])).json()["judges"][cell.judge]
        reported = report["judges"][cell.judge]["verdicts"][row.key]
        document = agreement[row.key]
        held, headline = document["judges"][cell.judge], document["headline"]
        mine = read_figures(cell.kappa), read_figures(cell.ceiling), cell.decision
        assert mine[0][0] is not None
        assert [
            (read_figures(page.kappa), read_figures(page.ceiling), page.whole.decision),
            (read_figures(line.kappa), read_figures(line.ceiling), line.whole.decision),
            *[
                (read_figures(one["kappa"]), read_figures(one["human_ceiling"]), one["decision"])
                for one in (audit, every["audit"]["criteria"][row.key]["verdict"], reported)
            ],
        ] == [mine] * 5
        assert (read_figures(held[headline["judge"]]), read_figures(held[headline["ceiling"]])) == mine[:2]
        people = [document["coefficients"], report["people"][row.key]["coefficients"]]
        assert [read_figures(one[headline["people"]]) for one in people] == [read_figures(row.people)] * 2


@pytest.mark.long
def test_the_same_figures_are_written_on_the_pages(alice: Client) -> None:
    cell = alice.get(reverse("results", args=["suits"])).context["matrix"].rows[0].cells[0]
    said = f"{cell.kappa['value']:.2f} [{cell.kappa['low']:.2f}, {cell.kappa['high']:.2f}]".replace("-", "−")
    addresses = [
        reverse("results", args=["suits"]),
        reverse("judge_verdict", args=["suits", cell.judge_id]),
        reverse("criterion_verdict", args=["suits", cell.judge_id, "tone"]),
        reverse("report", args=["suits"]),
    ]
    for address in addresses:
        text = text_of(alice.get(address))
        assert said in text, address
        assert cell.decision.lower() in text.lower(), address


@pytest.mark.long
def test_the_page_begins_with_the_answer_and_ends_with_the_next_step(alice: Client) -> None:
    response = alice.get(reverse("results", args=["suits"]))
    text = text_of(response)
    assert "Inter-annotator agreement of three people" in text
    assert "Of 4 verdicts (criterion × judge)," in text
    assert response.content.decode().count("<svg") > 4
    label, address = response.context["next"]
    assert label in text
    assert alice.get(address.split("#")[0]).status_code == 200


@pytest.mark.long
def test_every_number_of_the_matrix_opens_as_many_items(alice: Client) -> None:
    response = alice.get(reverse("results", args=["suits"]))
    for row in response.context["rows"]:
        counted = [(row["people_href"], row["row"].people["n_items"])]
        counted += [(each["scored_href"], each["cell"].kappa["n_items"]) for _, each in row["cells"]]
        for address, n in counted:
            assert alice.get(address).context["page"].paginator.count == n, address
    differs = response.context["rows"][1]["cells"][1][1]["differs_href"]
    page = alice.get(differs)
    assert page.context["page"].paginator.count == DONE.count("no"), "poor says yes to all"
    assert all(said["judges"][1]["differs"] for _, said in page.context["rows"])


@pytest.mark.long
def test_every_number_opens_as_many_items(client: Client) -> None:
    """Where some items have no label, one rating or a tie, and the judge left some without a verdict."""
    done = CriterionFactory(study=with_items(24, name="Gaps", slug="gaps"), key="done", name="Done", yes_no=True)
    said = ["yes", "no", "yes", "yes"] * 6
    turned = [*said[:4], *["no", "yes"] * 4]
    gaps = {"bob": [*said[:16], "", *[None] * 7], "dana": [*turned, *[None] * 12], "erin": ["no", *[None] * 23]}
    people_say(done, gaps)
    run = judge_says(done, "gappy", [value if k % 5 else "" for k, value in enumerate(said, start=1)])
    client.force_login(ResearcherFactory(username="alice"))
    for address in (
        reverse("agreement", args=["gaps"]),
        reverse("criterion_verdict", args=["gaps", run.judge_id, "done"]),
    ):
        html = client.get(address).content.decode()
        links = re.findall(r'<a[^>]* href="([^"]*/items/[^"]*)"[^>]*>\s*(\d+)\s*</a>', html)
        assert len(links) > 5
        assert any("outcome=scored" in href and n == "13" for href, n in links)
        for href, n in links:
            assert client.get(unescape(href)).context["page"].paginator.count == int(n), (address, href)
    report = client.get(reverse("report_download", args=["gaps", "json"])).json()["judges"]["gappy"]
    assert report["verdicts"]["done"]["reasons"][0]["message"].startswith("13 labelled items with a verdict")


@pytest.mark.long
def test_the_report_counts_the_verdict_on_a_judge_that_left_everything_without_one(client: Client) -> None:
    done = CriterionFactory(study=with_items(20, name="Mute", slug="mute"), key="done", name="Done", yes_no=True)
    people_say(done, {"bob": ["yes", "no"] * 10, "dana": ["yes", "yes", "no", "no"] * 5})
    judge_says(done, "fluent", ["yes", "no"] * 10)
    judge_says(done, "mute", [""] * 20)
    client.force_login(ResearcherFactory(username="alice"))
    lead = client.get(reverse("results", args=["mute"])).context["lead"]
    report = client.get(reverse("report_download", args=["mute", "json"])).json()
    assert "Of 2 verdicts" in lead
    assert report["summary"] == lead
    assert report["without_scores"] == []
    assert "has scored no labelled item" not in text_of(client.get(reverse("report", args=["mute"])))


@pytest.mark.each_database
def test_a_link_with_a_run_shows_that_run_also_after_a_newer_one(alice: Client) -> None:
    tone = Criterion.objects.get(key="tone")
    first = JudgeRun.objects.filter(judge__name="good", criteria=tone).get()
    address = f"{reverse('item_list', args=['suits'])}?criterion=tone&run={first.pk}&value=1"
    before = alice.get(address).context["page"].paginator.count
    newer = JudgeRunFactory(study=tone.study, judge=first.judge, criteria=[tone], finished_at=timezone.now())
    add_verdicts(newer, tone, ["4"] * N)
    assert alice.get(address).context["page"].paginator.count == before == TONE.count("1")
    newest = alice.get(reverse("item_list", args=["suits"]), {"criterion": "tone", "judge": "good", "value": "1"})
    assert newest.context["page"].paginator.count == 0


@pytest.mark.parametrize(
    ("query", "n"),
    [
        ({"people": "several"}, N),
        ({"people": "agree"}, None),
        ({"people": "disagree"}, None),
        ({"annotator": "bob,dana"}, N),
        ({"by": "stratum", "group": "(none)"}, N),
        ({"at": "3,1,7"}, 3),
        ({"at": "3,1,7", "majority": TONE[2]}, 1),
        ({"judge": "good", "outcome": "agrees"}, None),
    ],
)
def test_what_items_have_in_common(alice: Client, query: dict[str, str], n: int | None) -> None:
    address = reverse("item_list", args=["suits"])
    page = alice.get(address, {"criterion": "tone", **query})
    assert page.status_code == 200
    count = page.context["page"].paginator.count
    rows = [said for _, said in page.context["rows"]]
    if n is not None:
        assert count == n
    if query.get("people") == "disagree":
        assert count
        assert all(len(said["counts"]) > 1 for said in rows)
    if query.get("people") == "agree":
        assert all(len(said["counts"]) == 1 for said in rows)
    if query.get("outcome") == "agrees":
        assert not any(said["judges"][0]["differs"] for said in rows)


@pytest.mark.parametrize(
    "query",
    [{"people": "all"}, {"annotator": "nobody"}, {"run": "0"}, {"run": "x"}, {"outcome": "differs"}, {"at": "1,x"}],
)
def test_what_is_not_there_is_said(alice: Client, query: dict[str, str]) -> None:
    assert alice.get(reverse("item_list", args=["suits"]), {"criterion": "tone", **query}).status_code == 400


@pytest.mark.long
def test_an_item_says_who_when_and_by_which_guideline_and_leads_back(alice: Client) -> None:
    address = reverse("item_detail", args=["suits", 2])
    response = alice.get(address, {"criterion": "tone", "people": "disagree"})
    html, text = response.content.decode(), text_of(response)
    assert "guideline version 1" in text
    assert reverse("guideline", args=["suits", "tone"]) in html
    assert re.search(r"bob [^:]{1,40} \d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC , guideline version 1", text)
    back = f"{reverse('item_list', args=['suits'])}?criterion=tone&amp;people=disagree"
    assert back in html


@pytest.mark.parametrize(
    ("old", "new"),
    [("agreement/?by=tier", "results/agreement/?by=tier"), ("calibration/", "results/judges/")],
)
def test_earlier_addresses_lead_to_the_new_ones(alice: Client, old: str, new: str) -> None:
    answer = alice.get(f"/studies/suits/{old}")
    assert (answer.status_code, answer["Location"]) == (301, f"/studies/suits/{new}")


def test_the_earlier_address_of_a_judge_leads_to_its_page(alice: Client) -> None:
    pk = Judge.objects.get(name="good").pk
    assert (
        alice.get(f"/studies/suits/calibration/{pk}/?part=all")["Location"] == f"/studies/suits/results/{pk}/?part=all"
    )


@pytest.mark.long
@pytest.mark.each_database
def test_a_large_study_shows_what_was_computed_last(alice: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Criterion.objects.get(key="tone").study
    read = alice.get(reverse("results", args=["suits"])).context["matrix"]
    monkeypatch.setattr(row_counts, "LARGE", 1)
    forget_counts()
    kept = alice.get(reverse("results", args=["suits"]))
    assert later.find_stored_run(study, JudgedOptions()) is not None
    assert kept.context["matrix"] == read
    assert "a worker computes agreement on request" in text_of(kept)
    forget_counts()


@pytest.mark.long
def test_while_a_judge_is_at_work_what_was_computed_last_is_shown_and_nothing_anew(alice: Client) -> None:
    before = alice.get(reverse("results", args=["suits"]))
    tone = Criterion.objects.get(key="tone")
    run = JudgeRunFactory(study=tone.study, criteria=[tone])
    add_verdicts(run, tone, [*TONE[:20], *[None] * (N - 20)])
    computed = AgreementRun.objects.count(), CalibrationRun.objects.count()
    now = alice.get(reverse("results", args=["suits"]))
    assert (AgreementRun.objects.count(), CalibrationRun.objects.count()) == computed
    assert now.context["matrix"] == before.context["matrix"]
    assert f"{run.judge} rates the items now" in text_of(now)
    JudgeRun.objects.filter(pk=run.pk).update(finished_at=timezone.now())
    ended = alice.get(reverse("results", args=["suits"]))
    assert str(run.judge) in ended.context["matrix"].judges
    assert "rates the items now" not in text_of(ended)


@pytest.mark.long
def test_while_a_worker_computes_a_page_shows_people_and_leaves_the_judges_to_it(alice: Client) -> None:
    tone = Criterion.objects.get(key="tone")
    judge_says(tone, "new", TONE)
    AgreementRun.objects.filter(study=tone.study).delete()
    computed = CalibrationRun.objects.count()
    with alone(f"results-{tone.study_id}") as is_mine:
        now = alice.get(reverse("results", args=["suits"]))
    assert is_mine
    assert CalibrationRun.objects.count() == computed
    assert now.context["run"] == AgreementRun.objects.get(study=tone.study)
    assert "no verdict" in text_of(now)
    assert "The run of new has ended. A worker computes its results within two minutes" in text_of(now)
    assert "no verdict" not in text_of(alice.get(reverse("results", args=["suits"])))


@pytest.mark.long
def test_a_judge_that_has_scored_no_item_yet_is_said_to_run_and_is_no_column_of_dashes(alice: Client) -> None:
    tone = Criterion.objects.get(key="tone")
    before = alice.get(reverse("results", args=["suits"]))
    run = JudgeRunFactory(study=tone.study, criteria=[tone])
    add_verdicts(run, tone, [None] * N)
    compute_results(tone.study)
    now = alice.get(reverse("results", args=["suits"]))
    assert now.context["matrix"].judges == before.context["matrix"].judges
    assert f"{run.judge} rates the items now" in text_of(now)
    assert reverse("run_detail", args=[run.pk]) in now.content.decode()
    compared = alice.get(reverse("calibration", args=["suits"]))
    assert str(run.judge) not in [one.judge.name for one in compared.context["cascade"]["there"]]
    report = alice.get(reverse("report", args=["suits"]))
    assert str(run.judge) in report.context["report"]["judges"], "the files still name it"
    assert f"{run.judge} has scored no labelled item yet" in text_of(report)
    assert "(the judge scored no item)" not in text_of(report)


@pytest.mark.long
def test_what_was_computed_of_a_run_at_work_is_not_shown_once_it_has_finished(alice: Client) -> None:
    tone = Criterion.objects.get(key="tone")
    before = alice.get(reverse("results", args=["suits"]))
    run, other = JudgeRunFactory(study=tone.study, criteria=[tone]), JudgeRunFactory(study=tone.study, criteria=[tone])
    add_verdicts(run, tone, [None] * N)
    compute_results(tone.study)
    run.judgments.all().delete()
    add_verdicts(run, tone, TONE)
    JudgeRun.objects.filter(pk=run.pk).update(finished_at=timezone.now())
    stale = alice.get(reverse("results", args=["suits"]))
    assert f"{other.judge} rates the items now" in text_of(stale)
    assert stale.context["matrix"].judges == before.context["matrix"].judges
    assert f"The run of {run.judge} has ended. A worker computes its results" in text_of(stale)
    for page in ({"whole": "1"}, {}):
        now = alice.get(reverse("results", args=["suits"]), page)
        cell = next(cell for _, cell in now.context["matrix"].list_cells() if cell.run == run.pk)
        assert cell.kappa["n_items"] == N
        assert "A worker computes its results" not in text_of(now)


@pytest.mark.long
def test_a_result_is_computed_again_when_its_run_has_finished(alice: Client) -> None:
    tone = Criterion.objects.get(key="tone")
    run = JudgeRunFactory(study=tone.study, criteria=[tone])
    add_verdicts(run, tone, TONE)
    address = reverse("results", args=["suits"]) + "?whole=1"
    for is_finished in (False, True):
        JudgeRun.objects.filter(pk=run.pk).update(finished_at=timezone.now() if is_finished else None)
        alice.get(address)
        newest = CalibrationRun.objects.filter(judge=run.judge).latest("created_at")
        assert newest.document["criteria"]["tone"]["run_finished"] == is_finished


@pytest.mark.long
def test_a_study_of_some_size_shows_what_a_worker_computed_last_and_when(
    alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_pages, "AT_ONCE", 1)
    read = alice.get(reverse("results", args=["suits"]))
    assert "A worker computes it again" not in text_of(read), "nothing was kept before"
    kept = alice.get(reverse("results", args=["suits"]))
    assert kept.context["matrix"] == read.context["matrix"]
    assert re.search(r"Computed 0 minutes ago, [^.]{16,30}\. A worker computes it again once labels or", text_of(kept))
    now = alice.get(reverse("results", args=["suits"]), {"whole": "1"})
    assert "A worker computes it again" not in text_of(now)


def test_who_has_a_certificate_is_led_to_it_and_not_to_another(alice: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judging.assessment.views.criterion.find_next_step", lambda *_: (results.ISSUE, "#certificate"))
    pk = Judge.objects.get(name="good").pk
    address = reverse("criterion_verdict", args=["suits", pk, "tone"])
    page = alice.get(address).content.decode()
    (first,) = re.findall(r"<button[^>]*button--primary[^>]*>\s*Issue a certificate", page)
    assert 'form="issue-certificate"' in first, "the defect: it led to another button of its name"
    assert '<form id="issue-certificate"' in page
    issued = alice.post(reverse("certificate_issue", args=["suits", pk]))
    page = alice.get(address)
    assert page.context["next"] == ("Open the certificate", issued["Location"])
    assert "Issue another" in page.content.decode()


@pytest.mark.long
def test_without_a_judge_neither_results_nor_report_speak_of_one(client: Client) -> None:
    study = with_items(12, name="People", slug="people")
    people_say(CriterionFactory(study=study, key="tone", name="Tone"), {"bob": TONE[:12], "dana": TONE[1:13]})
    client.force_login(ResearcherFactory())
    page = client.get(reverse("results", args=["people"])).content.decode()
    assert "Run a judge" in page
    assert "human ceiling: inter-annotator" not in page
    report = client.get(reverse("report", args=["people"])).content.decode()
    assert "No judge has rated a labelled item yet." in report
    assert "Evidence by criterion" not in report
    assert not re.search(r"<tbody>\s*</tbody>", report)


def test_a_report_of_nothing_is_not_given_out(client: Client) -> None:
    with_items(3, name="New", slug="new")
    client.force_login(ResearcherFactory())
    page = client.get(reverse("report", args=["new"])).content.decode()
    assert "Nothing to report yet" in page
    assert "Download" not in page
