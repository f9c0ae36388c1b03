"""The queue of a study through the API: its rules, items with known answers, and who came through to the work."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Prefetch, Q, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.quality.models import Admission, KnownAnswer, KnownItem, QueueRules
from annotation.quality.options import NewRules
from annotation.quality.services import gold_questions, qualification
from annotation.quality.services.gold_questions import GoldAnswer, GoldEntry
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Study
from annotation.studies.queries.asks import Ask
from core.accounts import permissions
from core.accounts.models.users import User
from core.api.base import Api, Given, PageQuery, build_page_schema, find_named
from core.api.schema import says
from core.errors import InputError

PURPOSES = KnownItem.Purpose.choices


class QueueApi(Api):
    tag = "queue"

    def study(self, slug: str) -> Study:
        """A study that people rate in; not one that only holds known answers."""
        found = get_object_or_404(Study, slug=slug)
        if found.known_for_id:
            raise Http404
        return found


class Rules(serializers.Serializer[object]):
    """How checks and repeats are mixed in, how much one person rates, and what newcomers must pass."""

    check_every = serializers.IntegerField()
    repeat_every = serializers.IntegerField()
    repeat_after = serializers.IntegerField()
    item_limit = serializers.IntegerField(allow_null=True)
    pass_mark = serializers.FloatField(allow_null=True)


class ChangeSerializer(serializers.ModelSerializer[QueueRules]):
    """The rules as somebody set them."""

    decided_by = serializers.CharField(source="decided_by.username", default=None, allow_null=True)
    rules = serializers.JSONField()

    class Meta:
        model = QueueRules
        fields = ["id", "rules", "decided_by", "created_at"]


class StudyQueue(QueueApi):
    @says("queue", "The rules of a study's queue", Rules)
    def get(self, request: Request, slug: str) -> Response:
        return Response(Rules(self.study(slug)).data)

    @says("set_queue", "Set rules of the queue", Rules, body=NewRules)
    def patch(self, request: Request, slug: str) -> Response:
        study, given = self.study(slug), self.parse_body(NewRules)
        if not given:
            raise InputError("Name at least one rule.")
        gold_questions.set_rules(by=self.me, study=study, **given)
        return Response(Rules(study).data)


class QueueChanges(QueueApi):
    @says("queue_changes", "Who set the rules when", build_page_schema(ChangeSerializer), query=PageQuery)
    def get(self, request: Request, slug: str) -> Response:
        return self.page(self.study(slug).queue_rules.select_related("decided_by"), ChangeSerializer)


class RightAnswer(Given):
    """A right value of a criterion, further ones that are right as well, and why."""

    value = serializers.CharField(max_length=64)
    also = serializers.ListField(child=serializers.CharField(max_length=64), required=False, default=list)
    explanation = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=gold_questions.LONGEST_TEXT
    )


class KnownItemSerializer(serializers.ModelSerializer[KnownItem]):
    """An item with known answers; `answers` by criterion, with a full stop and a number where they are of a turn or
    response."""

    item_id = serializers.CharField(source="item.external_id")
    item_source = serializers.CharField(source="item.subject.source")
    answers = serializers.SerializerMethodField()
    answered = serializers.IntegerField(source="given", help_text="How often it was answered.")

    class Meta:
        model = KnownItem
        fields = [
            *("id", "item_id", "item_source", "purpose", "round", "position", "origin", "answers", "answered"),
            *("created_at", "retired_at"),
        ]

    def get_answers(self, row: KnownItem) -> dict[str, dict[str, Any]]:
        return {
            Ask(one.criterion, one.turn).name: {
                "value": one.value,
                "also": list(one.also),
                "explanation": one.explanation,
            }
            for one in row.answers.all()
        }


class GoldQuestionQuery(PageQuery):
    purpose = serializers.ChoiceField(PURPOSES, required=False)
    retired = serializers.BooleanField(required=False, default=False, help_text="Also those that are retired.")


class NewKnownItem(Given):
    item = serializers.CharField(max_length=400, help_text="Id of the dialogue or pair; source:id if not unique.")
    answers = serializers.DictField(
        child=RightAnswer(), allow_empty=False, help_text="By criterion; criterion.3 for the third turn or response."
    )


class NewKnownItems(Given):
    purpose = serializers.ChoiceField(PURPOSES)
    round = serializers.IntegerField(required=False, default=1, min_value=1, max_value=gold_questions.MOST)
    items = NewKnownItem(many=True, allow_empty=False, max_length=10_000)  # type: ignore[call-arg]


class FromStudy(Given):
    purpose = serializers.ChoiceField(PURPOSES)
    round = serializers.IntegerField(required=False, default=1, min_value=1, max_value=gold_questions.MOST)
    decided_in = serializers.CharField(help_text="Address of the study in which they were decided.")


class Named(serializers.Serializer[object]):
    """How many items are named now as was asked, those that were named before included."""

    n = serializers.IntegerField()


class KnownItems(QueueApi):
    @says(
        "gold_questions",
        "Items with known answers: checks, training, qualification",
        build_page_schema(KnownItemSerializer),
        query=GoldQuestionQuery,
    )
    def get(self, request: Request, slug: str) -> Response:
        study, asked = self.study(slug), self.parse_query(GoldQuestionQuery)
        rows = list_gold_questions(study)
        if "purpose" in asked:
            rows = rows.filter(purpose=asked["purpose"])
        if not asked["retired"]:
            rows = rows.filter(retired_at=None)
        return self.page(rows, KnownItemSerializer, query=asked)

    @says(
        "add_gold_questions", "Name items with their right answers, all or none", Named, body=NewKnownItems, status=201
    )
    def post(self, request: Request, slug: str) -> Response:
        """What was named so before stays as it is. In an error, `line` is the place of the item, from 1."""
        study, given = self.study(slug), self.parse_body(NewKnownItems)
        entries = [
            GoldEntry(
                one["item"],
                {
                    key: GoldAnswer(answer["value"], tuple(answer["also"]), answer["explanation"])
                    for key, answer in one["answers"].items()
                },
                line,
            )
            for line, one in enumerate(given["items"], start=1)
        ]
        made = gold_questions.add(
            by=self.me,
            study=study,
            purpose=given["purpose"],
            entries=entries,
            origin="stated through the API",
            number=given["round"],
        )
        return Response({"n": len(made)}, status=201)


class DecidedKnownItems(QueueApi):
    @says(
        "add_decided_gold_questions",
        "Name what was decided in a study, with these answers",
        Named,
        body=FromStudy,
        status=201,
    )
    def post(self, request: Request, slug: str) -> Response:
        study, given = self.study(slug), self.parse_body(FromStudy)
        source = permissions.filter_visible(self.me, Study.objects.all()).filter(slug=given["decided_in"]).first()
        if source is None:
            raise InputError("There is no study {given!r}.", field="decided_in", given=given["decided_in"])
        made = gold_questions.add_decided(
            by=self.me, study=study, purpose=given["purpose"], source=source, number=given["round"]
        )
        return Response({"n": len(made)}, status=201)


class KnownItemDetail(QueueApi):
    @says("gold_question", "An item with known answers", KnownItemSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(KnownItemSerializer(get_object_or_404(list_gold_questions(self.study(slug)), pk=pk)).data)

    @says("retire_gold_question", "Hand it out no more, and count answers to it no more", None, status=204)
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        gold_questions.retire(by=self.me, known=get_object_or_404(self.study(slug).known_items, pk=pk))
        return Response(status=204)


def list_gold_questions(study: Study) -> QuerySet[KnownItem]:
    answered = Count("assignments", filter=Q(assignments__state=Assignment.State.SUBMITTED))
    in_order = KnownAnswer.objects.select_related("criterion").order_by("turn", "criterion__position")
    rows = study.known_items.select_related("item__dialogue", "item__pair", "item__study")
    return rows.annotate(given=answered).prefetch_related(Prefetch("answers", in_order))


class AdmissionSerializer(serializers.ModelSerializer[Admission]):
    """A result of training and qualification, or a person's decision on one. The newest of somebody holds."""

    annotator = serializers.CharField(source="annotator.username")
    decided_by = serializers.CharField(source="decided_by.username", default=None, allow_null=True)

    class Meta:
        model = Admission
        fields = [
            *("id", "annotator", "outcome", "round", "asked", "right", "pass_mark", "decided_by", "reason"),
            "created_at",
        ]


class NewAdmission(Given):
    annotator = serializers.CharField(help_text="Username.")
    decision = serializers.ChoiceField(["admit", "again"], help_text="Let them rate, or try once more.")
    reason = serializers.CharField(max_length=qualification.LONGEST_REASON)


class Admissions(QueueApi):
    @says(
        "admissions",
        "Training and qualification of participants",
        build_page_schema(AdmissionSerializer),
        query=PageQuery,
    )
    def get(self, request: Request, slug: str) -> Response:
        rows = self.study(slug).admissions.select_related("annotator", "decided_by")
        return self.page(rows, AdmissionSerializer)

    @says(
        "decide_admission",
        "Let somebody through to the work, or try once more",
        AdmissionSerializer,
        body=NewAdmission,
        status=201,
    )
    def post(self, request: Request, slug: str) -> Response:
        study, given = self.study(slug), self.parse_body(NewAdmission)
        annotator = find_named(User, "annotator", username=given["annotator"])
        decide = qualification.try_again if given["decision"] == "again" else qualification.let_through
        made = decide(by=self.me, study=study, annotator=annotator, reason=given["reason"])
        return Response(AdmissionSerializer(made).data, status=201)
