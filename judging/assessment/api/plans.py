"""Which items people should label: what a cascade of judges leaves to them, what a plan of labels draws,
and what more ratings would tell of items whose tier is unclear.
"""

from __future__ import annotations

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.agreement.api import CriterionQuery
from annotation.agreement.services import more_ratings
from annotation.agreement.services.difficulty import parse_model_cuts
from annotation.stats.difficulty.more import AHEAD
from annotation.studies.api import serializers as shapes
from annotation.studies.queries import ratings
from annotation.workbench.services.overlap import ask_more
from core.api.base import Document, Given
from core.api.schema import says
from core.errors import InputError
from judging.assessment.api.documents import CascadeSerializer, EscalationSerializer, PlannedLabelsSerializer
from judging.assessment.api.results import ResultsApi
from judging.assessment.models.assessment import LabelPlan
from judging.assessment.options import MOST_JUDGES, CascadeQuery, NewCascade, NewPlanned, PlanOptions
from judging.assessment.queries.assessment_data import JudgeData, StudyData
from judging.assessment.services import cascade_records, cascades, labelling_plans, rules
from judging.assessment.services.items import find_criterion
from judging.judges.models import Judge

JUDGES = OpenApiParameter(
    "judges",
    {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 2, "maxItems": MOST_JUDGES},
    required=True,
    explode=False,
    description="Ids of two to five judges, in the order in which they are asked.",
)
"""The same as the document describes it: a list with commas."""


class CascadesApi(ResultsApi):
    def load_judges(self, slug: str, judges: list[int]) -> tuple[StudyData, list[JudgeData]]:
        """The judges of a cascade beside people. InputError where one of them did not judge this study."""
        evidence = StudyData.load(self.study(slug))
        rules.lock(by=self.me, study=evidence.study)
        there = {judge.pk: judge for judge in evidence.judges()}
        if missing := [pk for pk in judges if pk not in there]:
            raise InputError(
                "Judge {missing} did not judge {study}.", field="judges", missing=missing[0], study=evidence.study
            )
        return evidence, evidence.load_judges(cascades.check_judges([there[pk] for pk in judges]))


class StudyCascade(CascadesApi):
    @extend_schema(parameters=[JUDGES])
    @says("cascade", "What `cascade --study NAME --judges A,B --json` prints", CascadeSerializer, query=CascadeQuery)
    def get(self, request: Request, slug: str) -> Response:
        asked = CascadeQuery.check(self.parse_query(CascadeQuery))
        evidence, each = self.load_judges(slug, parse_ids(asked.judges))
        found = cascades.describe(each, asked, cascades.load_costs(each))
        return Response({**found, "on_record": cascade_records.compute_study(evidence)})


def parse_ids(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() and len(part) < 19 for part in parts):
        raise InputError("Name judges by their ids, separated by commas.", field="judges")
    return [int(part) for part in parts]


class CascadeEscalations(CascadesApi):
    @says(
        "escalate_cascade",
        "Send what a cascade leaves to people, as a study",
        EscalationSerializer,
        body=NewCascade,
        status=201,
    )
    def post(self, request: Request, slug: str) -> Response:
        given = self.parse_options(NewCascade)
        _, each = self.load_judges(slug, given.judges)
        found = cascades.compute_cascade(each, given)
        made = cascades.escalate(
            by=self.me, each=each, found=found, options=given, name=given.name, overlap=given.overlap
        )
        return Response(EscalationSerializer(made).data, status=201)


class LabelPlanSerializer(serializers.ModelSerializer[LabelPlan]):
    """A study of items drawn to be labelled next."""

    study = serializers.CharField(source="target.slug", help_text="The study made for people.")
    criterion = serializers.CharField(source="criterion.key")
    could_be_drawn = serializers.SerializerMethodField()

    class Meta:
        model = LabelPlan
        fields = ["study", "criterion", "parameters", "seed", "could_be_drawn", "created_at"]

    def get_could_be_drawn(self, row: LabelPlan) -> int:
        return len(row.probabilities)


class JudgePlan(ResultsApi):
    def load_plan(self, slug: str, pk: int, asked: PlanOptions) -> tuple[JudgeData, labelling_plans.LabellingPlan]:
        judge = get_object_or_404(Judge, pk=pk)
        evidence = StudyData.load(self.study(slug)).load_judge(judge)
        evidence.check_judged()
        rules.lock_rules(by=self.me, study=evidence.study)
        return evidence, labelling_plans.build_plan(evidence, asked)

    @says(
        "plan_labels",
        "What `plan_labels --study NAME --judge NAME --json` prints",
        PlannedLabelsSerializer,
        query=PlanOptions,
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        asked = PlanOptions.check(self.parse_query(PlanOptions))
        return Response(labelling_plans.document(*self.load_plan(slug, pk, asked)))

    @says(
        "create_planned_study",
        "Make a study of the items that the plan draws",
        LabelPlanSerializer,
        body=NewPlanned,
        status=201,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        given = self.parse_options(NewPlanned)
        evidence, found = self.load_plan(slug, pk, given)
        made = labelling_plans.make_study(
            by=self.me, evidence=evidence, found=found, name=given.name, overlap=given.overlap
        )
        return Response(LabelPlanSerializer(made).data, status=201)


class MoreQuery(CriterionQuery):
    agreement_cuts = serializers.CharField(
        default="0.6,0.75,0.9", help_text="Probability that two people agree: ends of contested, hard and medium."
    )
    ahead = serializers.IntegerField(min_value=1, max_value=AHEAD, default=AHEAD)


class MoreOf(Given):
    positions = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**31 - 1), min_length=1, help_text="Of items."
    )


class TiersMore(ResultsApi):
    @says(
        "more_ratings",
        "What `plan --study NAME --settle-tiers --json` prints of one criterion",
        Document,
        query=MoreQuery,
    )
    def get(self, request: Request, slug: str) -> Response:
        study, asked = self.study(slug), self.parse_query(MoreQuery)
        criterion = find_criterion(study, asked["criterion"])
        if criterion is None:
            raise Http404
        people, cuts = ratings.load_criterion(criterion), parse_model_cuts(asked["agreement_cuts"])
        return Response(more_ratings.compute_criterion(study, people, cuts=cuts, ahead=asked["ahead"]))

    @says(
        "request_ratings",
        "Ask for one more rating of each of these items; of how many it is",
        shapes.Changed,
        body=MoreOf,
    )
    def post(self, request: Request, slug: str) -> Response:
        return Response({"n": ask_more(by=self.me, study=self.study(slug), **self.parse_body(MoreOf))})
