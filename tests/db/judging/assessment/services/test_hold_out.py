"""Development and held-out parts: whole clusters, and every look on record."""

from __future__ import annotations

import io
import json
import re
from importlib import import_module

import pytest
from django.apps import apps
from django.core.management import call_command
from django.urls import reverse

from annotation.corpus.models import Dialogue, ResponsePair
from core.errors import InputError
from judging.assessment.models.assessment import Look
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import certificates, hold_out
from judging.assessment.services.assessment import AssessmentRequest
from judging.judges.models import HoldOut
from judging.judges.queries.study_items import ALL, DEVELOPMENT, HELD_OUT, leaks, positions
from judging.stats.clusters import draw_held_out
from tests.db.judging.assessment.services.judged import QUICK, study, trusted
from tests.support.factories import JudgeFactory, JudgeRunFactory, ProfileFactory, ResearcherFactory, ScenarioFactory
from tests.support.labelled import add_verdicts, with_items

pytestmark = pytest.mark.django_db


def test_a_cluster_is_on_one_side_and_stays_there_when_items_are_added():
    names = [f"profile {k % 50}" for k in range(200)]
    found = draw_held_out(names, 0.3, 1)
    assert {name for name, out in zip(names, found, strict=True) if out}.isdisjoint(
        name for name, out in zip(names, found, strict=True) if not out
    )
    assert 0.15 < found.mean() < 0.45
    assert draw_held_out([*names, "profile 50"], 0.3, 1)[:200].tolist() == found.tolist()
    assert draw_held_out(names, 0.3, 2).tolist() != found.tolist()


def test_the_two_parts_are_the_study():
    criterion = study(n=60)
    for half in (range(1, 11), range(11, 21)):
        Dialogue.objects.filter(items__study=criterion.study, items__position__in=half).update(
            scenario=ScenarioFactory()
        )
    whole = StudyData.load(criterion.study)
    assert whole.part == ALL
    hold_out.hold_out(by=None, study=criterion.study, share=0.5, seed=3)
    parts = {part: StudyData.load(criterion.study, part) for part in (DEVELOPMENT, HELD_OUT)}
    names = {part: set(one.material.names) for part, one in parts.items()}
    assert names[DEVELOPMENT] | names[HELD_OUT] == set(whole.material.names)
    assert not names[DEVELOPMENT] & names[HELD_OUT]
    assert not set(parts[DEVELOPMENT].material.clusters) & set(parts[HELD_OUT].material.clusters)
    assert StudyData.load(criterion.study).part == DEVELOPMENT
    with pytest.raises(InputError, match="development and held-out"):
        StudyData.load(criterion.study, ALL)
    with pytest.raises(InputError, match="held out already"):
        hold_out.hold_out(by=None, study=criterion.study)


@pytest.mark.parametrize("share", [1e-9, 1 - 1e-9])
def test_a_part_without_items_is_refused_and_nothing_is_held_out(share: float):
    found = study(n=60).study
    with pytest.raises(InputError, match=r"hold out (0|60) of 60 items"):
        hold_out.hold_out(by=None, study=found, share=share, seed=1)
    assert not HoldOut.objects.exists()
    hold_out.hold_out(by=None, study=found, share=0.5, seed=3)


@pytest.mark.parametrize("kind", ["dialogue", "pair"])
def test_what_was_drawn_by_numbers_of_rows_stays_as_it_was_drawn(kind: str):
    """Until migration 0024 the hash was of a profile's or dialogue's primary key."""
    made = with_items(40, kind=kind)
    profiles = ProfileFactory.create_batch(3)
    for at, item in enumerate(made.items.select_related("dialogue", "pair").order_by("position")[:12]):
        if kind == "pair":
            ResponsePair.objects.filter(pk=item.pair_id).update(profile=profiles[at % 3])
        else:
            scenario = ScenarioFactory(profile=profiles[at % 3])
            Dialogue.objects.filter(pk=item.dialogue_id).update(scenario=scenario)
    split = HoldOut.objects.create(study=made, share=0.5, seed=7)
    by_name = positions(made)
    rows = made.items.values_list(
        "position", "dialogue__scenario__profile_id", "dialogue_id", "pair__profile_id", "pair__question"
    )
    names = {
        position: f"profile {one or two}" if one or two else f"dialogue {pk}" if pk else f"question {question}\n"
        for position, one, pk, two, question in rows
    }
    drawn = draw_held_out(list(names.values()), split.share, split.seed)
    before = {position for position, out in zip(names, drawn, strict=True) if out}
    import_module("judging.migrations.0024_held_out_by_name").settle(apps, None)
    assert positions(made) == before
    assert set(StudyData.load(made, HELD_OUT).material.names) == set(map(str, before))
    assert by_name != before or kind == "pair"


def test_content_on_both_sides_leaks():
    criterion = study(n=60)
    made = criterion.study
    hold_out.hold_out(by=None, study=made)
    split = made.hold_out
    assert leaks(made, split) == []
    sides = {part: StudyData.load(made, part).material.names for part in (DEVELOPMENT, HELD_OUT)}
    turns = [{"role": "assistant", "content": "The same on both sides."}]
    both = [int(sides[DEVELOPMENT][0]), int(sides[HELD_OUT][0])]
    Dialogue.objects.filter(items__study=made, items__position__in=both).update(turns=turns)
    assert leaks(made, split) == [both[1]]
    judge = StudyData.load(made).judge("gpt")
    assert hold_out.record(made, judge, DEVELOPMENT)["leaks"] == 1


@pytest.mark.any_database
@pytest.mark.long
def test_every_look_is_on_record_and_on_the_certificate(client):
    criterion = study(n=60)
    alice = ResearcherFactory(username="alice")
    hold_out.hold_out(by=alice, study=criterion.study)
    before = trusted(criterion)
    assert before.part == "development"
    assert not Look.objects.exists()
    for version in (1, 2):
        if version == 2:
            run = JudgeRunFactory(
                study=criterion.study, judge=JudgeFactory(name="gpt", version=2), criteria=[criterion]
            )
            add_verdicts(run, criterion, ["1", "2"] * 30)
        judge = StudyData.load(criterion.study).judge("gpt")
        seen = hold_out.record_access(by=alice, study=criterion.study, judge=judge, asked=AssessmentRequest(QUICK))
        assert seen.part == "held-out"
        assert seen.calibration != before.calibration
    certificate = certificates.issue(by=None, found=seen)
    content = certificate.content
    client.force_login(alice)
    page = " ".join(client.get(reverse("certificate_detail", args=[certificate.sha256])).content.decode().split())
    assert "The judge’s figures are of the held-out part. 50 % of the study is held out" in page
    assert re.findall(r"<li>(gpt[ v0-9]*),", page) == ["gpt", "gpt v2"]
    assert page.count(f", account {alice.pk}</li>") == 2
    assert [look["judge"] for look in content["held_out"]["looks"]] == ["gpt", "gpt v2"]
    assert {look["by"] for look in content["held_out"]["looks"]} == {f"account {alice.pk}"}
    assert content["held_out"]["part"] == "held-out"


@pytest.mark.long
def test_on_the_page_nobody_sees_it_without_leaving_a_trace(client):
    criterion = study(n=60)
    client.force_login(ResearcherFactory(username="alice"))
    judge = StudyData.load(criterion.study).judge("gpt")
    at = {
        name: reverse(name, args=["known", judge.pk])
        for name in ("judge_verdict", "judge_look", "study_hold_out", "certificate_issue")
    }
    assert client.post(at["judge_look"], follow=True).status_code == 200
    assert not Look.objects.exists()
    assert "holds 50 %" not in client.get(at["judge_verdict"]).content.decode()
    refused = client.post(at["study_hold_out"], {"share": "7"})
    assert (refused.status_code, HoldOut.objects.exists()) == (400, False)
    assert "must be between 0 and 1" in refused.context["form"].errors["share"][0]
    assert 'aria-describedby="id_share_helptext id_share_error"' in refused.content.decode(), "it stands at the field"
    page = client.post(at["study_hold_out"], {"share": "0.5"}, follow=True).content.decode()
    assert "Nobody has looked at it" in page
    again = client.post(at["study_hold_out"], {"share": "0.5"})
    assert "is held out already" in again.content.decode()
    assert client.get(at["judge_verdict"], {"part": "held-out"}).status_code == 400
    client.post(at["certificate_issue"], {"part": "held-out"})
    assert not Look.objects.exists()
    seen = client.post(at["judge_look"], follow=True)
    assert seen.status_code == 200
    assert "This page shows the held-out part" in " ".join(seen.content.decode().split())
    assert Look.objects.get().created_by.username == "alice"
    assert client.get(at["judge_verdict"], {"part": "held-out"}).status_code == 200
    refused = client.post(at["certificate_issue"], {"part": "held-out", "shown": "what was there before"})
    assert refused["Location"] == f"{at['judge_verdict']}?part=held-out"
    assert Look.objects.count() == 1


@pytest.mark.any_database
@pytest.mark.long
def test_commands_say_which_part_and_leave_a_trace():
    study(n=60)

    def run(*args, **options):
        out = io.StringIO()
        call_command(*args, study="Known", json=True, stdout=out, **options)
        return json.loads(out.getvalue())

    def parts(**options):
        calibration, (audit,) = (run(command, judge="gpt", **options) for command in ("calibrate", "audit"))
        return calibration["part"], audit["part"]

    sizes = run("hold_out", share=0.5)["items"]
    assert sum(sizes.values()) == 60
    assert parts() == ("development", "development")
    assert not Look.objects.exists()
    assert parts(part="held-out") == ("held-out", "held-out")
    assert Look.objects.count() == 2
