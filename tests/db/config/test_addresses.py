"""Addresses that nobody has: a number larger than any key is a page that is not there, not an error."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.urls import URLResolver, get_resolver
from django.urls.converters import IntConverter, get_converters

from tests.support.factories import BenchmarkFactory, CriterionFactory, ResearcherFactory
from tests.support.labelled import judge_says, people_say, with_items

pytestmark = pytest.mark.django_db

KNOWN = {"slug": "suits", "key": "preference", "format": "json"}
PART = re.compile(r"<(\w+):(\w+)>")
HUGE = 10**30


def routes(patterns: list, before: str = "") -> Iterator[str]:
    for one in patterns:
        here = before + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from routes(one.url_patterns, here)
        elif any(is_number(part) for part in PART.findall(here)):
            yield here


def is_number(part: tuple[str, str]) -> bool:
    """Whether a part of an address, such as of `<judge:pk>`, is a number."""
    return isinstance(get_converters().get(part[0]), IntConverter)


def address(route: str) -> str:
    def fill(match: re.Match[str]) -> str:
        return str(HUGE) if is_number((match[1], match[2])) else KNOWN.get(match[2], "x")

    return "/" + PART.sub(fill, route)


@pytest.mark.long
def test_a_number_beyond_every_key_is_not_found(client):
    study = with_items(2, kind="pair", name="Suits", slug="suits", state="open")
    criterion = CriterionFactory(study=study, key="preference", preference=True)
    people_say(criterion, {"bob": ["1", "2"], "dana": ["1", "2"]})
    judge_says(criterion, "gpt", ["1", "2"], order="AB")
    BenchmarkFactory(name="Suits", slug="suits")
    client.force_login(ResearcherFactory(username="alice", is_superuser=True, is_staff=True))
    client.raise_request_exception = False
    asked = sorted({address(one) for one in routes(get_resolver().url_patterns)})
    answers = {(verb, one): getattr(client, verb)(one).status_code for one in asked for verb in ("get", "post")}
    assert len(asked) > 80
    assert {place: code for place, code in answers.items() if code >= 500} == {}
    assert 404 in answers.values()
