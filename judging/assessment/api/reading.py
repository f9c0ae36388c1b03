"""What the pages of a study show of judges beside people, to be read: item by item, and as documents."""

from __future__ import annotations

from django.http import Http404, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.agreement.api import CriterionQuery
from annotation.agreement.services import rewrites
from annotation.studies.models.studies import Criterion, Item, Study
from core.api.base import Api, Document, Given, PageQuery, PlaceQuery, build_page_schema
from core.api.schema import says
from core.downloads import audit_export, stream_zip
from core.errors import InputError
from judging.assessment.api.documents import EscalationReturnSerializer, VersionChangeSerializer
from judging.assessment.api.results import ResultsApi
from judging.assessment.queries import items as items_queries
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import disagreement_sources, disagreements, escalation, improvement, progress, rules
from judging.assessment.services.against_majority import contradictions
from judging.assessment.services.items import ItemFilter, RatedItems, find_criterion
from judging.judges.models import Judge
from judging.judges.queries import study_items
from judging.runs.api.runs import JudgmentSerializer
from judging.runs.services import hf_dataset


class StudyProgressDetails(ResultsApi):
    @says(
        "progress_details",
        "Coverage, pace, forecast, agreement as it grows, and who needs help, as the progress page",
        Document,
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response(progress.compute_study(self.study(slug)))


class RatedQuery(PageQuery):
    """What the items have in common; nothing of it leaves all."""

    criterion = serializers.CharField(required=False, default="", allow_blank=True, help_text="The first if not given.")
    majority = serializers.CharField(required=False, default="", help_text="A value of the scale, or tied.")
    judge = serializers.CharField(required=False, default="", help_text="Its name, with `value`.")
    value = serializers.CharField(required=False, default="", help_text="That the judge gave, or unscored.")
    people = serializers.CharField(required=False, default="", help_text="several, agree or disagree.")
    annotator = serializers.CharField(required=False, default="", help_text="Usernames of people who all rated it.")
    run = serializers.CharField(required=False, default="", help_text="A judge's run, in place of `judge`.")
    outcome = serializers.CharField(
        required=False, default="", help_text="The judge's verdict: scored, agrees or differs (from the majority)."
    )
    by = serializers.CharField(required=False, default="", help_text="A grouping of items, with `group`.")
    group = serializers.CharField(required=False, default="")
    at = serializers.CharField(required=False, default="", help_text="Positions, separated by commas.")
    tier = serializers.CharField(required=False, default="", help_text="easy, medium, hard or contested.")
    cuts = serializers.CharField(required=False, default="")
    chance = serializers.CharField(required=False, default="")


class RatedItemSerializer(serializers.Serializer[object]):
    """An item, or a turn of it, with what was said of it on one criterion; of a held-out item by people only."""

    position = serializers.IntegerField()
    turn = serializers.IntegerField()
    counts = serializers.ListField(child=serializers.JSONField(), help_text="People's answers.")
    majority = serializers.CharField(allow_blank=True)
    tied = serializers.BooleanField()
    tier = serializers.CharField(allow_blank=True)
    judges = serializers.ListField(child=serializers.JSONField())


class RatedItemList(ResultsApi):
    @says(
        "rated_items",
        "Items with what people and judges said, by position",
        build_page_schema(RatedItemSerializer),
        query=RatedQuery,
    )
    def get(self, request: Request, slug: str) -> Response:
        """`after` is a position; turns of one item stand on one page."""
        study, asked = self.study(slug), self.parse_query(RatedQuery)
        after, limit = asked.pop("after", 0), asked.pop("limit")
        wanted = ItemFilter.from_query(asked)
        criterion = require_criterion(study, wanted.criterion)
        rules.lock_rules(by=self.me, study=study)
        found, positions = list_rated(study, criterion, wanted, after=after, n=limit + 1)
        said = found.summary(positions[:limit])
        rows = [{"position": one, **row} for one in positions[:limit] for row in said.get(one, ())]
        return self.render_page(RatedItemSerializer(rows, many=True).data, find_last_position(positions, limit))


def list_rated(
    study: Study, criterion: Criterion, wanted: ItemFilter, *, after: int, n: int
) -> tuple[RatedItems, list[int]]:
    """The first `n` positions behind `after`. Where nothing narrows, only these items are read."""
    options = wanted.tier_options()
    if wanted.narrows or options.chance != "uniform":
        found = RatedItems.read(study, criterion, options, run=wanted.run_id, by=wanted.by)
        return found, [one for one in found.positions(wanted) if one > after][:n]
    behind = study.items.filter(position__gt=after).order_by("position")
    positions = list(behind.values_list("position", flat=True)[:n])
    found = RatedItems.read(study, criterion, options, positions, run=wanted.run_id, by=wanted.by)
    found.positions(wanted)  # what the query names has to be there
    return found, positions


def find_last_position(positions: list[int], limit: int) -> int | None:
    return positions[limit - 1] if len(positions) > limit else None


def require_criterion(study: Study, key: str) -> Criterion:
    criterion = find_criterion(study, key)
    if criterion is None:
        raise Http404
    return criterion


class ItemJudgments(ResultsApi):
    @says(
        "item_judgments",
        "What judges said of an item, in all runs; nothing of a held-out item",
        build_page_schema(JudgmentSerializer),
        query=PageQuery,
    )
    def get(self, request: Request, slug: str, position: int) -> Response:
        item = get_object_or_404(Item.objects.select_related("study"), study__slug=slug, position=position)
        rules.lock_rules(by=self.me, study=item.study)
        rows = items_queries.load_judgments(item).defer("raw_reply", "details")
        return self.page(rows.none() if study_items.holds(item) else rows, JudgmentSerializer)


class MajorityQuery(CriterionQuery, PlaceQuery):
    judge = serializers.CharField(required=False, default="", help_text="Its name; any if not given.")


class ContradictionSerializer(serializers.Serializer[object]):
    """An item on which a judge contradicts people's label; what it said is not told."""

    position = serializers.IntegerField()
    turn = serializers.IntegerField()
    answers = serializers.ListField(child=serializers.ListField(child=serializers.JSONField()))
    judges = serializers.ListField(child=serializers.CharField())
    steps = serializers.IntegerField(allow_null=True)
    tier = serializers.CharField(allow_blank=True)
    decision = serializers.CharField(allow_blank=True)


class AgainstMajority(ResultsApi):
    @says(
        "majority_contradictions",
        "Where a judge contradicts the majority, the undecided first",
        build_page_schema(ContradictionSerializer),
        query=MajorityQuery,
    )
    def get(self, request: Request, slug: str) -> Response:
        study, asked = self.study(slug), self.parse_query(MajorityQuery)
        rules.lock_rules(by=self.me, study=study)
        rows = contradictions(study, require_criterion(study, asked["criterion"]), judge=asked["judge"])
        return self.render_placed(rows, ContradictionSerializer, after=asked["after"], limit=asked["limit"])


class DisagreementQuery(PlaceQuery):
    criterion = serializers.CharField(required=False, default="", help_text="All if not given.")
    tier = serializers.CharField(required=False, default="")
    sort = serializers.ChoiceField(
        [f"{way}{name}" for name in disagreements.SORTS for way in ("", "-")], default=disagreements.LARGEST_FIRST
    )


class DisagreementSerializer(serializers.Serializer[object]):
    """An item, turn or response on which the judge's verdict is not people's label. Held-out items are not among
    them."""

    item = serializers.IntegerField(help_text="Its position.")
    turn = serializers.IntegerField(help_text="Number of the turn or response, from 1; 0 for the whole item.")
    criterion = serializers.CharField()
    tier = serializers.CharField(allow_null=True)
    people = serializers.DictField(child=serializers.CharField(), help_text="By annotator.")
    label = serializers.JSONField()  # type: ignore[assignment]
    adjudicated = serializers.BooleanField()
    judge = serializers.CharField()
    size = serializers.FloatField()
    confidence = serializers.FloatField(allow_null=True)


class OneJudge(ResultsApi):
    def load_judge_data(self, slug: str, pk: int) -> tuple[StudyData, Judge]:
        study, judge = self.study(slug), get_object_or_404(Judge, pk=pk)
        rules.lock(by=self.me, study=study)
        return StudyData.load(study), judge


class JudgeDisagreements(OneJudge):
    @says(
        "disagreements",
        "Where a judge and people part",
        build_page_schema(DisagreementSerializer),
        query=DisagreementQuery,
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        asked = self.parse_query(DisagreementQuery)
        after, limit = asked.pop("after"), asked.pop("limit")
        evidence, judge = self.load_judge_data(slug, pk)
        rows = disagreements.list_disagreements(evidence.load_judge(judge), **asked)
        return self.render_placed(
            rows, lambda one: DisagreementSerializer(one.to_json()).data, after=after, limit=limit
        )


class DifferingQuery(Given):
    criterion = serializers.CharField(required=False, default="", help_text="All if not given.")


class JudgeDiffering(OneJudge):
    @says(
        "human_disagreement",
        "Why people differ, and how far the judge is from their answers, by criterion",
        Document,
        query=DifferingQuery,
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        evidence, judge = self.load_judge_data(slug, pk)
        return Response(
            disagreement_sources.compute_judge(
                evidence.load_judge(judge), self.parse_query(DifferingQuery)["criterion"]
            )
        )


class ChangeQuery(Given):
    against = serializers.CharField(required=False, default="", help_text="A version; the one before if not given.")


class JudgeChange(OneJudge):
    @says(
        "version_change",
        "How far a judge agrees better with people than another version of it",
        VersionChangeSerializer,
        query=ChangeQuery,
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        evidence, judge = self.load_judge_data(slug, pk)
        old = improvement.find_previous_version(evidence, judge, self.parse_query(ChangeQuery)["against"])
        if old is None:
            raise InputError("No other version of {name} has judged this study.", field="against", name=judge.name)
        mine, before = evidence.load_judges([judge, old])
        return Response(improvement.change(before, mine))


class JudgeReturn(OneJudge):
    @says(
        "escalation_return",
        "What people said of what the judge left to them last; 404 where it left nothing",
        EscalationReturnSerializer,
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        evidence, judge = self.load_judge_data(slug, pk)
        made = escalation.newest(evidence.study, judge)
        if made is None:
            raise Http404
        return Response({"slug": made.target.slug, **escalation.summarise_return(made, evidence.load_judge(judge))})


class ToolSerializer(serializers.Serializer[object]):
    """Another tool's files that the study can be written as, and what that tool does not show."""

    key = serializers.CharField()
    title = serializers.CharField()
    files = serializers.ListField(child=serializers.CharField())
    unseen = serializers.ListField(child=serializers.CharField())


class ExportsApi(Api):
    tag = "exports"


class StudyExports(ExportsApi):
    @says("exports", "The tools for which a study can be written", ToolSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        study = get_object_or_404(Study, slug=slug)
        rows = [
            {"key": one.key, "title": one.title, "files": list(one.files), "unseen": list(one.unseen)}
            for one in hf_dataset.list_tools(study)
        ]
        own = {"key": hf_dataset.KEY, "title": hf_dataset.TITLE, "files": [], "unseen": []}
        if rewrites.has_rewrites(study):
            files = ["preferences.jsonl", "sft.jsonl"]
            rows.append({"key": rewrites.KEY, "title": rewrites.TITLE, "files": files, "unseen": []})
        return Response([*rows, own])


class StudyExport(ExportsApi):
    @extend_schema(
        operation_id="export",
        summary="A study as the files of another tool, in one ZIP archive",
        responses={(200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY)},
    )
    @audit_export("labels")
    def get(self, request: Request, slug: str, tool: str) -> StreamingHttpResponse:
        study = get_object_or_404(Study, slug=slug)
        members = hf_dataset.package(study, tool)
        if members is None:
            raise Http404
        rules.lock_rules(by=self.me, study=study)
        return stream_zip(members, name=f"{study.slug}-{tool}.zip")
