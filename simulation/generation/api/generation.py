"""Material that models make, conflicts that they found, and measures of the material."""

from __future__ import annotations

from typing import ClassVar

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.corpus.models import Profile, Task
from core.accounts.permissions import filter_visible
from core.api.base import Api, Document, Given, PageQuery, build_page_schema, find_named
from core.api.schema import says
from core.errors import InputError
from judging.assessment.api.documents import Queued
from judging.judges.services.keys import load_keyring_for
from simulation.agents import services as agents_services
from simulation.generation.models.orders import Conflict, ConflictReview, Making
from simulation.generation.options import ConflictDecision, NewMaking
from simulation.generation.queries import orders as queries
from simulation.generation.services import generation
from simulation.results.services import measures


class MakingSerializer(serializers.ModelSerializer[Making]):
    """An order of material, with every reply and the field that did not fit."""

    project = serializers.CharField(source="project.slug", read_only=True)
    agent = serializers.CharField()
    state = serializers.CharField(help_text="running, failed or done.")

    class Meta:
        model = Making
        fields = [
            *("id", "project", "kind", "agent", "asked", "state", "replies", "problem", "made", "created_at"),
            "finished_at",
        ]


class MakingApi(Api):
    tag = "making"


class MakingList(MakingApi):
    @says("generations", "Orders of material", build_page_schema(MakingSerializer), query=PageQuery)
    def get(self, request: Request) -> Response:
        return self.page(filter_visible(self.me, queries.orders()).select_related("project"), MakingSerializer)

    @says("start_generation", "Order material from a model", MakingSerializer, body=NewMaking, status=201)
    def post(self, request: Request) -> Response:
        given = self.parse_body(NewMaking)
        for name, kind in (("profile", Profile), ("task", Task)):
            given[name] = find_named(kind, name, pk=given[name]) if given.get(name) else None
        with self.parse_project_body(given) as described:
            described["agent"] = agents_services.build_agent(
                side="assistant", **given["agent"], keys=load_keyring_for(self.me)
            )
            made = generation.order(by=self.me, replaced=described.pop("prompts"), **described)
        return Response(MakingSerializer(made).data, status=201)


class MakingDetail(MakingApi):
    @says("generation", "An order of material", MakingSerializer)
    def get(self, request: Request, pk: int) -> Response:
        return Response(MakingSerializer(get_object_or_404(queries.orders(), pk=pk)).data)


class MakingAgain(MakingApi):
    @says("retry_generation", "Try an order that failed once more", MakingSerializer)
    def post(self, request: Request, pk: int) -> Response:
        order = get_object_or_404(queries.orders(), pk=pk)
        generation.retry(by=self.me, making=order)
        order.refresh_from_db()
        return Response(MakingSerializer(order).data)


class ConflictSerializer(serializers.ModelSerializer[Conflict]):
    """What a model found to be in conflict, and what a person decided last."""

    class ReviewSerializer(serializers.ModelSerializer[ConflictReview]):
        decided_by = serializers.CharField(source="decided_by.username", default=None, allow_null=True)

        class Meta:
            model = ConflictReview
            fields = ["decision", "note", "decided_by", "decided_at"]

    reviews = ReviewSerializer(many=True)

    class Meta:
        model = Conflict
        fields = ["id", "profile", "label", "explanation", "fields", "is_between_domains", "reviews"]


class ConflictList(MakingApi):
    @says("conflicts", "Conflicts in profiles", build_page_schema(ConflictSerializer), query=PageQuery)
    def get(self, request: Request) -> Response:
        return self.page(filter_visible(self.me, queries.conflicts()), ConflictSerializer)


class ConflictReviews(MakingApi):
    @says("decide_conflict", "Decide whether it is a conflict", ConflictSerializer, body=ConflictDecision, status=201)
    def post(self, request: Request, pk: int) -> Response:
        generation.decide(by=self.me, conflict=get_object_or_404(Conflict, pk=pk), **self.parse_body(ConflictDecision))
        return Response(ConflictSerializer(get_object_or_404(queries.conflicts(), pk=pk)).data, status=201)


class MeasuresQuery(Given):
    source = serializers.CharField()  # type: ignore[assignment]


class Measures(MakingApi):
    kind: ClassVar[str]

    def read(self) -> Response:
        source = find_source(self.kind, self.parse_query(MeasuresQuery)["source"])
        return Response(measures.measures(self.kind, source))

    def leave(self) -> Response:
        measures.ask(
            by=self.me, kind=self.kind, source=find_source(self.kind, self.parse_body(MeasuresQuery)["source"])
        )
        return Response({"queued": True}, status=202)


class ProfileMeasures(Measures):
    kind = "profiles"

    @says(
        "profile_measures", "Domains, demographics and evenness of one source's profiles", Document, query=MeasuresQuery
    )
    def get(self, request: Request) -> Response:
        return self.read()

    @says(
        "compute_profile_measures",
        "Leave the measures of a source's profiles to a worker",
        Queued,
        body=MeasuresQuery,
        status=202,
    )
    def post(self, request: Request) -> Response:
        return self.leave()


class DialogueMeasures(Measures):
    kind = "dialogues"

    @says("dialogue_measures", "Turns, words and variety of one source's dialogues", Document, query=MeasuresQuery)
    def get(self, request: Request) -> Response:
        return self.read()

    @says(
        "compute_dialogue_measures",
        "Leave the measures of a source's dialogues to a worker",
        Queued,
        body=MeasuresQuery,
        status=202,
    )
    def post(self, request: Request) -> Response:
        return self.leave()


def find_source(kind: str, source: str) -> str:
    there = dict(measures.KINDS[kind].sources())
    if source not in there:
        names = ", ".join(there) or "none"
        raise InputError(f"There is nothing of {source!r}; there are: {names}.", field="source")
    return source
