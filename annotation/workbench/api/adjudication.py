"""What an adjudicator reads before deciding: where there is something to decide, and an item with what people said."""

from __future__ import annotations

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.agreement.api import AdjudicationSerializer, Deciding
from annotation.studies.api import serializers as shapes
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.queries.context import panels
from annotation.workbench.api.work import ContextSerializer, TurnSerializer, render_panel, render_turns
from annotation.workbench.queries import adjudication
from core.accounts.access import IsAdjudicator, find_deciding_roles
from core.api.base import Api, Given, PageQuery, build_page_schema
from core.api.schema import says
from core.errors import InputError


class DecidedStudySerializer(serializers.ModelSerializer[Study]):
    """A study in which the caller decides what people disagree on."""

    project = serializers.CharField(source="project.slug")
    kind = serializers.CharField()
    state = serializers.CharField()
    n_decided = serializers.IntegerField(help_text="Decisions so far.")

    class Meta:
        model = Study
        fields = ["id", "name", "slug", "project", "kind", "state", "n_decided"]


class ToDecide(Api):
    permission_classes = [IsAdjudicator]
    tag = "labels"

    @says(
        "adjudication_studies",
        "The studies in which I decide",
        build_page_schema(DecidedStudySerializer),
        query=PageQuery,
    )
    def get(self, request: Request) -> Response:
        rows = adjudication.to_decide(self.me, find_deciding_roles(self.me))
        return self.page(rows, DecidedStudySerializer)


class VoiceSerializer(serializers.Serializer[object]):
    """One person's answer, under a letter that says nothing of who it is."""

    name = serializers.CharField()
    label = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    unscored_reason = serializers.CharField(allow_blank=True)
    strength = serializers.CharField(allow_blank=True)
    note = serializers.CharField(allow_blank=True)
    evidence = serializers.ListField(child=serializers.CharField())


class DisputedItemSerializer(serializers.Serializer[object]):
    """An item as whoever decides sees it: not which model wrote it, and not who said what."""

    position = serializers.IntegerField()
    turn = serializers.IntegerField()
    criterion = shapes.CriterionSerializer()
    turns = TurnSerializer(many=True, allow_null=True, help_text="Of a dialogue.")
    question = serializers.CharField(allow_null=True, allow_blank=True, help_text="Of a pair.")
    responses = serializers.DictField(
        child=serializers.CharField(allow_blank=True), allow_null=True, help_text="Of a pair, by value: 1 and 2."
    )
    context = ContextSerializer(many=True)  # type: ignore[assignment]
    voices = VoiceSerializer(many=True)
    decisions = AdjudicationSerializer(many=True)


class DisputeQuery(Given):
    criterion = serializers.CharField(required=False, default="", allow_blank=True, help_text="The first if not given.")
    turn = serializers.IntegerField(
        required=False, min_value=0, max_value=2**31 - 1, help_text="The first that is asked of if not given."
    )


class ItemDispute(Deciding):
    @says(
        "dispute",
        "An item with what people said of it, without their names",
        DisputedItemSerializer,
        query=DisputeQuery,
    )
    def get(self, request: Request, slug: str, position: int) -> Response:
        asked = self.parse_query(DisputeQuery)
        subject = ("study", "dialogue__scenario__profile", "dialogue__scenario__task", "pair__profile")
        item = get_object_or_404(Item.objects.select_related(*subject), study__slug=slug, position=position)
        criterion = self.criterion(item.study, asked["criterion"])
        turn = choose_turn(criterion, item, asked.get("turn"))
        decisions = item.adjudications.filter(criterion=criterion, turn=turn).select_related("criterion", "decided_by")
        dialogue, pair = item.dialogue, item.pair
        content = {
            "position": item.position,
            "turn": turn,
            "criterion": criterion,
            "turns": render_turns(dialogue),
            "question": pair and pair.question,
            "responses": pair and {str(one.number): one.text for one in pair.responses},
            "context": [render_panel(panel) for panel in panels(item, item.study.shown)],
            "voices": adjudication.voices(item, criterion, turn),
            "decisions": decisions.order_by("pk"),
        }
        return Response(DisputedItemSerializer(content).data)


def choose_turn(criterion: Criterion, item: Item, asked: int | None) -> int:
    """The turn that is asked for, or the first one that the criterion is asked of; 0 where that is the whole item."""
    turns = list(criterion.turns_of(item))
    turn = asked if asked is not None else turns[0] if turns else 0
    if turn not in turns:
        raise InputError(
            "{name} is not asked of turn {turn} of this item.", field="turn", name=criterion.name, turn=turn
        )
    return turn
