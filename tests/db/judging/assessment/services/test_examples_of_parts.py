"""Few-shot examples of judges from criteria of turns and responses."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion
from annotation.studies.queries.units import to_position, to_turn, unit
from core.errors import InputError
from judging.assessment.services import hold_out, improvement
from judging.judges.models import Judge
from judging.judges.queries import study_items
from judging.judges.services import examples
from judging.runs.models.runs import JudgeRun
from judging.runs.queries.requests import Frame, build_requests
from tests.db.judging.assessment.services.parts import NUMBERS, build_study, text_of
from tests.support.factories import JudgeFactory, ResearcherFactory

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.fixture(params=["response", "assistant_turn"])
def criterion(request: Any) -> Criterion:
    return build_study(request.param, JudgeFactory(name="gpt", provider="imported"))


class TestExamples:
    """Few-shot examples are settled turns or responses, each shown as the judge is asked about it."""

    @pytest.fixture
    def asked(self, criterion: Criterion) -> Judge:
        hold_out.hold_out(by=None, study=criterion.study, share=0.3)
        return JudgeFactory(name="small", provider="local", model="small")

    def test_one_part_of_each_item(self, criterion: Criterion, asked: Judge) -> None:
        made = improvement.new_version(by=None, judge=asked, study=criterion.study, n=4)
        shown = made.parameters["examples"]
        assert len({one["item"] for one in shown}) == 4
        assert not {one["item"] for one in shown} & study_items.positions(criterion.study)
        people = {one.name: one for one in load_settled(criterion)}
        for one in shown:
            name = unit(one["item"], one["turn"])
            assert one["value"] == people[name].value
            last = one["material"].get("response_a") or one["material"]["conversation"].rpartition(": ")[2]
            assert last == text_of(name), "nothing after it is shown, and of responses it alone"
            assert "response_b" not in one["material"]
        again = improvement.new_version(by=None, judge=made, study=criterion.study, n=4)
        assert again == made, "the same draw, checked word by word"
        assert unit(shown[0]["item"], shown[0]["turn"]) in made.settings["examples"]

    def test_each_item_at_most_once_however_many_are_asked_for(self, criterion: Criterion, asked: Judge) -> None:
        there = {to_position(one.name) for one in load_settled(criterion)}
        n = min(len(there), examples.MOST)
        for seed in range(5):
            drawn = examples.draw_examples(criterion.study, [criterion], n, seed=seed)
            assert len({one["item"] for one in drawn}) == n

    def test_the_prompt_shows_them_and_the_judge_is_asked_about_no_part_of_their_items(
        self, criterion: Criterion, asked: Judge
    ) -> None:
        name = next(one.name for one in load_settled(criterion))
        judge = improvement.new_version(by=None, judge=asked, study=criterion.study, items=[name])
        frame = Frame(judge, [], [criterion], 1, "AB", 0, unit="turn" if criterion.of_turns else "response")
        requests = build_requests(frame, list(criterion.study.items.values_list("pk", flat=True)), with_prompt=True)
        left = {one.request.item for one in requests if one.request.is_example}
        assert left == {f"parts-{to_position(name)}"}
        assert sum(one.request.is_example for one in requests) == 2
        words = next(one for one in requests if not one.request.is_example).request.prompt.user
        assert text_of(name) in words
        assert (f"this was turn [{to_turn(name)}], the one to rate" in words) == criterion.of_turns
        assert "example 1: response B" not in words

    @pytest.mark.each_database
    def test_another_item_with_the_same_part_is_not_asked_about_it(self, criterion: Criterion, asked: Judge) -> None:
        name = next(one.name for one in load_settled(criterion) if to_turn(one.name) == NUMBERS[criterion.unit][0])
        judge = improvement.new_version(by=None, judge=asked, study=criterion.study, items=[name])
        mine = criterion.study.items.get(position=to_position(name)).subject
        item = criterion.study.items.exclude(position=to_position(name)).first()
        twin = item.subject
        if criterion.of_turns:
            twin.turns = [*mine.turns[:2], *twin.turns[2:]]
        else:
            twin.question, twin.response_1 = mine.question, mine.response_1
        twin.save()
        frame = Frame(judge, [], [criterion], 1, "AB", 0, unit="turn" if criterion.of_turns else "response")
        requests = build_requests(frame, [item.pk], with_prompt=True)
        assert len(requests) == 2
        assert [one.request.is_example for one in requests] == [True, False]

    def test_a_part_whose_text_is_held_out_is_none(self, criterion: Criterion, asked: Judge) -> None:
        name = next(one.name for one in load_settled(criterion) if to_turn(one.name) == NUMBERS[criterion.unit][0])
        if criterion.of_responses:
            pytest.skip("responses to one question are in one part")
        mine = criterion.study.items.get(position=to_position(name)).subject
        twin = criterion.study.items.get(position=min(study_items.positions(criterion.study))).subject
        twin.turns = [*mine.turns[:2], *twin.turns[2:]]
        twin.save()
        with pytest.raises(InputError, match=f"turn {name} is not a settled turn of the development part"):
            improvement.new_version(by=None, judge=asked, study=criterion.study, items=[name])

    @pytest.mark.each_database
    def test_what_is_refused(self, criterion: Criterion, asked: Judge) -> None:
        noun = criterion.part_noun
        with pytest.raises(
            InputError, match=rf"{noun} 3 is not a settled .*; name it by item and {noun}, such as 3\.2"
        ):
            improvement.new_version(by=None, judge=asked, study=criterion.study, items=[3])
        Annotation.objects.filter(assignment__item__position__gt=3).delete()
        few = rf"helpful has \d items with settled {noun}s in the development part, fewer than 9"
        with pytest.raises(InputError, match=few):
            improvement.new_version(by=None, judge=asked, study=criterion.study, n=9)
        Criterion.objects.filter(pk=criterion.pk, unit="assistant_turn").update(unit="user_turn")
        if criterion.of_turns:
            with pytest.raises(InputError, match="judges here rate the assistant's turns"):
                improvement.new_version(by=None, judge=asked, study=criterion.study, n=2)

    def test_through_page_command_and_api(self, criterion: Criterion, asked: Judge, client: Client) -> None:
        client.force_login(ResearcherFactory())
        page = client.get(reverse("judge_improve", args=["parts", JudgeRun.objects.get().judge_id])).content.decode()
        assert 'value="helpful"' in page
        name = next(one.name for one in load_settled(criterion))
        out = io.StringIO()
        call_command("judge_version", judge="small", from_study="parts", items=[name], json=True, stdout=out)
        (shown,) = json.loads(out.getvalue())["examples"]
        assert (shown["item"], shown["turn"]) == (to_position(name), to_turn(name))
        address = f"/api/v1/studies/parts/judges/{asked.pk}/versions"
        made = client.post(address, {"examples": 2}, content_type="application/json")
        assert made.status_code == 201
        assert all(one["turn"] for one in Judge.objects.get(pk=made.json()["id"]).examples)


def load_settled(criterion: Criterion) -> list[Any]:
    """What may be an example, by name."""
    found = examples.load_settled_items(criterion.study, [criterion])[criterion.pk]
    return [SimpleNamespace(name=name, value=one.value) for name, one in found.items()]
