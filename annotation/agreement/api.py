"""Labels of people: listed, brought in as rows, left out, decided on; and what follows from them alone."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import Q
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.agreement.documents import QualitySerializer, StudyGoldSerializer
from annotation.agreement.models import TierOverride
from annotation.agreement.options import RESAMPLES, GoldOptions, GoldQuery
from annotation.agreement.queries import history as tier_history
from annotation.agreement.services import gold, tiers
from annotation.agreement.services.exports import to_json
from annotation.quality.queries import quality
from annotation.stats.by_level import explain_missing
from annotation.stats.checks import CheckRecord, Stretch
from annotation.stats.estimate import number_or_none
from annotation.studies.api import serializers as shapes
from annotation.studies.imports import ratings as bulk
from annotation.studies.models.labels import Adjudication, Annotation, Draft, Exclusion
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.parsing.answers import LONGEST_VALUE
from annotation.studies.parsing.ratings import LAST_TURN, Rating
from annotation.studies.queries import labels, ratings
from annotation.workbench.queries import adjudication
from annotation.workbench.services import adjudications, drafts, exclusions
from core.accounts.access import IsAdjudicator
from core.accounts.models.users import User
from core.api.base import Api, Given, PageQuery, PlaceQuery, build_page_schema, find_named
from core.api.schema import says
from core.downloads import audit_export
from core.errors import InputError
from core.files.input_files import InputRows

MOST_ROWS = 100_000


class OfStudy(Api):
    tag = "labels"

    def study(self, slug: str) -> Study:
        return get_object_or_404(Study, slug=slug)

    def criterion(self, study: Study, key: str) -> Criterion:
        """The criterion of this key; the first one where no key is given."""
        found = study.criteria.filter(key=key).first() if key else study.criteria.first()
        if found is None:
            known = ", ".join(study.criteria.values_list("key", flat=True)) or "none"
            raise InputError(
                "There is no criterion {key!r} in {study}; there are: {known}.",
                field="criterion",
                key=key,
                study=study,
                known=known,
            )
        return found

    def item(self, slug: str, position: int) -> Item:
        return get_object_or_404(Item.objects.select_related("study"), study__slug=slug, position=position)


class Deciding(OfStudy):
    """What adjudicators of the study's project have as well."""

    permission_classes = [IsAdjudicator]


class LabelQuery(PageQuery):
    criterion = serializers.CharField(required=False)
    rater = serializers.CharField(required=False, help_text="Username of the annotator.")
    position = serializers.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
    counting = serializers.BooleanField(
        default=False, help_text="Only what is computed from: no labels of excluded annotators."
    )


class NewLabel(Given):
    """A label as in a CSV file of ratings."""

    item = serializers.CharField(max_length=250, help_text="Its id in its source, or source:id.")
    rater = serializers.CharField(max_length=100)
    criterion = serializers.CharField(max_length=60, allow_blank=True, default="")
    value = serializers.CharField(max_length=64, allow_blank=True, default="")
    reason = serializers.CharField(max_length=40, allow_blank=True, default="", help_text="Why there is no value.")
    order = serializers.RegexField(
        "^[A-La-l]{0,12}$",
        allow_blank=True,
        default="",
        help_text="Which response stood at each place: AB, BA, or of more CAB, where the third was first.",
    )
    turn = serializers.IntegerField(
        min_value=0, max_value=LAST_TURN, default=0, help_text="Number of the turn that was rated, from 1; 0 for all."
    )


class NewLabels(Given):
    labels = NewLabel(many=True, allow_empty=False, max_length=MOST_ROWS)  # type: ignore[call-arg]
    on_error = serializers.ChoiceField(["stop", "skip"], default="stop")


class StudyAnnotations(OfStudy):
    @says(
        "annotations",
        "Submitted labels of people, oldest first",
        build_page_schema(shapes.LabelSerializer),
        query=LabelQuery,
    )
    @audit_export("labels")
    def get(self, request: Request, slug: str) -> Response:
        study, asked = self.study(slug), self.parse_query(LabelQuery)
        rows, last = labels.load_people(study).list_after(
            asked.get("after"), asked["limit"], build_row_filter(study, asked)
        )
        return self.render_page(map(to_json, rows), last)

    @says(
        "add_annotations",
        "Bring labels of people in, all or none unless bad ones are skipped",
        shapes.Counts,
        body=NewLabels,
    )
    def post(self, request: Request, slug: str) -> Response:
        """Sending the same rows again changes nothing. An error names the row in `field`, from 0: `labels.3.item`."""
        study, given = self.study(slug), self.parse_body(NewLabels)
        rows = [Rating(line=place, **row) for place, row in enumerate(given["labels"])]
        source = InputRows("labels")
        outcome = bulk.add(by=self.me, study=study, ratings=rows, source=source, on_error=given["on_error"])
        return Response(outcome.to_document())


def drop_file(document: Mapping[str, object]) -> dict[str, object]:
    """What was skipped is in the answer; the list beside the temporary file is gone."""
    return {name: part for name, part in document.items() if name != "errors_file"}


def build_row_filter(study: Study, asked: dict[str, object]) -> Q:
    paths = {
        "criterion": "criterion__key",
        "rater": "assignment__annotator__username",
        "position": "assignment__item__position",
    }
    found = Q(**{path: asked[name] for name, path in paths.items() if name in asked})
    if asked["counting"]:
        found &= Q(pk__in=Annotation.objects.only_counting().filter(assignment__study=study).values("pk"))
    return found


class ExclusionSerializer(serializers.ModelSerializer[Exclusion]):
    annotator = serializers.CharField(source="annotator.username")
    decided_by = serializers.CharField(source="decided_by.username")
    ended_by = serializers.CharField(source="ended_by.username", default=None, allow_null=True)

    class Meta:
        model = Exclusion
        fields = ["id", "annotator", "reason", "decided_by", "created_at", "ended_by", "ended_at", "end_reason"]


class Why(Given):
    reason = serializers.CharField(max_length=10_000)


class NewExclusion(Why):
    annotator = serializers.CharField(help_text="Username.")


class StudyExclusions(OfStudy):
    @says("exclusions", "Whose labels do not count, now and before", ExclusionSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        rows = self.study(slug).exclusions.select_related("annotator", "decided_by", "ended_by").order_by("pk")
        return Response(ExclusionSerializer(rows, many=True).data)

    @says("exclude", "Leave an annotator's labels out", ExclusionSerializer, body=NewExclusion, status=201)
    def post(self, request: Request, slug: str) -> Response:
        given = self.parse_body(NewExclusion)
        annotator = find_named(User, "annotator", username=given["annotator"])
        made = exclusions.exclude(by=self.me, study=self.study(slug), annotator=annotator, reason=given["reason"])
        return Response(ExclusionSerializer(made).data, status=201)


class StudyReadmission(OfStudy):
    @says("readmit", "Let an annotator's labels count again", ExclusionSerializer, body=Why)
    def post(self, request: Request, slug: str, username: str) -> Response:
        annotator = get_object_or_404(User, username=username)
        ended = exclusions.readmit(by=self.me, study=self.study(slug), annotator=annotator, **self.parse_body(Why))
        return Response(ExclusionSerializer(ended).data)


class QualityQuery(Given):
    bootstrap = serializers.IntegerField(min_value=0, max_value=RESAMPLES, default=RESAMPLES)


class StudyQuality(OfStudy):
    @says("quality", "Each annotator as an instrument", QualitySerializer, query=QualityQuery)
    @audit_export("annotators")
    def get(self, request: Request, slug: str) -> Response:
        return Response(quality.document(self.study(slug), **self.parse_query(QualityQuery)))


class StretchSerializer(serializers.Serializer[object]):
    """The mean mark of a stretch of one annotator's checks or repeats, in the order in which they were given."""

    annotator = serializers.CharField()
    kind = serializers.CharField(help_text="accuracy, of checks, or consistency, of repeats.")
    first_item = serializers.IntegerField()
    last_item = serializers.IntegerField()
    until = serializers.DateTimeField()
    items = serializers.IntegerField()
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class StudyChecks(OfStudy):
    @says("checks", "Gold accuracy and self-consistency of each annotator over time", StretchSerializer(many=True))
    @audit_export("annotators")
    def get(self, request: Request, slug: str) -> Response:
        rows = [stretch(one, part) for one in quality.records(self.study(slug)) for part in one.stretches]
        return Response(StretchSerializer(rows, many=True).data)


def stretch(record: CheckRecord, part: Stretch) -> dict[str, object]:
    mean = part.estimate
    return {
        "annotator": record.annotator,
        "kind": record.kind,
        "first_item": part.first,
        "last_item": part.last,
        "until": part.until,
        "items": mean.n_items,
        **{name: number_or_none(getattr(mean, name)) for name in ("value", "low", "high")},
    }


class CriterionQuery(Given):
    criterion = serializers.CharField(required=False, default="", allow_blank=True, help_text="The first if not given.")


class DisputeSerializer(serializers.Serializer[object]):
    """An item on which people gave more than one answer."""

    position = serializers.IntegerField()
    turn = serializers.IntegerField(help_text="That was rated; 0 for the whole item.")
    answers = serializers.ListField(child=serializers.ListField(child=serializers.JSONField()))
    spread = serializers.IntegerField(allow_null=True)
    kappa = serializers.FloatField(allow_null=True)
    tier = serializers.CharField(allow_blank=True)
    decision = serializers.CharField(allow_blank=True)


class DisputeFilter(CriterionQuery, PlaceQuery):
    """Of which criterion, and which page."""


class StudyDisputes(Deciding):
    @says(
        "disputes",
        "What people disagree on, most of all first",
        build_page_schema(DisputeSerializer),
        query=DisputeFilter,
    )
    def get(self, request: Request, slug: str) -> Response:
        asked = self.parse_query(DisputeFilter)
        criterion = self.criterion(self.study(slug), asked.pop("criterion"))
        if reason := explain_missing("adjudication", criterion.level):
            return self.render_page([], None, reason=reason)
        return self.render_placed(adjudication.disputes(criterion), DisputeSerializer, **asked)


class AdjudicationSerializer(serializers.ModelSerializer[Adjudication]):
    criterion = serializers.CharField(source="criterion.key")
    decided_by = serializers.CharField(source="decided_by.username")

    class Meta:
        model = Adjudication
        fields = ["id", "criterion", "turn", "value", "reason", "method", "basis", "decided_by", "created_at"]


class Decision(Given):
    criterion = serializers.CharField()
    value = serializers.CharField(max_length=LONGEST_VALUE)
    reason = serializers.CharField(allow_blank=True, default="", max_length=10_000)
    turn = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=0, help_text="0 for the whole item.")


class ItemAdjudications(Deciding):
    @says("decisions", "What was decided on an item, newest last", AdjudicationSerializer(many=True))
    def get(self, request: Request, slug: str, position: int) -> Response:
        rows = self.item(slug, position).adjudications.select_related("criterion", "decided_by").order_by("pk")
        return Response(AdjudicationSerializer(rows, many=True).data)

    @says("decide", "Give an item its gold value", AdjudicationSerializer, body=Decision, status=201)
    def post(self, request: Request, slug: str, position: int) -> Response:
        item, given = self.item(slug, position), self.parse_body(Decision)
        criterion = self.criterion(item.study, given.pop("criterion"))
        made = adjudications.decide(by=self.me, item=item, criterion=criterion, **given)
        return Response(AdjudicationSerializer(made).data, status=201)


class OverrideSerializer(serializers.ModelSerializer[TierOverride]):
    criterion = serializers.CharField(source="criterion.key")
    decided_by = serializers.CharField(source="decided_by.username")

    class Meta:
        model = TierOverride
        fields = ["id", "criterion", "turn", "tier", "before", "reason", "decided_by", "created_at"]


class NewTier(Why):
    criterion = serializers.CharField()
    tier = serializers.ChoiceField([*TierOverride.Tier.values, ""], allow_blank=True, help_text="Empty: as computed.")
    turn = serializers.IntegerField(
        min_value=0, max_value=2**31 - 1, default=0, help_text="The turn or response, from 1; 0 for the whole item."
    )


class ItemTier(OfStudy):
    @says("tier_changes", "Every tier that was set by hand on an item, newest first", OverrideSerializer(many=True))
    def get(self, request: Request, slug: str, position: int) -> Response:
        return Response(OverrideSerializer(tier_history(self.item(slug, position)), many=True).data)

    @says("set_tier", "Put an item into a tier by hand", OverrideSerializer, body=NewTier, status=201)
    def post(self, request: Request, slug: str, position: int) -> Response:
        item, given = self.item(slug, position), self.parse_body(NewTier)
        criterion = self.criterion(item.study, given.pop("criterion"))
        made = tiers.set_tier(by=self.me, item=item, criterion=criterion, **given)
        return Response(OverrideSerializer(made).data, status=201)


class LateSerializer(serializers.ModelSerializer[Draft]):
    """Complete answers that arrived when their slot could not take them."""

    annotator = serializers.CharField(source="annotator.username")
    position = serializers.IntegerField(
        source="assignment.position", allow_null=True, help_text="Null of a known item that is kept beside the study."
    )

    class Meta:
        model = Draft
        fields = ["id", "annotator", "position", "state", "content", "late_reason", "saved_at"]


class StudyLate(Deciding):
    @says("late_answers", "Answers that came too late and wait for a decision", LateSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return Response(LateSerializer(adjudication.late(self.study(slug)), many=True).data)


class LateDecision(Given):
    decision = serializers.ChoiceField(["use", "dismiss"])


class LateAnswers(Deciding):
    @says("decide_late", "Use answers that came too late, or leave them out", LateSerializer, body=LateDecision)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        rows = Draft.objects.select_related("assignment__study", "assignment__item", "annotator")
        draft = get_object_or_404(rows, pk=pk, assignment__study__slug=slug)
        act = drafts.use_late if self.parse_body(LateDecision)["decision"] == "use" else drafts.dismiss
        act(by=self.me, draft=draft)
        draft.refresh_from_db()
        return Response(LateSerializer(draft).data)


class StudyGold(OfStudy):
    @says("gold", "The gold of a study's items on one criterion", StudyGoldSerializer, query=GoldQuery)
    def get(self, request: Request, slug: str) -> Response:
        study, asked = self.study(slug), self.parse_query(GoldQuery)
        ours = ratings.load_criterion(self.criterion(study, asked.pop("criterion")))
        return Response(gold.compute_criterion(study, ours, GoldOptions(**asked)))
