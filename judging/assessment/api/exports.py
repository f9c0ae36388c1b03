"""Files brought in and labels given out."""

from __future__ import annotations

from django.http import Http404, HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.agreement.api import drop_file
from annotation.agreement.services.exports import FORMATS as LABEL_FILES
from annotation.agreement.services.item_tiers import ItemTiers
from annotation.corpus.imports.records import SOURCE
from annotation.studies.api import serializers as shapes
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Study
from core.api.base import Api, Given, IntoProject
from core.api.problems import refuse_too_large
from core.api.schema import says
from core.downloads import audit_export, stream_file
from core.errors import InputError
from core.files.staging import save_upload
from judging.assessment.services import rules
from judging.runs.imports.formats import FORMATS
from judging.runs.services import exports


class FormatSerializer(serializers.Serializer[object]):
    """A file that can be brought in, and what must be told besides."""

    key = serializers.CharField()
    title = serializers.CharField()
    about = serializers.CharField()
    example = serializers.CharField()
    fields_needed = serializers.ListField(child=serializers.CharField(), source="fields")
    fields_optional = serializers.ListField(child=serializers.CharField(), source="optional")


class ImportFormats(Api):
    tag = "imports"

    @says("import_formats", "Files that can be brought in", FormatSerializer(many=True))
    def get(self, request: Request) -> Response:
        return Response(FormatSerializer(FORMATS.values(), many=True).data)


class NewImport(IntoProject):
    file = serializers.FileField(allow_empty_file=True)
    format = serializers.ChoiceField(list(FORMATS))
    source = serializers.CharField(  # type: ignore[assignment]
        max_length=40, default=SOURCE, help_text="Of material: whose ids these are."
    )
    study = serializers.CharField(max_length=120, required=False, help_text="Of labels: the study, made if need be.")
    judge = serializers.CharField(max_length=120, required=False, help_text="Of a judge's labels: its name.")
    mapping = serializers.CharField(
        required=False, help_text="Of any table: which column is what, as JSON or TOML, or the name of a saved mapping."
    )
    on_error = serializers.ChoiceField(["stop", "skip"], default="stop")


class Imports(Api):
    tag = "imports"
    parser_classes = [MultiPartParser]

    @says("import_file", "Bring a file in", shapes.Counts, body={"multipart/form-data": NewImport})
    def post(self, request: Request) -> Response:
        """Sending the same file again changes nothing. An error names file, line and field."""
        given = self.parse_body(NewImport)
        chosen, upload = FORMATS[given["format"]], given["file"]
        if refusal := refuse_too_large(upload):
            return refusal
        if missing := [name for name in chosen.fields if not given.get(name)]:
            raise InputError("This format needs it.", field=missing[0])
        told = {name: given[name] for name in chosen.told if name in given}
        project = self.resolve_project(given)["project"]
        with save_upload(upload) as file:
            outcome = chosen.load(by=self.me, file=file, on_error=given["on_error"], project=project, **told)
        return Response(drop_file(outcome.to_document()))


class LabelsQuery(Given):
    purpose = serializers.CharField(
        default=Assignment.Purpose.RATING.value, help_text="Of people's answers: rating, check, repeat, with commas."
    )
    tiers = serializers.BooleanField(default=False, help_text="With each item's tier by the difficulty model.")


class StudyLabels(Api):
    """All labels, people's and judges', as a file that is streamed."""

    tag = "exports"
    left_to_a_worker = True

    @extend_schema(
        operation_id="export_labels",
        summary="All labels of a study as csv, jsonl or parquet, streamed",
        parameters=[LabelsQuery],
        responses={
            (200, "text/csv"): OpenApiResponse(OpenApiTypes.STR),
            (200, "application/x-ndjson"): OpenApiResponse(OpenApiTypes.STR),
            (200, "application/vnd.apache.parquet"): OpenApiResponse(OpenApiTypes.BINARY),
        },
    )
    @audit_export("labels")
    def get(self, request: Request, slug: str, form: str) -> HttpResponseBase:
        if form not in LABEL_FILES:
            raise Http404
        study, kind = get_object_or_404(Study, slug=slug), LABEL_FILES[form]
        asked = self.parse_query(LabelsQuery)
        purposes = asked["purpose"].split(",")
        if unknown := [one for one in purposes if one not in Assignment.Purpose.values]:
            known = ", ".join(Assignment.Purpose.values)
            raise InputError("{unknown!r} is not one of {known}.", field="purpose", unknown=unknown[0], known=known)
        rules.lock_rules(by=self.me, study=study)
        tiers = ItemTiers.read(study, patient=False) if asked["tiers"] else None
        pieces = kind.pieces(exports.load_labels(study, purposes, tiers=tiers))
        return stream_file(pieces, name=f"{study.slug}-labels.{kind.name}")
