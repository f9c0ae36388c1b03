"""What follows from labels and judgments: agreement, tiers, calibration, audits, reports, certificates."""

from __future__ import annotations

from django.http import Http404, HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.agreement.api import CriterionQuery
from annotation.agreement.services import difficulty, stored_difficulty
from annotation.agreement.services.difficulty import parse_model_cuts
from annotation.agreement.services.predicted_difficulty import SCOPES, STUDY, PredictionOptions
from annotation.agreement.services.tiers import TierOptions, parse_chance, parse_cuts
from annotation.studies.models.studies import Study
from annotation.studies.queries import ratings
from annotation.studies.queries.studies import is_large
from core.api.base import LARGEST, Api, Document, Given
from core.api.schema import says
from core.downloads import attach_file
from core.errors import NotComputedError
from judging.assessment.api.documents import (
    AssessedJudgesSerializer,
    EscalationSerializer,
    HeldOutSerializer,
    HoldOutSerializer,
    Queued,
)
from judging.assessment.options import SCORES, VERDICTS, JudgedOptions, NewEscalation, NewHoldOut, NewVersion
from judging.assessment.queries.assessment_data import JudgeData, StudyData
from judging.assessment.result_types import AssessmentDocument
from judging.assessment.services import (
    agreement,
    assessment,
    deferred_agreement as later,
    escalation,
    hold_out,
    improvement,
    judge_comparison,
    predicted_difficulty,
    recalibration,
    report,
)
from judging.assessment.services.agreement import StudyRatings
from judging.assessment.services.assessment import Assessment, AssessmentRequest, NothingToAssessError
from judging.assessment.services.items import find_criterion
from judging.judges.models import Judge
from judging.runs.api.judges import JudgeSerializer
from judging.runs.api.runs import RunSerializer

MOST_RESAMPLES = 20_000


class ResultsApi(Api):
    tag = "results"

    def study(self, slug: str) -> Study:
        return get_object_or_404(Study, slug=slug)


class AskedAgreement(Given):
    bootstrap = serializers.IntegerField(min_value=0, max_value=MOST_RESAMPLES, default=2000)
    confidence = serializers.FloatField(default=0.95)
    seed = serializers.IntegerField(min_value=0, max_value=LARGEST, default=0)
    epsilon = serializers.FloatField(default=0.15)
    by = serializers.CharField(
        default="",
        allow_blank=True,
        help_text="A grouping of items, or annotator:KEY for what annotators answered about themselves.",
    )
    cluster = serializers.CharField(default="", allow_blank=True)
    strata = serializers.CharField(default="", allow_blank=True)
    read = serializers.ChoiceField([VERDICTS, SCORES], default=VERDICTS)


class AgreementQuery(AskedAgreement):
    criterion = serializers.CharField(required=False, help_text="One alone; all if not given.")
    whole = serializers.BooleanField(default=False, help_text="Compute it now, however large the study is.")


class StudyAgreement(ResultsApi):
    left_to_a_worker = True

    @says(
        "agreement",
        "What `agreement --study NAME --json` prints; of a large study what a worker computed last",
        Document,
        query=AgreementQuery,
    )
    def get(self, request: Request, slug: str) -> Response:
        study, asked = self.study(slug), self.parse_query(AgreementQuery)
        key, whole = asked.pop("criterion", None), asked.pop("whole")
        options = parse_options(asked)
        if is_large(study) and not whole:
            return Response(load_last_result(study, options, key))
        run = agreement.load_or_compute(
            by=self.me, study=study, options=options, ratings=StudyRatings.from_options(study, options)
        )
        return Response(agreement.select_criterion(agreement.load_document(run), key))

    @says("compute_agreement", "Leave the agreement of a study to a worker", Queued, body=AskedAgreement, status=202)
    def post(self, request: Request, slug: str) -> Response:
        later.ask(by=self.me, study=self.study(slug), options=parse_options(self.parse_body(AskedAgreement)))
        return Response({"queued": True}, status=202)


def parse_options(asked: dict[str, object]) -> JudgedOptions:
    return JudgedOptions.check({"reads": asked.pop("read"), **asked})


def load_last_result(study: Study, options: JudgedOptions, key: str | None) -> dict[str, object]:
    """A kept result, when it was computed, and what stands of a newer one. Raises NotComputedError if there is none."""
    run, waiting = later.find_stored_run(study, options), later.find_request(study, options)
    told = waiting and (waiting.error or waiting.says)
    if run is None:
        said = told or "Nothing was computed with these options yet: POST them here, or insist with ?whole=true."
        raise NotComputedError("A large study is left to a worker. {said}", said=said)
    return {
        **agreement.select_criterion(agreement.load_document(run), key),
        "computed_at": run.created_at.isoformat(),
        "waiting": told,
    }


class AskedTiers(Given):
    agreement_cuts = serializers.CharField(
        default="0.6,0.75,0.9",
        help_text="Of the difficulty model: probability of agreement, upper ends of contested, hard and medium.",
    )


class TiersQuery(CriterionQuery, AskedTiers):
    cuts = serializers.CharField(default="0.4,0.6,0.8")
    chance = serializers.CharField(default="uniform")
    by = serializers.CharField(default="", allow_blank=True)
    draws = serializers.IntegerField(min_value=0, max_value=MOST_RESAMPLES, default=1000)
    bootstrap = serializers.IntegerField(min_value=0, max_value=MOST_RESAMPLES, default=2000)
    seed = serializers.IntegerField(min_value=0, max_value=LARGEST, default=0)
    whole = serializers.BooleanField(default=False, help_text="Fit the model now, however large the study is.")


class StudyTiers(ResultsApi):
    @says(
        "tiers",
        "What `tiers --study NAME --json` prints of one criterion; of a large study with the fit that a worker made",
        Document,
        query=TiersQuery,
    )
    def get(self, request: Request, slug: str) -> Response:
        study, asked = self.study(slug), self.parse_query(TiersQuery)
        criterion = find_criterion(study, asked["criterion"])
        if criterion is None:
            raise Http404
        sizes = {name: asked[name] for name in ("draws", "bootstrap", "seed")}
        options = TierOptions(parse_cuts(asked["cuts"]), parse_chance(asked["chance"]), **sizes)
        more = {
            "by": asked["by"] or None,
            "agreeing": parse_model_cuts(asked["agreement_cuts"]),
            "patient": asked["whole"],
        }
        return Response(difficulty.compute_both_tiers(study, ratings.load_criterion(criterion), options, **more))

    @says(
        "compute_tiers",
        "Leave the difficulty model of a study's criteria to a worker",
        Queued,
        body=AskedTiers,
        status=202,
    )
    def post(self, request: Request, slug: str) -> Response:
        cuts = parse_model_cuts(self.parse_body(AskedTiers)["agreement_cuts"])
        stored_difficulty.ask(by=self.me, study=self.study(slug), cuts=cuts)
        return Response({"queued": True}, status=202)


class PredictedQuery(CriterionQuery, AskedTiers):
    of = serializers.ChoiceField(SCOPES, default=STUDY, help_text="Unrated items of the study, or of its dataset.")
    bootstrap = serializers.IntegerField(min_value=0, max_value=MOST_RESAMPLES, default=2000)
    seed = serializers.IntegerField(min_value=0, max_value=LARGEST, default=0)
    whole = serializers.BooleanField(default=False, help_text="Fit the model now, however large the study is.")


class StudyTiersPredicted(ResultsApi):
    @says(
        "tiers_predicted",
        "What `tiers --study NAME --predict --json` prints of one criterion",
        Document,
        query=PredictedQuery,
    )
    def get(self, request: Request, slug: str) -> Response:
        study, asked = self.study(slug), self.parse_query(PredictedQuery)
        criterion = find_criterion(study, asked["criterion"])
        if criterion is None:
            raise Http404
        cuts = parse_model_cuts(asked["agreement_cuts"])
        options = PredictionOptions(asked["of"], cuts, asked["bootstrap"], asked["seed"])
        return Response(predicted_difficulty.compute_criterion(study, criterion, options, patient=asked["whole"]))


class StudyCalibration(ResultsApi):
    @says(
        "calibrations", "All judges of a study side by side; `waiting` are left to a worker", AssessedJudgesSerializer
    )
    def get(self, request: Request, slug: str) -> Response:
        study = self.study(slug)
        evidence = StudyData.load(study)
        found, waiting = assessment.assess_judges(
            by=self.me, evidence=evidence, asked=AssessmentRequest(), patient=False
        )
        return Response(
            {
                "study": study.name,
                "judges": {
                    str(one.judge): {"calibration": one.calibration.document, "audit": one.audit_document()}
                    for one in found
                },
                "differences": judge_comparison.compare_judges([one.evidence for one in found]),
                "waiting": [str(judge) for judge in waiting],
            }
        )


class PartQuery(Given):
    part = serializers.CharField(default="", allow_blank=True, help_text="all, development or held-out items.")


class AssessmentQuery(PartQuery):
    criterion = serializers.CharField(required=False)


class OfJudge(ResultsApi):
    """One judge on a study."""

    left_to_a_worker = True

    def load_data(self, slug: str, pk: int, part: str) -> JudgeData:
        study, judge = self.study(slug), get_object_or_404(Judge, pk=pk)
        return StudyData.load(study, part).load_judge(judge)

    def load_assessment(self, slug: str, pk: int, part: str = "") -> Assessment:
        return self.build_assessment(self.load_data(slug, pk, part), part)

    def build_assessment(self, evidence: JudgeData, part: str) -> Assessment:
        found = assessment.assess_judge if part else assessment.assess_now  # a worker computes what is looked at freely
        return hold_out.check_seen(found(by=self.me, evidence=evidence, asked=AssessmentRequest()))


class JudgeCalibration(OfJudge):
    @says("calibration", "What `calibrate --study NAME --judge NAME --json` prints", Document, query=AssessmentQuery)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        asked = self.parse_query(AssessmentQuery)
        found: AssessmentDocument
        try:
            found = self.load_assessment(slug, pk, part=asked["part"]).calibration.document
        except NothingToAssessError as none:
            found = none.to_json()
        return Response(assessment.select_criterion(found, asked.get("criterion")))


class JudgeAudit(OfJudge):
    @says(
        "audit",
        "What `audit --study NAME --judge NAME --json` prints, verdicts included",
        Document,
        query=AssessmentQuery,
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        asked = self.parse_query(AssessmentQuery)
        found: AssessmentDocument
        try:
            found = hold_out.audit_document(self.load_assessment(slug, pk, part=asked["part"]))
        except NothingToAssessError as none:
            found = none.to_json()
        return Response(assessment.select_criterion(found, asked.get("criterion")))


class JudgeCompute(ResultsApi):
    @says("compute_assessment", "Leave calibration and audit of a judge to a worker", Queued, status=202)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        assessment.queue(by=self.me, study=self.study(slug), judge=get_object_or_404(Judge, pk=pk))
        return Response({"queued": True}, status=202)


class StudyHoldOut(ResultsApi):
    @says(
        "hold_out",
        "How the study is split, and every look at the held-out part; 404 where nothing is held out",
        HeldOutSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        found = hold_out.compute_study(self.study(slug))
        if found is None:
            raise Http404
        return Response(found)

    @says(
        "set_hold_out",
        "Keep a part of the items from the development of judges",
        HoldOutSerializer,
        body=NewHoldOut,
        status=201,
    )
    def post(self, request: Request, slug: str) -> Response:
        made = hold_out.hold_out(by=self.me, study=self.study(slug), **self.parse_body(NewHoldOut))
        return Response(HoldOutSerializer(made).data, status=201)


class JudgeLook(ResultsApi):
    @says("access_held_out", "Look at what a judge does on the held-out part, on record", Document, status=201)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        judge = get_object_or_404(Judge, pk=pk)
        found = hold_out.record_access(by=self.me, study=self.study(slug), judge=judge, asked=AssessmentRequest())
        return Response(found.calibration.document, status=201)


class JudgeEscalations(OfJudge):
    @says(
        "escalate",
        "Send what a judge is unsure of back to people, as a study",
        EscalationSerializer,
        body=NewEscalation,
        status=201,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        given = self.parse_body(NewEscalation)
        made = escalation.escalate(by=self.me, found=self.load_assessment(slug, pk), **given)
        return Response(EscalationSerializer(made).data, status=201)


class NewMaps(Given):
    anyway = serializers.BooleanField(default=False, help_text="Also maps that raise the mean absolute error.")


class JudgeMaps(OfJudge):
    @says(
        "recalibrate", "Apply calibration: the run of the recalibrated judge", RunSerializer, body=NewMaps, status=201
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        run = recalibration.apply(by=self.me, found=self.load_assessment(slug, pk), **self.parse_body(NewMaps))
        return Response(RunSerializer(run).data, status=201)


class JudgeVersions(ResultsApi):
    @says(
        "create_judge_version",
        "The next version of a judge, with examples of the study",
        JudgeSerializer,
        body=NewVersion,
        status=201,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """The judge itself where nothing would change."""
        study, judge, given = self.study(slug), get_object_or_404(Judge, pk=pk), self.parse_body(NewVersion)
        n = given.pop("examples")
        made = improvement.new_version(by=self.me, judge=judge, study=study, n=n, **given)
        return Response(JudgeSerializer(made).data, status=201)


class StudyReport(ResultsApi):
    @extend_schema(
        operation_id="download_report",
        summary="The report of a study as zip (all of it), pdf, html, latex, bibtex or json",
        responses={
            (200, "application/json"): OpenApiResponse(OpenApiTypes.OBJECT),
            (200, "text/html"): OpenApiResponse(OpenApiTypes.STR),
            (200, "application/x-latex"): OpenApiResponse(OpenApiTypes.STR),
            (200, "application/x-bibtex"): OpenApiResponse(OpenApiTypes.STR),
            (200, "application/pdf"): OpenApiResponse(OpenApiTypes.BINARY),
            (200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY),
        },
    )
    def get(self, request: Request, slug: str, form: str) -> HttpResponseBase:
        if form not in report.FORMATS:
            raise Http404
        evidence = StudyData.load(self.study(slug))
        judges, _ = assessment.assess_judges(by=self.me, evidence=evidence, asked=AssessmentRequest(), patient=False)
        ending, content = report.FORMATS[form]
        return attach_file(content(report.describe_judges(evidence, judges)), name=f"{slug}-report.{ending}")
