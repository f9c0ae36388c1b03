"""Benchmarks of binary choices: built of votes, audited, cleaned, released; their cases and filter rounds."""

from __future__ import annotations

from django.db.models import Count, Q, QuerySet
from django.http import FileResponse, Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.benchmarks.models import Benchmark, BenchmarkCase, FilterRound
from annotation.benchmarks.options import AuditOptions, Cleaning, NewBenchmark, NewRound
from annotation.benchmarks.queries import benchmarks as queries
from annotation.benchmarks.services import building, datasheets, filtering, grading, releasing, versions
from annotation.benchmarks.services.building import BuildOptions
from annotation.stats.benchmarks.cases import TIERS
from annotation.studies.api import serializers as shapes
from annotation.studies.api.studies import list_studies as shown_studies
from annotation.studies.models.studies import Study
from core.accounts.permissions import filter_visible
from core.api.base import LARGEST, Api, Document, Given, PageQuery, build_page_schema, find_named
from core.api.schema import says


class BenchmarksApi(Api):
    tag = "benchmarks"

    def benchmark(self, slug: str) -> Benchmark:
        return get_object_or_404(list_benchmarks(), slug=slug)

    def render_benchmark(self, slug: str, status: int = 200) -> Response:
        """Render the benchmark as it is now."""
        return Response(BenchmarkSerializer(self.benchmark(slug)).data, status=status)


class BenchmarkSerializer(serializers.ModelSerializer[Benchmark]):
    """One version of a benchmark, with how many cases it has and on how many of them models are scored."""

    parent = serializers.CharField(  # type: ignore[assignment]
        source="parent.slug", default=None, allow_null=True
    )
    study = serializers.CharField(source="study.slug", default=None, allow_null=True, help_text="Whose votes made it.")
    project = serializers.CharField(source="project.slug", read_only=True)
    n_cases = serializers.IntegerField()
    n_counting = serializers.IntegerField(help_text="Those with gold that no rule left out.")

    class Meta:
        model = Benchmark
        fields = [
            "id",
            "name",
            "version",
            "slug",
            "project",
            "state",
            "parent",
            "study",
            "notes",
            "made",
            "input_hash",
            "code_version",
            "created_at",
            "released_at",
            "n_cases",
            "n_counting",
        ]


def list_benchmarks() -> QuerySet[Benchmark]:
    """List benchmarks with all that is said of them, in one query."""
    return Benchmark.objects.select_related("parent", "study", "project").annotate(
        n_cases=Count("cases"), n_counting=Count("cases", filter=Q(cases__excluded_reason=""))
    )


class BenchmarkQuery(PageQuery):
    name = serializers.CharField(required=False)
    state = serializers.ChoiceField(Benchmark.State.choices, required=False)


class BenchmarkList(BenchmarksApi):
    @says("benchmarks", "Benchmarks, every version", build_page_schema(BenchmarkSerializer), query=BenchmarkQuery)
    def get(self, request: Request) -> Response:
        asked = self.parse_query(BenchmarkQuery)
        wanted = {name: asked[name] for name in ("name", "state") if name in asked}
        return self.page(filter_visible(self.me, list_benchmarks()).filter(**wanted), BenchmarkSerializer, query=asked)

    @says("build_benchmark", "A draft from the votes of a study", BenchmarkSerializer, body=NewBenchmark, status=201)
    def post(self, request: Request) -> Response:
        given = self.parse_body(NewBenchmark)
        made = building.build(
            by=self.me,
            study=find_named(filter_visible(self.me, Study.objects.all()), "study", slug=given["study"]),
            parent=find_named(filter_visible(self.me, Benchmark.objects.all()), "parent", slug=given["parent"])
            if "parent" in given
            else None,
            options=BuildOptions.from_options(given),
            **{name: given[name] for name in ("name", "version", "notes")},
        )
        return self.render_benchmark(made.slug, status=201)


class BenchmarkDetail(BenchmarksApi):
    @says("benchmark", "A version of a benchmark", BenchmarkSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return self.render_benchmark(slug)


class CaseSerializer(serializers.ModelSerializer[BenchmarkCase]):
    """A case with gold, votes (null where nobody knows them) and what happened to it; `pair` holds the texts."""

    case = serializers.CharField(source="pair.external_id", help_text="Its name in the benchmark.")
    persona = serializers.CharField(source="pair.profile.external_id", default=None, allow_null=True)
    pair = shapes.PairTexts()

    class Meta:
        model = BenchmarkCase
        fields = [
            "id",
            "case",
            "persona",
            "pair",
            "kind",
            "tier",
            "gold",
            "votes_1",
            "votes_2",
            "votes_tie",
            "kappa",
            "split",
            "excluded_reason",
            "history",
        ]


class CaseQuery(PageQuery):
    q = serializers.CharField(required=False, help_text="A part of an id, a question or a persona's id.")
    kind = serializers.CharField(required=False)
    tier = serializers.ChoiceField(TIERS, required=False)
    split = serializers.CharField(required=False)
    only = serializers.ChoiceField(list(queries.SHOWN), required=False)


class BenchmarkCases(BenchmarksApi):
    @says(
        "cases", "The cases, also those that no model is scored on", build_page_schema(CaseSerializer), query=CaseQuery
    )
    def get(self, request: Request, slug: str) -> Response:
        asked = self.parse_query(CaseQuery)
        wanted = {name: asked[name] for name in ("kind", "tier", "split", "only") if name in asked}
        rows = queries.list_cases(get_object_or_404(Benchmark, slug=slug), search=asked.get("q", ""), **wanted)
        return self.page(rows, CaseSerializer, query=asked)


class BenchmarkCaseDetail(BenchmarksApi):
    @says("case", "A case", CaseSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        rows = queries.list_cases(get_object_or_404(Benchmark, slug=slug))
        return Response(CaseSerializer(get_object_or_404(rows, pk=pk)).data)


class BenchmarkAuditApi(BenchmarksApi):
    is_a_write = False  # the same audit is not made twice

    @says("benchmark_audit", "The newest audit; 404 before the first", Document)
    def get(self, request: Request, slug: str) -> Response:
        newest = queries.newest_audit(get_object_or_404(Benchmark, slug=slug))
        if newest is None:
            raise Http404
        return Response(newest.result)

    @says("audit_benchmark", "What `audit_benchmark NAME --json` finds", Document, body=AuditOptions)
    def post(self, request: Request, slug: str) -> Response:
        benchmark = get_object_or_404(Benchmark, slug=slug)
        return Response(versions.audit(by=self.me, benchmark=benchmark, **self.parse_body(AuditOptions)).result)


class BenchmarkClean(BenchmarksApi):
    @says(
        "clean_benchmark", "A new version without what rules leave out", BenchmarkSerializer, body=Cleaning, status=201
    )
    def post(self, request: Request, slug: str) -> Response:
        made = versions.clean(by=self.me, benchmark=self.benchmark(slug), **self.parse_body(Cleaning))
        return self.render_benchmark(made.slug, status=201)


class BenchmarkDatasheet(BenchmarksApi):
    @says("datasheet", "What somebody must know who uses it", Document)
    def get(self, request: Request, slug: str) -> Response:
        return Response(datasheets.datasheet(self.benchmark(slug)))


class BenchmarkRelease(BenchmarksApi):
    @says("release_benchmark", "Release a draft; it does not change any more", BenchmarkSerializer)
    def post(self, request: Request, slug: str) -> Response:
        versions.release(by=self.me, benchmark=self.benchmark(slug))
        return self.render_benchmark(slug)


class BenchmarkFolder(BenchmarksApi):
    @extend_schema(
        operation_id="download_benchmark",
        summary="The folder that `release` writes, as one ZIP file; 404 for a draft",
        responses={(200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY)},
    )
    def get(self, request: Request, slug: str) -> FileResponse:
        benchmark = self.benchmark(slug)
        if not benchmark.is_released:
            raise Http404
        packed = releasing.pack_release(benchmark=benchmark)
        return FileResponse(packed, as_attachment=True, filename=f"{slug}.zip")


class RoundSerializer(serializers.ModelSerializer[FilterRound]):
    """One decision on the items of a study by a stated rule: how many items had each outcome."""

    follow_up = serializers.CharField(
        source="follow_up.slug", default=None, allow_null=True, help_text="Study in which was asked again."
    )
    outcomes: object = serializers.SerializerMethodField()

    class Meta:
        model = FilterRound
        fields = ["id", "number", "rule", "seed", "follow_up", "outcomes", "input_hash", "code_version", "created_at"]

    def get_outcomes(self, row: FilterRound) -> dict[str, int]:
        found: dict[str, int] = {}
        for one in row.outcomes.all():
            found[one.outcome] = found.get(one.outcome, 0) + 1
        return found


class NewGraded(Given):
    name = serializers.CharField(required=False, allow_blank=True, default="", max_length=120)
    seed = serializers.IntegerField(min_value=0, max_value=LARGEST, default=0)


class Graded(BenchmarksApi):
    @says("graded_choices", "What choices hide that grades of the same people show; 404 before there are any", Document)
    def get(self, request: Request, slug: str) -> Response:
        study = get_object_or_404(Study, slug=slug, kind=Study.Kind.PAIR)
        there = grading.list_graded_studies(study)
        if not there:
            raise Http404
        return Response(grading.compare(study=study, graded=there[0]))

    @says(
        "create_grading_study",
        "A draft in which each response of a study of pairs is graded",
        shapes.StudySerializer,
        body=NewGraded,
        status=201,
    )
    def post(self, request: Request, slug: str) -> Response:
        study = get_object_or_404(Study, slug=slug, kind=Study.Kind.PAIR)
        made = grading.make_study(by=self.me, study=study, **self.parse_body(NewGraded))
        return Response(shapes.StudySerializer(shown_studies().get(pk=made.pk)).data, status=201)


class FilterRounds(BenchmarksApi):
    def rounds(self, slug: str) -> QuerySet[FilterRound]:
        study = get_object_or_404(Study, slug=slug)
        return study.filter_rounds.select_related("follow_up").prefetch_related("outcomes")

    @says("filter_rounds", "The filter rounds of a study of pairs", build_page_schema(RoundSerializer), query=PageQuery)
    def get(self, request: Request, slug: str) -> Response:
        return self.page(self.rounds(slug), RoundSerializer)

    @says("filter_round", "Decide the items that are ready", RoundSerializer, body=NewRound, status=201)
    def post(self, request: Request, slug: str) -> Response:
        given = self.parse_body(NewRound)
        rule = filtering.build_rule(given["outcomes"], given["cuts"], given["chance"], given["min_votes"])
        asked = {name: given[name] for name in filtering.ASKED if name in given}
        made = filtering.run(by=self.me, study=get_object_or_404(Study, slug=slug), rule=rule, **asked)
        return Response(RoundSerializer(self.rounds(slug).get(pk=made.pk)).data, status=201)
