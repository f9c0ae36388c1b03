"""Studies: made, sampled, opened and closed; their criteria, items and people."""

from __future__ import annotations

from dataclasses import asdict

from django.db.models import Count, QuerySet
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.agreement.services.predicted_difficulty import load_predicted_tiers
from annotation.studies.api import serializers as shapes
from annotation.studies.criteria import RUBRICS, TEMPLATES
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.options import Clustering, Edit, NewSample, NewStudy, People, RubricChange, RubricDraft
from annotation.studies.parsing.rubric_files import to_document
from annotation.studies.parsing.rubrics import parse_rubric
from annotation.studies.queries import studies as queries
from annotation.studies.queries.criteria import load_rubric
from annotation.studies.queries.guidelines import history
from annotation.studies.queries.studies import people_called
from annotation.studies.services import guidelines, rubrics, samples, studies
from annotation.workbench.services import assignments
from core.accounts.models.users import User
from core.accounts.permissions import filter_visible
from core.api.base import Api, PageQuery, build_page_schema
from core.api.schema import says
from core.errors import InputError


class StudiesApi(Api):
    tag = "studies"

    def study(self, slug: str) -> Study:
        return get_object_or_404(list_studies(), slug=slug)

    def render_study(self, slug: str, status: int = 200) -> Response:
        """The study as it is now."""
        return Response(shapes.StudyWithWarnings(self.study(slug)).data, status=status)


def list_studies() -> QuerySet[Study]:
    """All studies with the number of their items."""
    return Study.objects.annotate(n_items=Count("items")).select_related("project").prefetch_related("criteria")


class StudyQuery(PageQuery):
    state = serializers.ChoiceField(Study.State.choices, required=False)
    kind = serializers.ChoiceField(Study.Kind.choices, required=False)


class StudyList(StudiesApi):
    @says("studies", "Studies", build_page_schema(shapes.StudySerializer), query=StudyQuery)
    def get(self, request: Request) -> Response:
        asked = self.parse_query(StudyQuery)
        wanted = {name: asked[name] for name in ("state", "kind") if name in asked}
        return self.page(filter_visible(self.me, list_studies()).filter(**wanted), shapes.StudySerializer, query=asked)

    @says("create_study", "Make a study, as a draft without items", shapes.StudyWithWarnings, body=NewStudy, status=201)
    def post(self, request: Request) -> Response:
        made = studies.create(by=self.me, **self.resolve_project(self.parse_body(NewStudy)))
        return self.render_study(made.slug, status=201)


class StudyClustering(StudiesApi):
    @says("set_clustering", "Say what dependent items share", shapes.StudyWithWarnings, body=Clustering)
    def put(self, request: Request, slug: str) -> Response:
        studies.name_clustering(by=self.me, study=self.study(slug), **self.parse_body(Clustering))
        return self.render_study(slug)


class StudyDetail(StudiesApi):
    @says("study", "A study", shapes.StudyWithWarnings)
    def get(self, request: Request, slug: str) -> Response:
        return self.render_study(slug)


class StudyCriterion(StudiesApi):
    @says("criterion", "A criterion with its guideline", shapes.CriterionSerializer)
    def get(self, request: Request, slug: str, key: str) -> Response:
        return Response(shapes.CriterionSerializer(find_criterion(slug, key)).data)

    @says("edit_criterion", "A new version of what is asked; labels keep theirs", shapes.CriterionSerializer, body=Edit)
    def patch(self, request: Request, slug: str, key: str) -> Response:
        given = self.parse_body(Edit)
        for one in given.get("categories") or ():
            if not {"value", "label"} <= one.keys() <= {"value", "label", "guideline"}:
                raise InputError("Each category has value, label and perhaps guideline.", field="categories")
        guidelines.edit(by=self.me, criterion=find_criterion(slug, key), **given)
        return Response(shapes.CriterionSerializer(find_criterion(slug, key)).data)


class VersionSerializer(serializers.Serializer[object]):
    """One text of a criterion, and how many labels that count rest on it."""

    version = serializers.IntegerField(source="row.version")
    question = serializers.CharField(source="row.question")
    guideline = serializers.CharField(source="row.guideline", allow_blank=True)
    categories = serializers.JSONField(source="row.categories")
    reason = serializers.CharField(source="row.reason", allow_blank=True)
    created_by = serializers.CharField(source="row.created_by.username", default=None, allow_null=True)
    created_at = serializers.DateTimeField(source="row.created_at")
    labels = serializers.IntegerField()
    is_current = serializers.BooleanField()


class CriterionVersions(StudiesApi):
    @says("criterion_versions", "All versions of what is asked, newest first", VersionSerializer(many=True))
    def get(self, request: Request, slug: str, key: str) -> Response:
        return Response(VersionSerializer(history(find_criterion(slug, key)), many=True).data)


def find_criterion(slug: str, key: str) -> Criterion:
    return get_object_or_404(Criterion.objects.select_related("study__created_by"), study__slug=slug, key=key)


class RubricSerializer(serializers.Serializer[object]):
    """A rubric as its file has it in JSON: what goes without saying is left out."""

    name = serializers.CharField(required=False)
    description = serializers.CharField(required=False)
    citation = serializers.CharField(required=False)
    kind = serializers.CharField(required=False)
    criterion = serializers.ListField(child=serializers.JSONField())


class RubricChangesSerializer(serializers.Serializer[object]):
    """What a new rubric did, by the keys of criteria."""

    added = serializers.ListField(child=serializers.CharField())
    edited = serializers.ListField(child=serializers.CharField())
    retired = serializers.ListField(child=serializers.CharField(), help_text="No longer asked; their labels stay.")
    removed = serializers.ListField(child=serializers.CharField())
    renamed = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="Key of the rubric, and the key it is asked under as labels rest on another scale.",
    )


class RubricTemplateSerializer(serializers.Serializer[object]):
    """A rubric that comes with Concord."""

    template = serializers.CharField()
    rubric = RubricSerializer()


class StudyRubric(StudiesApi):
    @says("rubric", "What a study asks, as a rubric", RubricSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return Response(to_document(load_rubric(self.study(slug))))

    @says("change_rubric", "Ask other criteria; labels keep theirs", RubricChangesSerializer, body=RubricChange)
    def put(self, request: Request, slug: str) -> Response:
        done = rubrics.change(by=self.me, study=self.study(slug), **self.parse_body(RubricChange))
        return Response(asdict(done))


class RubricTemplates(StudiesApi):
    @says("rubrics", "Rubrics that a study can be made with", RubricTemplateSerializer(many=True))
    def get(self, request: Request) -> Response:
        return Response([{"template": name, "rubric": to_document(one)} for name, one in RUBRICS.items()])


class RubricCheck(StudiesApi):
    @says("check_rubric", "Say whether this is a rubric; nothing is stored", RubricSerializer, body=RubricDraft)
    def post(self, request: Request) -> Response:
        return Response(to_document(parse_rubric(self.parse_body(RubricDraft)["rubric"])))


class TemplateSerializer(serializers.Serializer[object]):
    """A criterion that studies can be made with."""

    key = serializers.CharField()
    kind = serializers.CharField()
    name = serializers.CharField()
    question = serializers.CharField()
    level = serializers.CharField()


class CriterionTemplates(StudiesApi):
    @says("criteria", "Criteria that a study can be made with", TemplateSerializer(many=True))
    def get(self, request: Request) -> Response:
        return Response(
            [TemplateSerializer({"key": key, **to_template_json(one)}).data for key, one in TEMPLATES.items()]
        )


def to_template_json(template: object) -> dict[str, object]:
    return {name: getattr(template, name) for name in ("kind", "name", "question", "level")}


class StudySamples(StudiesApi):
    @says("samples", "The draws of a study's items", shapes.SampleSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return Response(shapes.SampleSerializer(self.study(slug).samples.order_by("pk"), many=True).data)

    @says("draw", "Draw items into a draft", shapes.SampleSerializer, body=NewSample, status=201)
    def post(self, request: Request, slug: str) -> Response:
        study = self.study(slug)
        given = self.parse_body(NewSample)
        key, named = given.pop("predicted_criterion", None), given.pop("predicted_from", None)
        criterion = queries.criterion_called(self.find_predicted(named), key or "") if named else None
        tiers = load_predicted_tiers(criterion) if criterion else None
        sample = samples.draw(by=self.me, study=study, predicted_from=criterion, tiers=tiers, **given)
        return Response(shapes.SampleSerializer(sample).data, status=201)

    def find_predicted(self, slug: str) -> Study:
        """The study that tiers are predicted from. InputError where it is of another project."""
        found: Study | None = filter_visible(self.me, Study.objects.filter(slug=slug)).first()
        if found is None:
            raise InputError("There is no study {given!r}.", field="predicted_from", given=slug)
        return found


class StudyOpen(StudiesApi):
    @says("open_study", "Let annotators work on it", shapes.StudyWithWarnings)
    def post(self, request: Request, slug: str) -> Response:
        studies.open(by=self.me, study=self.study(slug))
        return self.render_study(slug)


class StudyClose(StudiesApi):
    @says("close_study", "Take no more labels", shapes.StudyWithWarnings)
    def post(self, request: Request, slug: str) -> Response:
        studies.close(by=self.me, study=self.study(slug))
        return self.render_study(slug)


class StudyProgress(StudiesApi):
    @says("study_progress", "How far a study has come", shapes.ProgressSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return Response(shapes.ProgressSerializer(queries.study_row(self.study(slug))).data)


class StudyAnnotators(StudiesApi):
    @says("annotators", "A study's annotators with what they have done", shapes.AnnotatorSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        rows = queries.annotator_rows(self.study(slug))
        return Response(shapes.AnnotatorSerializer(rows, many=True).data)

    @says("add_annotators", "Add annotators", shapes.AnnotatorSerializer(many=True), body=People)
    def post(self, request: Request, slug: str) -> Response:
        study, people = self.study(slug), people_called(self.parse_body(People)["annotators"])
        assignments.add_annotators(by=self.me, study=study, annotators=people)
        return Response(shapes.AnnotatorSerializer(queries.annotator_rows(study), many=True).data)


class StudyRelease(StudiesApi):
    @says("release_annotator", "Give what an annotator has in work or skipped to the others", shapes.Changed)
    def post(self, request: Request, slug: str, username: str) -> Response:
        annotator = get_object_or_404(User, username=username)
        return Response({"n": assignments.release(by=self.me, study=self.study(slug), annotator=annotator)})


class ItemQuery(PageQuery):
    stratum = serializers.CharField(required=False)


class StudyItems(StudiesApi):
    @says(
        "items", "A study's items in its order, by position", build_page_schema(shapes.ItemSerializer), query=ItemQuery
    )
    def get(self, request: Request, slug: str) -> Response:
        study, asked = get_object_or_404(Study, slug=slug), self.parse_query(ItemQuery)
        rows = study.items.select_related("dialogue", "pair")
        if "stratum" in asked:
            rows = rows.filter(stratum=asked["stratum"])
        return self.page(rows, shapes.ItemSerializer, key="position", query=asked)


class StudyItem(StudiesApi):
    @says("item", "An item", shapes.ItemSerializer)
    def get(self, request: Request, slug: str, position: int) -> Response:
        rows = get_object_or_404(Study, slug=slug).items.select_related("dialogue", "pair")
        return Response(shapes.ItemSerializer(get_object_or_404(rows, position=position)).data)


class PeopleList(StudiesApi):
    @says(
        "people",
        "Accounts, people and imported or simulated annotators",
        build_page_schema(shapes.PersonSerializer),
        query=PageQuery,
    )
    def get(self, request: Request) -> Response:
        return self.page(User.objects.all(), shapes.PersonSerializer)
