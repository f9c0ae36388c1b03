"""Keys of models through the API: they go in and never come out."""

from __future__ import annotations

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core.accounts.api import ProjectsApi
from core.api.base import PageQuery, build_page_schema
from core.api.schema import says
from judging.judges.models import ModelKey
from judging.judges.options import NewKey
from judging.judges.services import keys


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
