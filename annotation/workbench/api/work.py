"""Somebody's own work: what they are to rate, and what they say of it. The services are those of the rating page.

Nothing here tells which model spoke, what it was shown, where an item came from or what others said.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from django.http import Http404
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.corpus.models import Dialogue
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries import asks
from annotation.studies.queries.context import Panel, panels
from annotation.workbench.assignment_names import to_id, to_name
from annotation.workbench.queries import assignments as slots, work
from annotation.workbench.services import annotations as labels, assignments, drafts
from core.accounts.models.users import User
from core.api.base import Given, OwnWork
from core.api.problems import problem
from core.api.schema import says

CLOSED = "This study is closed and takes no more labels."
MOST_HELD = 10


class MyStudySerializer(serializers.Serializer[object]):
    """An open study that the account rates in."""

    study = serializers.CharField(source="study.slug")
    name = serializers.CharField(source="study.name")
    instructions = serializers.CharField(source="study.instructions", allow_blank=True)
    rated = serializers.IntegerField()
    left = serializers.IntegerField(help_text="Items that are left for this annotator.")


class MyStudies(OwnWork):
    @says("my_studies", "The open studies that I rate in", MyStudySerializer(many=True))
    def get(self, request: Request) -> Response:
        return Response(MyStudySerializer(work.my_studies(self.me), many=True).data)


class ContextSerializer(serializers.Serializer[object]):
    """One part of what is shown beside an item."""

    key = serializers.CharField()
    title = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    facts = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))
    entries = serializers.ListField(child=serializers.CharField())


class AskedCategory(serializers.Serializer[object]):
    """A possible answer."""

    value = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    guideline = serializers.CharField(allow_blank=True, required=False)


class AskedCriterion(serializers.Serializer[object]):
    """A question with its answers: of a pair A, B and perhaps a tie, whichever response they are."""

    key = serializers.CharField()
    name = serializers.CharField()
    question = serializers.CharField()
    guideline = serializers.CharField(allow_blank=True)
    guideline_version = serializers.IntegerField()
    type = serializers.CharField(help_text="choice, number, several, ranking, spans, text or rewrite.")
    unit = serializers.CharField()
    limits = serializers.JSONField(help_text="Bounds and the like, by type.")
    help = serializers.CharField(allow_blank=True)
    examples = serializers.ListField(child=serializers.JSONField())
    is_required = serializers.BooleanField()
    only_if = serializers.CharField(allow_blank=True, help_text="When it is asked, in words; empty for always.")
    categories = AskedCategory(many=True)


class TurnSerializer(serializers.Serializer[object]):
    role = serializers.CharField()
    content = serializers.CharField(allow_blank=True)
    parts = serializers.ListField(
        child=serializers.DictField(),
        help_text="Which characters of the content are what: reasoning, a tool call, a picture; empty for mere text.",
    )


def render_turns(dialogue: Dialogue | None) -> list[dict[str, object]] | None:
    """The turns without what else the source says of them."""
    if dialogue is None:
        return None
    return [{"role": t["role"], "content": t["content"], "parts": t.get("parts", [])} for t in dialogue.turns]


class AssignmentSerializer(serializers.Serializer[object]):
    """An item in my work, as it is shown to me."""

    id = serializers.CharField(help_text="A name that tells nothing of what the item is for.")
    study = serializers.CharField()
    state = serializers.CharField()
    leased_until = serializers.DateTimeField(allow_null=True)
    turns = TurnSerializer(many=True, allow_null=True, help_text="Of a dialogue.")
    question = serializers.CharField(allow_null=True, allow_blank=True, help_text="Of a pair.")
    question_context = serializers.CharField(allow_null=True, allow_blank=True)
    responses = serializers.DictField(
        child=serializers.CharField(allow_blank=True), allow_null=True, help_text="Of a pair, by side: A and B."
    )
    context = ContextSerializer(many=True)  # type: ignore[assignment]
    criteria = AskedCriterion(many=True)
    asks = serializers.ListField(
        child=serializers.CharField(),
        help_text="Names of all answers that are asked for: a criterion's key, with the turn or the side behind a full "
        "stop where every turn or response is rated.",
    )
    entered = serializers.DictField(
        child=serializers.CharField(allow_blank=True), help_text="What I have said so far, draft included."
    )


def render_assignment(slot: Assignment, annotator: User) -> dict[str, object]:
    """What the rating page shows, as data."""
    criteria = slot.study.asked
    names = asks.asks(slot, criteria)
    entered, _ = asks.load_entered(slot, annotator, names)
    dialogue, pair = slot.item.dialogue, slot.item.pair
    return {
        "id": to_name(slot.pk),
        "study": slot.study.slug,
        "state": slot.state,
        "leased_until": slot.leased_until,
        "turns": render_turns(dialogue),
        "question": pair and pair.question,
        "question_context": pair and pair.context,
        "responses": slot.build_shown_responses() if pair and slot.order else None,
        "context": [render_panel(panel) for panel in panels(slot.item, slot.study.shown)],
        "criteria": [render_criterion(slot, criterion) for criterion in criteria],
        "asks": [ask.name for ask in names],
        "entered": entered,
    }


def render_panel(panel: Panel) -> dict[str, object]:
    facts = [list(row) for row in (*panel.rows, *panel.rest)]
    return {
        "key": panel.key,
        "title": panel.title,
        "text": panel.text,
        "facts": facts,
        "entries": list(panel.entries),
    }


def render_criterion(slot: Assignment, criterion: Criterion) -> dict[str, object]:
    """The criterion as it is asked, without the keys of the page's keyboard."""
    categories = [
        {name: str(one[name]) for name in ("value", "label", "guideline") if one.get(name) is not None}
        for one in asks.list_shown_categories(slot, criterion)
    ]
    return {**asks.build_shown_question(slot, criterion), "categories": categories}


class Holding(Given):
    holding = serializers.ListField(
        child=serializers.CharField(max_length=40),
        max_length=MOST_HELD,
        default=list,
        help_text="Ids of assignments that the caller holds already.",
    )


class NextItem(OwnWork):
    @says("next_item", "Take the next item to rate", AssignmentSerializer, body=Holding, also={204: None})
    def post(self, request: Request, slug: str) -> Response:
        study = get_object_or_404(self.me.studies, slug=slug)
        holding = [pk for name in self.parse_body(Holding)["holding"] if (pk := find_assignment_id(name)) is not None]
        slot = assignments.lease_next(by=self.me, study=study, holding=holding)
        if slot is None:
            return Response(status=204)
        slot.study = study
        return Response(render_assignment(slots.load_texts(slot), self.me))


def find_assignment_id(name: str) -> int | None:
    """The id behind a name; numbers are no names, since ids would tell checks and repeats from the rest."""
    found = None if name.isdecimal() else to_id(name)
    return found if found is not None and found < 2**63 else None


class Mine(OwnWork):
    def assignment(self, name: str) -> Assignment:
        """My slot, and no other."""
        pk = find_assignment_id(name)
        found = None if pk is None else slots.find_held(self.me, pk)
        if found is None:
            raise Http404
        return found


class MyAssignment(Mine):
    @says("assignment", "An item in my work", AssignmentSerializer)
    def get(self, request: Request, name: str) -> Response:
        return Response(render_assignment(slots.load_texts(self.assignment(name)), self.me))


class MarkSerializer(Given):
    part = serializers.CharField(help_text="turn-3, question, context, A or B.")
    start = serializers.IntegerField(min_value=0, max_value=2**31)
    end = serializers.IntegerField(min_value=0, max_value=2**31)


VALUE = (
    "A category; several joined by |, - for none of them; a number; a ranking such as B>A; a text; of spans JSON: a "
    "list of part, start, end and category. Of a preference A, B, tie; A:much with strength."
)


class AnswerSerializer(Given):
    """A value, or the reason why there is none."""

    value = serializers.CharField(allow_blank=True, default="", help_text=VALUE)
    unscored_reason = serializers.CharField(allow_blank=True, default="")
    note = serializers.CharField(allow_blank=True, default="")
    evidence = MarkSerializer(many=True, default=list)
    guideline_version = serializers.IntegerField(
        required=False, min_value=1, max_value=99_999, help_text="That was shown; the newest if not given."
    )


class Answers(Given):
    answers = serializers.DictField(child=AnswerSerializer(), help_text="By the name of the ask.")
    active_seconds = serializers.FloatField(required=False, min_value=0, max_value=1e9)


class Submitted(serializers.Serializer[object]):
    id = serializers.CharField()
    state = serializers.CharField()


class MyAnswers(Mine):
    @says("submit", "Hand in the labels of an item, or replace them", Submitted, body=Answers)
    def put(self, request: Request, name: str) -> Response:
        slot, given = self.assignment(name), self.parse_body(Answers)
        if slot.study.state != Study.State.OPEN:
            return self.late(slot, given["answers"])
        answers = group_by_kind(given["answers"])
        labels.submit(by=self.me, assignment=slot, active_seconds=given.get("active_seconds"), **answers)
        return Response({"id": to_name(slot.pk), "state": Assignment.State.SUBMITTED})

    def late(self, slot: Assignment, answers: Mapping[str, Mapping[str, object]]) -> Response:
        """Complete answers that came too late are kept for the researcher to decide on."""
        asked, kinds = asks.asks(slot, slot.study.asked), group_by_kind(answers)
        labels.to_store(slot, asked, **kinds)
        content = {f"{key}{asks.SUFFIXES[kind]}": text for kind, given in kinds.items() for key, text in given.items()}
        drafts.keep_late(by=self.me, assignment=slot, content=content, reason=CLOSED)
        return problem(409, f"{CLOSED} The answers are kept for whoever runs it to decide on.", field="assignment")


def group_by_kind(answers: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, str]]:
    """As `annotations.submit` takes them, without what is empty. Everything that is named stays, to be checked."""
    kinds: dict[str, dict[str, str]] = {"values": {}, "unscored": {}, "notes": {}, "evidence": {}, "versions": {}}
    for key, answer in answers.items():
        kinds["values"][key] = str(answer["value"])
        for kind, text in (("unscored", answer["unscored_reason"]), ("notes", answer["note"])):
            if text:
                kinds[kind][key] = str(text)
        if answer["evidence"]:
            kinds["evidence"][key] = json.dumps(answer["evidence"])
        if "guideline_version" in answer:
            kinds["versions"][key] = str(answer["guideline_version"])
    return kinds


class MySkip(Mine):
    @says("skip", "Put an item off; it comes back when nothing else is left", Submitted, body=None)
    def post(self, request: Request, name: str) -> Response:
        slot = self.assignment(name)
        assignments.skip(by=self.me, assignment=slot)
        return Response({"id": to_name(slot.pk), "state": Assignment.State.SKIPPED})


class Freed(serializers.Serializer[object]):
    freed = serializers.BooleanField(help_text="Not if there is work on it.")


class MyPutBack(Mine):
    @says("put_back", "Free an item that was taken and never worked on", Freed, body=None)
    def post(self, request: Request, name: str) -> Response:
        return Response({"freed": assignments.put_back(by=self.me, assignment=self.assignment(name))})


class DraftChanges(Given):
    changes = serializers.DictField(
        child=serializers.CharField(allow_blank=True, trim_whitespace=False),
        help_text="By the name of the input: ASK, ASK-unscored, ASK-note, ASK-evidence, ASK-version.",
    )
    active_seconds = serializers.FloatField(default=0, min_value=0, max_value=1e9)


class Kept(serializers.Serializer[object]):
    content = serializers.DictField(child=serializers.CharField(allow_blank=True))


class MyDraft(Mine):
    @says("save_draft", "Keep what is entered and not handed in; renews the lease", Kept, body=DraftChanges)
    def patch(self, request: Request, name: str) -> Response:
        slot, given = self.assignment(name), self.parse_body(DraftChanges)
        names = asks.input_names(asks.asks(slot, slot.study.asked))
        changes = {name: text for name, text in given["changes"].items() if name in names}
        kept = drafts.save(by=self.me, assignment=slot, changes=changes, active_seconds=given["active_seconds"])
        assignments.renew_all(by=self.me, study=slot.study)
        return Response({"content": kept.content})
