"""A client of the API that holds every answer to the OpenAPI document."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import requests
import schemathesis
from rest_framework.response import Response
from rest_framework.test import APIClient
from urllib3 import HTTPResponse

from config.api.views import load_document

VARIES = re.compile(r"{\w+}|<(\w+:)?\w+>")


@cache
def operations() -> dict[tuple[str, str], Any]:
    """Operations of the document, by method and address; what varies in an address is a star."""
    schema = schemathesis.openapi.from_dict(load_document())
    found = (result.ok() for result in schema.get_all_operations())
    return {(one.method.upper(), VARIES.sub("*", one.path)): one for one in found}


def check(answer: Any, method: str) -> None:
    """Raise where the answer is not what the document says of the operation and this status."""
    route = VARIES.sub("*", f"/{answer.resolver_match.route}")
    if (method, route) not in operations():  # such as the document itself, or a method that is not allowed
        return
    found = requests.Response()
    found.status_code, found._content = answer.status_code, answer.content
    found.raw = HTTPResponse(headers=dict(answer.items()), status=answer.status_code)
    found.request = requests.Request(method, f"http://testserver{answer.wsgi_request.path}").prepare()
    operations()[method, route].validate_response(found)


class DescribedClient(APIClient):
    def request(self, **given: Any) -> Any:
        answer = super().request(**given)
        if isinstance(answer, Response) and answer.resolver_match is not None:
            check(answer, given["REQUEST_METHOD"])
        return answer
