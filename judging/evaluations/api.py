"""Models evaluated on a benchmark: begun, asked more, read; and their wrong answers with people's tags."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.benchmarks.models import Benchmark
from annotation.stats.bands import TIERS
from annotation.studies.api.serializers import FigureSerializer
from core.accounts.models.users import User
from core.accounts.permissions import filter_visible
from core.api.base import Api, Document, PageQuery, build_page_schema
from core.api.schema import says
from core.audit.log import audit_batch
from core.errors import InputError
from judging.evaluations.options import TAGS, NewEvaluation, NewEvaluationRuns, Tagging
from judging.evaluations.queries import evaluations as queries, failures as failure_queries
from judging.evaluations.queries.failures import ANY, NOBODY, FailureFilter
from judging.evaluations.services import evaluations, failures, results
from judging.evaluations.services.evaluations import Drawing
from judging.judges.models import Judge
from judging.judges.services import judges as judge_services
from judging.runs.api.runs import RunSerializer, list_runs as runs_listed
from judging.runs.models.evaluations import Evaluation
from judging.runs.models.runs import JudgeRun, Judgment


class EvaluationsApi(Api):
    tag = "benchmarks"

    def evaluation(self, pk: int) -> Evaluation:
        return get_object_or_404(list_evaluations(), pk=pk)

    def render_evaluation(self, pk: int, status: int = 200) -> Response:
        return Response(EvaluationSerializer(self.evaluation(pk)).data, status=status)


class EvaluationSerializer(serializers.ModelSerializer[Evaluation]):
    """Some cases of a benchmark, answered by judges in several settings, each in a run of its own."""

    benchmark = serializers.CharField(source="benchmark.slug")
    study = serializers.CharField(source="study.slug", help_text="Holds the cases as items.")
    n_cases = serializers.IntegerField()
    n_runs = serializers.IntegerField()
    n_running = serializers.IntegerField()

    class Meta:
        model = Evaluation
        fields = [
            "id",
            "benchmark",
            "number",
            "study",
            "drawn",
            "n_cases",
            "n_runs",
            "n_running",
            "input_hash",
            "code_version",
            "created_at",
        ]


def list_evaluations() -> QuerySet[Evaluation]:
    return queries.add_progress(Evaluation.objects.all())


class OfJudges(EvaluationsApi):
    """Runs that a body describes."""

    def prepare(self, request: Request, **kwargs: object) -> None:
        """Ask the other side whether it would answer, which may take a while, before the database is locked."""
        for judge in find_judges(self.me, self.parse_body(self.shape)["judges"]):
            judge_services.probe(judge)

    shape: type[NewEvaluationRuns] = NewEvaluationRuns

    def ask(self, evaluation: Evaluation, *, judges: Sequence[int], **given: object) -> list[JudgeRun]:
        found = find_judges(self.me, judges)
        return evaluations.ask(by=self.me, evaluation=evaluation, judges=found, **evaluations.describe_runs(given))


def find_judges(by: User, judges: Sequence[int]) -> list[Judge]:
    """Find the judges that a body names, each once."""
    there = filter_visible(by, Judge.objects.all()).in_bulk(judges)
    if missing := [pk for pk in judges if pk not in there]:
        raise InputError("There is no judge {missing}.", field="judges", missing=missing[0])
    return [there[pk] for pk in dict.fromkeys(judges)]


class BenchmarkEvaluations(OfJudges):
    shape = NewEvaluation

    @says(
        "benchmark_evaluations",
        "The evaluations of a benchmark",
        build_page_schema(EvaluationSerializer),
        query=PageQuery,
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = get_object_or_404(Benchmark, slug=slug)
        return self.page(list_evaluations().filter(benchmark=benchmark), EvaluationSerializer)

    @says("evaluate", "Begin an evaluation", EvaluationSerializer, body=NewEvaluation, status=201)
    def post(self, request: Request, slug: str) -> Response:
        benchmark, given = get_object_or_404(Benchmark, slug=slug), self.parse_body(NewEvaluation)
        with audit_batch():
            evaluation = evaluations.begin(by=self.me, benchmark=benchmark, drawing=Drawing.from_options(given))
            self.ask(evaluation, **given)
        return self.render_evaluation(evaluation.pk, status=201)


class EvaluationList(EvaluationsApi):
    @says("evaluations", "Evaluations of all benchmarks", build_page_schema(EvaluationSerializer), query=PageQuery)
    def get(self, request: Request) -> Response:
        return self.page(filter_visible(self.me, list_evaluations()), EvaluationSerializer)


class EvaluationDetail(EvaluationsApi):
    @says("evaluation", "An evaluation", EvaluationSerializer)
    def get(self, request: Request, pk: int) -> Response:
        return self.render_evaluation(pk)


class EvaluationRunSerializer(RunSerializer):
    """A run with the setting in which its judge is asked."""

    class Meta(RunSerializer.Meta):
        fields = [*RunSerializer.Meta.fields, "setting"]


class EvaluationRuns(OfJudges):
    @says("evaluation_runs", "The runs of an evaluation", build_page_schema(EvaluationRunSerializer), query=PageQuery)
    def get(self, request: Request, pk: int) -> Response:
        return self.page(runs_listed().filter(evaluation=self.evaluation(pk)), EvaluationRunSerializer)

    @says(
        "extend_evaluation",
        "Let judges answer in more settings; what was asked already is not asked again",
        EvaluationRunSerializer(many=True),
        body=NewEvaluationRuns,
        status=201,
    )
    def post(self, request: Request, pk: int) -> Response:
        made = self.ask(self.evaluation(pk), **self.parse_body(NewEvaluationRuns))
        rows = runs_listed().filter(pk__in=[run.pk for run in made]).order_by("pk")
        return Response(EvaluationRunSerializer(rows, many=True).data, status=201)


class EvaluationResults(EvaluationsApi):
    @says("evaluation_results", "What `benchmark_results NAME --json` prints", Document)
    def get(self, request: Request, pk: int) -> Response:
        return Response(results.load_or_compute(self.evaluation(pk)))


class FailureQuery(PageQuery):
    run = serializers.CharField(required=False, help_text="Of one judge in one setting.")
    tier = serializers.ChoiceField(TIERS, required=False)
    kind = serializers.CharField(required=False)
    tag = serializers.ChoiceField([*TAGS, ANY, NOBODY], required=False)
    text = serializers.CharField(required=False)
    case = serializers.CharField(required=False, help_text="Its position.")


class FailureSerializer(serializers.ModelSerializer[Judgment]):
    """An answer that names another response than people chose, with everybody's tags."""

    position = serializers.IntegerField(source="item.position")
    judge = serializers.CharField(source="run.judge")
    setting = serializers.JSONField(source="run.setting")
    gold = serializers.CharField()
    tier = serializers.CharField()
    kind = serializers.CharField()
    tags: object = serializers.SerializerMethodField()

    class Meta:
        model = Judgment
        fields = [
            "id",
            "run",
            "judge",
            "setting",
            "position",
            "tier",
            "kind",
            "order",
            "value",
            "gold",
            "confidence",
            "explanation",
            "tags",
        ]

    def get_tags(self, row: Judgment) -> list[dict[str, str]]:
        rows = row.failure_tags.all()
        return [{"tag": one.tag, "by": one.tagged_by.username, "note": one.note} for one in rows]


class EvaluationFailures(EvaluationsApi):
    @says("failures", "Wrong answers, by key", build_page_schema(FailureSerializer), query=FailureQuery)
    def get(self, request: Request, pk: int) -> Response:
        asked = self.parse_query(FailureQuery)
        wanted = FailureFilter.from_query({name: value for name, value in asked.items() if isinstance(value, str)})
        rows = failure_queries.filter_failures(self.evaluation(pk), wanted)
        return self.page(rows.prefetch_related("failure_tags__tagged_by"), FailureSerializer, query=asked)


class TagShareSerializer(FigureSerializer):
    """The share of tagged answers that have a tag, and how many they are."""

    n = serializers.IntegerField()


class FailureCountSerializer(serializers.Serializer[object]):
    """Of one model: wrong answers that are tagged, who tagged them, and the share of each tag."""

    judge = serializers.CharField()
    n_tagged = serializers.IntegerField()
    tagged_by = serializers.ListField(child=serializers.CharField())
    tags = serializers.DictField(child=TagShareSerializer())


class FailureCountsSerializer(serializers.Serializer[object]):
    """Tags of wrong answers, by model."""

    models = FailureCountSerializer(many=True)


class EvaluationTags(EvaluationsApi):
    @says("failure_counts", "By model, how many wrong answers are tagged and with what", FailureCountsSerializer)
    def get(self, request: Request, pk: int) -> Response:
        return Response({"models": failures.counts(self.evaluation(pk))})


class FailureTags(EvaluationsApi):
    @says(
        "tag_failure",
        "Say what one sees in a wrong answer, in place of what one said before",
        None,
        body=Tagging,
        status=204,
    )
    def put(self, request: Request, pk: int, judgment: int) -> Response:
        answer = get_object_or_404(Judgment, pk=judgment, run__evaluation=pk)
        failures.tag(by=self.me, evaluation=self.evaluation(pk), judgment=answer, **self.parse_body(Tagging))
        return Response(status=204)
