"""The corpus: profiles, tasks, dialogues and pairs, by page and one by one; and finding things by name."""

from __future__ import annotations

from django.db.models import Model, QuerySet
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.corpus import queries
from annotation.corpus.models import Dialogue, Profile, ResponsePair, Task
from annotation.studies.api import serializers as shapes
from annotation.studies.models.studies import Item, Study
from annotation.studies.queries import search
from core.api.base import Api, Given, PageQuery, build_page_schema
from core.api.schema import says
from core.options.fields import Serializer


class DatasetQuery(PageQuery):
    q = serializers.CharField(required=False, help_text="A part of an id or name.")
    source = serializers.CharField(  # type: ignore[assignment]
        required=False, help_text="Where the records came from."
    )


class Material(Api):
    tag = "material"

    def list_records(self, kind: str, shape: Serializer) -> Response:
        asked = self.parse_query(DatasetQuery)
        found = queries.KINDS[kind]
        rows = queries.filter_records(found, asked.get("q", ""), asked.get("source", ""))
        return self.page(select_related_rows(rows, kind), shape, query=asked)


def select_related_rows(rows: QuerySet[Model], kind: str) -> QuerySet[Model]:
    """With what the rows' serializers look at, in the same query."""
    return rows.select_related("scenario") if kind == "dialogues" else rows


class MaterialStocks(Material):
    @says("dataset_counts", "How many records of each kind there are, by source", shapes.StockSerializer(many=True))
    def get(self, request: Request) -> Response:
        stocks = queries.stocks()
        return Response([{"kind": s.kind.key, "total": s.total, "by_source": s.by_source} for s in stocks])


class ProfileList(Material):
    @says("profiles", "Profiles", build_page_schema(shapes.ProfileSerializer), query=DatasetQuery)
    def get(self, request: Request) -> Response:
        return self.list_records("profiles", shapes.ProfileSerializer)


class ProfileDetail(Material):
    @says("profile", "A profile", shapes.ProfileSerializer)
    def get(self, request: Request, pk: int) -> Response:
        return Response(shapes.ProfileSerializer(get_object_or_404(Profile, pk=pk)).data)


class TaskList(Material):
    @says("tasks", "Tasks", build_page_schema(shapes.TaskSerializer), query=DatasetQuery)
    def get(self, request: Request) -> Response:
        return self.list_records("tasks", shapes.TaskSerializer)


class TaskDetail(Material):
    @says("task", "A task", shapes.TaskSerializer)
    def get(self, request: Request, pk: int) -> Response:
        return Response(shapes.TaskSerializer(get_object_or_404(Task, pk=pk)).data)


class DialogueList(Material):
    @says("dialogues", "Dialogues", build_page_schema(shapes.DialogueSerializer), query=DatasetQuery)
    def get(self, request: Request) -> Response:
        return self.list_records("dialogues", shapes.DialogueSerializer)


class DialogueDetail(Material):
    @says("dialogue", "A dialogue", shapes.DialogueSerializer)
    def get(self, request: Request, pk: int) -> Response:
        found = get_object_or_404(Dialogue.objects.select_related("scenario"), pk=pk)
        return Response(shapes.DialogueSerializer(found).data)


class PairList(Material):
    @says("pairs", "Response pairs", build_page_schema(shapes.PairSerializer), query=DatasetQuery)
    def get(self, request: Request) -> Response:
        return self.list_records("pairs", shapes.PairSerializer)


class PairDetail(Material):
    @says("pair", "A response pair", shapes.PairSerializer)
    def get(self, request: Request, pk: int) -> Response:
        return Response(shapes.PairSerializer(get_object_or_404(ResponsePair, pk=pk)).data)


class SearchQuery(Given):
    q = serializers.CharField(help_text="A part of a name or id.")


class FoundSerializer(serializers.Serializer[object]):
    """What was found of one kind, at most 20; `more` says that there is more."""

    title = serializers.CharField()
    names = serializers.ListField(child=serializers.CharField())
    addresses = serializers.ListField(
        child=serializers.CharField(allow_null=True), help_text="Of each in the API, behind /api/v1/; null for people."
    )
    more = serializers.BooleanField()


class Search(Material):
    @says("search", "People, studies, items and records by name or id", FoundSerializer(many=True), query=SearchQuery)
    def get(self, request: Request) -> Response:
        found = search.search(self.parse_query(SearchQuery)["q"], by=self.me)
        return Response(
            [
                {
                    "title": one.title,
                    "names": list(map(str, one.rows)),
                    "addresses": list(map(build_address, one.rows)),
                    "more": one.more,
                }
                for one in found
            ]
        )


def build_address(row: Model) -> str | None:
    """Where the API has what was found."""
    if isinstance(row, Study):
        return f"studies/{row.slug}"
    if isinstance(row, Item):
        return f"studies/{row.study.slug}/items/{row.position}"
    parts = {Profile: "profiles", Dialogue: "dialogues", ResponsePair: "pairs"}
    return f"{parts[type(row)]}/{row.pk}" if type(row) in parts else None  # type: ignore[index]
