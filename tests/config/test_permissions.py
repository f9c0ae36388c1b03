"""Every address of the site, asked by everyone: a new one without a rule fails here.

The rules are the marks that `annotation/access.py` puts on views, and the permission classes of the API. What is asked
for does not exist, so only the door is tested; that people find their own rows behind it is tested with the views.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.converters import IntConverter

from annotation import access
from tests.factories import ResearcherFactory, UserFactory

OF_DJANGO = ("admin:", "login", "logout", "account_", "mfa_", "socialaccount_", "openid_connect_")
"""Django's and allauth's own: the administration asks for staff, and who signs in has no account yet."""

NUMBER, WORD = 987654321, "nothing"


def routes(patterns: list[Any], before: str = "", space: str = "") -> Iterator[tuple[str, str, Any]]:
    """Name, address and view of every route."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            name = f"{space}{pattern.namespace}:" if pattern.namespace else space
            yield from routes(pattern.url_patterns, before + address(pattern), name)
        elif isinstance(pattern, URLPattern):
            yield f"{space}{pattern.name or ''}", f"/{before}{address(pattern)}", pattern.callback


def address(pattern: URLPattern | URLResolver) -> str:
    """The route with something that does not exist in place of each part that varies."""
    text = str(pattern.pattern)
    for name, converter in pattern.pattern.converters.items():
        number = isinstance(converter, IntConverter)
        for kind in (converter_name(text, name), ""):
            text = text.replace(f"<{kind}{name}>", str(NUMBER) if number else WORD)
    return text.lstrip("^").rstrip("$")


def converter_name(text: str, name: str) -> str:
    before = text[: text.index(f"{name}>")] if f"{name}>" in text else ""
    return before[before.rindex("<") + 1 :] if "<" in before else ""


ROUTES = [found for found in routes(get_resolver().url_patterns) if not found[0].startswith(OF_DJANGO)]


def rule_of(view: Any) -> str:
    """public, signed_in or researcher; "" where nothing says."""
    if marked := getattr(view, "access", ""):
        return str(marked)
    classes = getattr(getattr(view, "cls", getattr(view, "view_class", None)), "permission_classes", ())
    return next((str(found.access) for found in classes if getattr(found, "access", "")), "")


def let_in(client: Client, route: str) -> bool:
    """Whether the door is open. Behind it there is nothing, or the method is another, or something is missing."""
    reply = client.get(route)
    if reply.status_code == 302:
        return not reply.headers["Location"].startswith("/login/")
    return reply.status_code not in (401, 403)


def test_the_site_has_routes():
    assert len(ROUTES) > 60
    assert ("home", "/") in [(name, route) for name, route, _ in ROUTES]


@pytest.mark.parametrize(("name", "route", "view"), ROUTES, ids=[found[0] or found[1] for found in ROUTES])
def test_the_door_is_open_for_whom_the_rule_names(db, name, route, view):
    rule = rule_of(view)
    assert rule, f"{name}: mark the view with public, signed_in or researcher_required of annotation/access.py"
    annotator, researcher = Client(), Client()
    annotator.force_login(UserFactory())
    researcher.force_login(ResearcherFactory())
    if rule == "public":
        assert Client().get(route).status_code < 500
        return
    assert not let_in(Client(), route)
    assert let_in(annotator, route) == (rule == "signed_in")
    assert let_in(researcher, route)


def test_a_closed_account_is_no_account(client, db):
    person = ResearcherFactory()
    client.force_login(person)
    person.is_active = False
    person.save()
    assert not let_in(client, "/studies/")
    assert not access.may_research(AnonymousUser())
