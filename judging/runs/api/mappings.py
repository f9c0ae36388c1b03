"""Mappings of tables through the API: guessed from a file, checked against it, kept under a name."""

from __future__ import annotations

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.corpus import services
from annotation.corpus.imports.surveys import FirstLook, Survey, look
from annotation.corpus.models import SavedMapping
from annotation.corpus.parsing.mappings import ColumnMapping, parse_mapping
from annotation.corpus.queries import list_mappings, load_mapping
from annotation.corpus.services import LONGEST_MAPPING
from core.api.base import Api, Given, IntoProject, PageQuery, build_page_schema
from core.api.problems import refuse_too_large
from core.api.schema import says
from core.errors import InputError
from core.files.staging import save_upload, unpack_staged
from core.files.tables.layout import Layout
from judging.runs.imports.mapped import survey


class SavedMappingSerializer(serializers.ModelSerializer[SavedMapping]):
    """A mapping that is kept under a name."""

    mapping = serializers.JSONField(source="document", help_text="As its file has it.")
    project = serializers.CharField(source="project.slug")

    class Meta:
        model = SavedMapping
        fields = ["id", "name", "mapping", "project", "updated_at"]


class NewSavedMapping(IntoProject):
    name = serializers.CharField(max_length=LONGEST_MAPPING)
    mapping = serializers.DictField(help_text="Which column is what: kind or format, columns, constants, read, draw.")


class MappingsApi(Api):
    tag = "imports"


class MappingList(MappingsApi):
    @says("mappings", "Saved mappings", build_page_schema(SavedMappingSerializer), query=PageQuery)
    def get(self, request: Request) -> Response:
        return self.page(list_mappings(self.me).select_related("project"), SavedMappingSerializer)

    @says("save_mapping", "Keep a mapping under a name", SavedMappingSerializer, body=NewSavedMapping, status=201)
    def post(self, request: Request) -> Response:
        """One of this name in the project is replaced."""
        given = self.resolve_project(self.parse_body(NewSavedMapping))
        given["mapping"] = parse_body_mapping(given["mapping"])
        saved = services.save_mapping(by=self.me, **given)
        return Response(SavedMappingSerializer(saved).data, status=201)


class MappingDetail(MappingsApi):
    @says("mapping", "A saved mapping", SavedMappingSerializer)
    def get(self, request: Request, pk: int) -> Response:
        return Response(SavedMappingSerializer(get_object_or_404(SavedMapping, pk=pk)).data)

    @says("delete_mapping", "Delete a saved mapping", status=204)
    def delete(self, request: Request, pk: int) -> Response:
        """What was imported with it stays."""
        services.delete_mapping(by=self.me, mapping=get_object_or_404(SavedMapping, pk=pk))
        return Response(status=204)


class FileToMap(Given):
    file = serializers.FileField(allow_empty_file=True)
    mapping = serializers.CharField(
        required=False, help_text="The one to check, as JSON or TOML, or the name of a saved one. Guessed without it."
    )


class GuessedMapping(serializers.Serializer[object]):
    """What a file holds, the mapping that fits it, and what an import by it would refuse."""

    layout = serializers.CharField(help_text="Form, separator and encoding, in words.")
    columns = serializers.ListField(child=serializers.CharField(), help_text="Names and dotted paths.")
    mapping = serializers.JSONField(help_text="The one that was given, else the guess; it may lack columns.")
    is_complete = serializers.BooleanField(help_text="Whether the file can be imported by it.")
    missing = serializers.CharField(help_text="What it lacks; empty where it is complete.")
    rows = serializers.IntegerField(help_text="That were checked.")
    records = serializers.IntegerField(help_text="That an import would keep of them.")
    blanks = serializers.DictField(child=serializers.IntegerField(), help_text="Blank cells by mapped column.")
    problems = serializers.ListField(child=serializers.JSONField(), help_text="The first: line, field and message.")
    n_problems = serializers.IntegerField()
    notes = serializers.ListField(child=serializers.CharField())


class MappingGuess(MappingsApi):
    parser_classes = [MultiPartParser]
    is_a_write = False

    @says(
        "guess_mapping", "Look at a file before it is imported", GuessedMapping, body={"multipart/form-data": FileToMap}
    )
    def post(self, request: Request) -> Response:
        """Nothing is imported and nothing is kept."""
        given = self.parse_body(FileToMap)
        if refusal := refuse_too_large(given["file"]):
            return refusal
        chosen = load_mapping(self.me, given["mapping"]) if given.get("mapping") else None
        with save_upload(given["file"]) as upload, unpack_staged(upload) as file:
            shown = look(file, chosen.read.to_layout() if chosen else Layout())
            mapping = chosen or shown.guess
            try:
                checked, missing = survey(file, mapping.check()), ""
            except InputError as error:
                checked, missing = Survey(), error.message
        return Response(to_document(shown, mapping, checked, missing))


def parse_body_mapping(given: object) -> ColumnMapping:
    """The mapping in a body. InputError names the entry as the body does."""
    try:
        return parse_mapping(given)
    except InputError as error:
        raise InputError(error.message, field=f"mapping.{error.field}" if error.field else "mapping") from error


def to_document(shown: FirstLook, mapping: ColumnMapping, checked: Survey, missing: str) -> dict[str, object]:
    return {
        "layout": shown.layout.describe(),
        "columns": [one.path for one in shown.columns],
        "mapping": mapping.to_document(),
        "is_complete": not missing,
        "missing": missing,
        "rows": checked.n_rows,
        "records": checked.n_records,
        "blanks": {name: n for name, (n, _) in checked.blanks.items()},
        "problems": [{"line": one.line, "field": one.field, "message": one.message} for one in checked.problems],
        "n_problems": checked.n_problems,
        "notes": [*shown.notes, *checked.notes],
    }
