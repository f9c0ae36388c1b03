"""Judges: their versions, limits, what their models cost, and keys, which go in and never come out."""

from __future__ import annotations

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core.accounts.api import ProjectsApi
from core.accounts.permissions import filter_visible
from core.api.base import Api, PageQuery, build_page_schema
from core.api.schema import says
from core.options.model import DOLLARS
from judging.judges import pricing
from judging.judges.models import Judge, ModelKey, Price
from judging.judges.options import Limits, NewJudge, NewKey, NewPrice
from judging.judges.services import judges, keys, quotas
from judging.runs.queries import spending


class JudgesApi(Api):
    tag = "judges"


class JudgeSerializer(serializers.ModelSerializer[Judge]):
    """One version of a judge."""

    title = serializers.CharField(source="__str__", read_only=True, help_text="As tables call it.")
    kind = serializers.CharField(read_only=True)
    project = serializers.CharField(source="project.slug", read_only=True)

    class Meta:
        model = Judge
        fields = [
            "id",
            "title",
            "name",
            "version",
            "project",
            "provider",
            "model",
            "parameters",
            "kind",
            "daily_budget_usd",
            "created_at",
        ]


class JudgeQuery(PageQuery):
    name = serializers.CharField(required=False)


class JudgeList(JudgesApi):
    @says("judges", "Judges, every version", build_page_schema(JudgeSerializer), query=JudgeQuery)
    def get(self, request: Request) -> Response:
        asked = self.parse_query(JudgeQuery)
        rows = Judge.objects.filter(name=asked["name"]) if "name" in asked else Judge.objects.all()
        return self.page(filter_visible(self.me, rows).select_related("project"), JudgeSerializer, query=asked)

    @says(
        "define_judge",
        "The judge with exactly these settings: the latest version, or a new one",
        JudgeSerializer,
        body=NewJudge,
    )
    def post(self, request: Request) -> Response:
        judge = judges.define(by=self.me, **self.resolve_project(self.parse_body(NewJudge)))
        return Response(JudgeSerializer(judge).data)


class JudgeDetail(JudgesApi):
    @says("judge", "A judge", JudgeSerializer)
    def get(self, request: Request, pk: int) -> Response:
        return Response(JudgeSerializer(get_object_or_404(Judge, pk=pk)).data)

    @says("delete_judge", "Remove a version that never ran", None, status=204)
    def delete(self, request: Request, pk: int) -> Response:
        judges.delete(by=self.me, judge=get_object_or_404(Judge, pk=pk))
        return Response(status=204)


class HeldLimitsSerializer(serializers.Serializer[object]):
    """What a judge may cost in a day and has cost today, and how fast its model may be asked; null is no limit."""

    daily_budget_usd = serializers.DecimalField(**DOLLARS, allow_null=True)
    spent_today_usd = serializers.DecimalField(max_digits=20, decimal_places=8)
    requests_per_minute = serializers.IntegerField(allow_null=True)
    tokens_per_minute = serializers.IntegerField(allow_null=True)


class JudgeLimits(JudgesApi):
    @says("limits", "The limits of a judge, all versions together", HeldLimitsSerializer)
    def get(self, request: Request, pk: int) -> Response:
        judge = get_object_or_404(Judge, pk=pk)
        quota = quotas.find_quota(judge.provider, judge.model)
        found = {
            "daily_budget_usd": spending.daily_budget(judge.name),
            "spent_today_usd": round(spending.today(judge.name), 8),
            "requests_per_minute": quota and quota.requests_per_minute,
            "tokens_per_minute": quota and quota.tokens_per_minute,
        }
        return Response(HeldLimitsSerializer(found).data)

    @says(
        "set_limits",
        "Say what a judge may cost in a day and how fast its model may be asked",
        JudgeSerializer,
        body=Limits,
    )
    def put(self, request: Request, pk: int) -> Response:
        judge, given = get_object_or_404(Judge, pk=pk), self.parse_body(Limits)
        judges.set_daily_budget(by=self.me, judge=judge, usd=given.pop("daily_budget_usd", None))
        quotas.set_limits(by=self.me, provider=judge.provider, model=judge.model, **given)
        judge.refresh_from_db()
        return Response(JudgeSerializer(judge).data)


class Tested(serializers.Serializer[object]):
    answer = serializers.CharField(help_text="What is known of it, in a sentence.")


class JudgeTest(JudgesApi):
    @says("test_judge", "Ask whether a judge would answer; costs nothing", Tested)
    def post(self, request: Request, pk: int) -> Response:
        return Response({"answer": judges.test(get_object_or_404(Judge, pk=pk))})


class PriceSerializer(serializers.ModelSerializer[Price]):
    """What a model costs from a day on, in US dollars per million tokens."""

    class Meta:
        model = Price
        fields = [
            "id",
            "provider",
            "model",
            "valid_from",
            "input",
            "output",
            "cache_read",
            "cache_write",
            "batch_input",
            "batch_output",
            "note",
        ]


class PriceList(JudgesApi):
    @says("prices", "Prices that people entered", build_page_schema(PriceSerializer), query=PageQuery)
    def get(self, request: Request) -> Response:
        return self.page(Price.objects.all(), PriceSerializer)

    @says("enter_price", "Enter what a model costs from a day on", PriceSerializer, body=NewPrice, status=201)
    def post(self, request: Request) -> Response:
        made = judges.enter_price(by=self.me, **self.parse_body(NewPrice))
        made.refresh_from_db()
        return Response(PriceSerializer(made).data, status=201)


class PublishedPriceSerializer(serializers.Serializer[object]):
    """What a model costs as its provider publishes it; `above` so many tokens of a prompt."""

    provider = serializers.CharField()
    model = serializers.CharField()
    valid_from = serializers.DateField()
    above = serializers.IntegerField()
    input = serializers.DecimalField(**DOLLARS)
    output = serializers.DecimalField(**DOLLARS)
    cache_read = serializers.DecimalField(**DOLLARS, allow_null=True)
    cache_write = serializers.DecimalField(**DOLLARS, allow_null=True)
    batch_input = serializers.DecimalField(**DOLLARS, allow_null=True)
    batch_output = serializers.DecimalField(**DOLLARS, allow_null=True)


class PublishedPrices(JudgesApi):
    @says("published_prices", "Prices as providers publish them", PublishedPriceSerializer(many=True))
    def get(self, request: Request) -> Response:
        rates = [one for rate in pricing.load_published() for one in (rate, rate.longer) if one]
        return Response(PublishedPriceSerializer(rates, many=True).data)


class PriceDetail(JudgesApi):
    @says("remove_price", "Take a price back", None, status=204)
    def delete(self, request: Request, pk: int) -> Response:
        judges.remove_price(by=self.me, price=get_object_or_404(Price, pk=pk))
        return Response(status=204)


class ModelKeySerializer(serializers.ModelSerializer[ModelKey]):
    """That a project has a key for an address."""

    address = serializers.CharField(source="origin", help_text="Scheme, host and port.")
    is_readable = serializers.SerializerMethodField(help_text="Whether it was sealed with a secret that the site has.")
    created_by = serializers.CharField(source="created_by.username", default=None, allow_null=True)

    class Meta:
        model = ModelKey
        fields = ["id", "address", "note", "is_readable", "created_by", "created_at"]

    def get_is_readable(self, row: ModelKey) -> bool:
        return keys.is_readable(row)


class KeyList(ProjectsApi):
    @says(
        "keys",
        "For which addresses a project has keys of models",
        build_page_schema(ModelKeySerializer),
        query=PageQuery,
    )
    def get(self, request: Request, slug: str) -> Response:
        rows = ModelKey.objects.filter(project=self.project(slug)).select_related("created_by")
        return self.page(rows, ModelKeySerializer)

    @says(
        "set_key",
        "Keep a key for an address, in place of one that is there",
        ModelKeySerializer,
        body=NewKey,
        status=201,
    )
    def post(self, request: Request, slug: str) -> Response:
        made = keys.keep(by=self.me, project=self.project(slug), **self.parse_body(NewKey))
        return Response(ModelKeySerializer(made).data, status=201)


class KeyDetail(ProjectsApi):
    @says("delete_key", "Forget a key", None, status=204)
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        keys.drop(by=self.me, key=get_object_or_404(ModelKey, project__slug=slug, pk=pk))
        return Response(status=204)
