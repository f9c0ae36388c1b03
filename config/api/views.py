"""The OpenAPI document, and the page that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.accounts.access import IsSignedIn, require_sign_in

TAGS = {
    "account": "Account and tokens",
    "projects": "Projects and their members",
    "webhooks": "Webhooks",
    "material": "Datasets",
    "imports": "Imports",
    "studies": "Studies",
    "queue": "The queue of a study",
    "recruitment": "How people join a study and leave it",
    "work": "An annotator’s own work",
    "labels": "Labels, adjudication and gold",
    "judges": "Judges and prices",
    "runs": "Runs and judgments",
    "results": "Agreement, tiers and trust",
    "benchmarks": "Benchmarks and evaluations of models",
    "experiments": "Experiments",
    "making": "Generated datasets",
    "exports": "Exports",
    "acts": "What was done",
    "system": "The site",
}
"""Parts of the API in the order of the page."""


class Document(JSONRenderer):
    """The document as tools expect it."""

    media_type = "application/vnd.oai.openapi+json"


@extend_schema(exclude=True)
class Schema(APIView):
    permission_classes = [IsSignedIn]
    renderer_classes = [Document]

    def get(self, request: Request) -> Response:
        return Response(load_document())


@require_sign_in
def docs(request: HttpRequest) -> HttpResponse:
    """Every operation by its part: address, what it does, what it takes and answers."""
    return render(request, "config/api_docs.html", {"parts": build_sections()})


@cache
def load_document() -> dict[str, object]:
    """The OpenAPI document. It takes a second and follows from the code alone, so once a process is enough."""
    document: dict[str, object] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return document


@cache
def build_sections() -> list[dict[str, object]]:
    """The document as the page shows it."""
    document = load_document()
    found = list(operations(document))
    names = [*TAGS, *sorted({one["tag"] for one in found} - set(TAGS))]
    return [
        {"key": tag, "title": TAGS.get(tag, tag), "operations": rows}
        for tag in names
        if (rows := [one for one in found if one["tag"] == tag])
    ]


def operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path, methods in document["paths"].items():
        for method, said in methods.items():
            yield {
                "tag": said["tags"][0],
                "method": method.upper(),
                "path": path,
                "summary": said["summary"],
                "description": said.get("description", ""),
                "query": [one for one in said.get("parameters", []) if one["in"] == "query"],
                "body": fields(document["components"]["schemas"], content(said.get("requestBody", {}))),
                "answer": answer(said["responses"]),
            }


def content(part: dict[str, Any]) -> dict[str, object]:
    """The schema of a body, whatever its type."""
    return next((one.get("schema", {}) for one in part.get("content", {}).values()), {})


def fields(schemas: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, object]]:
    """Fields of a body with their types and what is said of them."""
    shape = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    needed = shape.get("required", [])
    return [
        {
            "name": name,
            "type": describe_type(one),
            "required": name in needed,
            "about": one.get("description", ""),
        }
        for name, one in shape.get("properties", {}).items()
    ]


def describe_type(schema: dict[str, Any]) -> str:
    """A type in a word or two."""
    if ref := schema.get("$ref") or next((one["$ref"] for one in schema.get("allOf", []) if "$ref" in one), ""):
        return str(ref).rpartition("/")[2]
    if schema.get("type") == "array":
        return f"list of {describe_type(schema.get('items', {}))}"
    return str(schema.get("type", "one of several"))


def answer(responses: dict[str, Any]) -> str:
    """The status of success, and the type of what it answers."""
    status, found = next((status, one) for status, one in responses.items() if status.startswith("2"))
    schema = content(found)
    return f"{status} {describe_type(schema)}" if schema else status
