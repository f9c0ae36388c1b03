"""Every address of the site, asked by everyone: a new one without a rule fails here.

The rules are the marks that `core/accounts/access.py` puts on views, the permission classes of the API, and the table
in `core/accounts/permissions.py` of what the parts of an address name. Two projects with one of everything stand side
by side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver

from core.accounts import access, permissions
from tests.support.factories import ResearcherFactory, UserFactory
from tests.support.projects import World, world

pytestmark = pytest.mark.any_database

OF_DJANGO = ("admin:", "login", "logout", "account_", "mfa_", "socialaccount_", "openid_connect_")
"""Django's and allauth's own: the administration asks for staff, and who signs in has no account yet."""

ROLES = ("anonymous", "annotator", "adjudicator", "researcher", "owner")
LETS_IN = {
    "public": ROLES,
    "signed_in": ROLES[1:],
    "adjudicator": ("adjudicator", "researcher", "owner"),
    "researcher": ("researcher", "owner"),
    "owner": ("owner",),
}
"""Of a project's people, whom a rule lets in to what is the project's."""

METHODS = ("get", "post", "put", "patch", "delete")
"""Of the API; the door of a page is the same whatever the method, and pages send the first two."""

API = "api/v1/"
HERE, THERE = "aardvark", "quokka"
PUBLIC_IN = ("metrics",)
"""Open to a token as well, and therefore not marked; the view looks itself."""


def routes(patterns: list[Any], before: str = "", space: str = "") -> Iterator[tuple[str, str, Any]]:
    """Name, route and view of every address."""
    for pattern in patterns:
        route = before + str(pattern.pattern).lstrip("^").rstrip("$")
        if isinstance(pattern, URLResolver):
            name = f"{space}{pattern.namespace}:" if pattern.namespace else space
            yield from routes(pattern.url_patterns, route, name)
        elif isinstance(pattern, URLPattern):
            yield f"{space}{pattern.name or ''}", route, pattern.callback


SPOKEN = {
    "studies/<study:slug>/labels.<word:format>": {"format": "csv"},
    "studies/<study:slug>/labels.<word:form>": {"form": "csv"},
    "studies/<study:slug>/checks.<word:format>": {"format": "csv"},
}
"""Words that an address takes where it does not take the usual ones."""


def filled(route: str, here: World, *, children: World | None = None, **more: Any) -> str:
    """The address of a route in a project. KeyError where nothing says what a part is called there."""
    short = route.removeprefix(API)
    more = {**SPOKEN.get(short, {}), **more}

    def value(varies: re.Match[str]) -> str:
        upto = short[: varies.end()]
        is_within = permissions.PARTS[varies["part"]].names is permissions.RouteObject.WITHIN
        known = {**(children if children and is_within else here).parts, **more}
        return str(known[upto] if upto in known else known[varies["name"]])

    return "/" + route[: len(route) - len(short)] + permissions.VARIES.sub(value, short)


ROUTES = [found for found in routes(get_resolver().url_patterns) if not found[0].startswith(OF_DJANGO)]


def each(found: list[tuple[str, str, Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("name", "route", "view"), found, ids=[one[0] or one[1] for one in found])


of_routes = each(ROUTES)
without_parts = each([one for one in ROUTES if "<" not in one[1]])


def rule_of(view: Any) -> str:
    """public, signed_in, adjudicator, researcher or owner; "" where nothing says."""
    if marked := getattr(view, "access", ""):
        return str(marked)
    classes = getattr(getattr(view, "cls", getattr(view, "view_class", None)), "permission_classes", ())
    return next((str(found.access) for found in classes if getattr(found, "access", "")), "")


@pytest.fixture(scope="module")
def both(django_db_setup, django_db_blocker) -> Iterator[tuple[World, World]]:
    """Two projects, made once for all tests of this file: each of these works in a savepoint."""
    with django_db_blocker.unblock(), transaction.atomic():
        here, there = world(HERE), world(THERE)
        for person in (*here.people.values(), *there.people.values()):
            SESSIONS[person.pk] = new_session(person)
        yield here, there
        SESSIONS.clear()
        transaction.set_rollback(True)


SESSIONS: dict[int, str] = {}
"""Of the people of both projects: signing in anew for each of some thousand requests takes longer than these."""


def new_session(user: Any) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def signed_in(user: Any) -> Client:
    client = Client(raise_request_exception=True)
    if user is not None:
        client.cookies[settings.SESSION_COOKIE_NAME] = SESSIONS.get(user.pk) or new_session(user)
    return client


def asked(client: Client, address: str, method: str) -> Any:
    """The answer to a request without a body, in the form that the part of the site takes."""
    if method == "get" or not address.startswith("/api/"):
        return getattr(client, method)(address)
    return getattr(client, method)(address, data="{}", content_type="application/json")


def content_of(reply: Any) -> bytes:
    """All of an answer; a file that is streamed is closed by reading it."""
    return b"".join(reply.streaming_content) if reply.streaming else reply.content


def outcome(client: Client, address: str, method: str = "get") -> str:
    """in, out (sent to sign in, or told that it is not theirs) or missing."""
    reply = asked(client, address, method)
    content_of(reply)
    if reply.status_code == 404:
        return "missing"
    to_sign_in = reply.status_code == 302 and reply.headers["Location"].startswith("/login/")
    assert reply.status_code < 500, (address, reply.status_code)
    return "out" if to_sign_in or reply.status_code in (401, 403) else "in"


def test_the_site_has_routes():
    assert len(ROUTES) > 60
    assert ("home", "") in [(name, route) for name, route, _ in ROUTES]


@of_routes
def test_every_part_of_an_address_has_a_rule_and_an_object(name, route, view, both, db):
    here, there = both
    assert rule_of(view), f"{name}: mark the view with a decorator of core/accounts/access.py"
    permissions.list_rules(route)  # a part that does not say what it names is a LookupError
    filled(route, here), filled(route, there)  # and one that tests/support/projects.py does not make a KeyError


@of_routes
def test_the_door_is_open_for_whom_the_rule_names(name, route, view, both, db):
    rule, here = rule_of(view), both[0]
    address = filled(route, here)
    wanted = {role: "in" if role in LETS_IN[rule] else "out" for role in ROLES}
    found = {role: outcome(signed_in(here.people.get(role)), address) for role in ROLES}
    if rule in ("public", "signed_in"):  # whose rows are there is the view's query: they may be missing
        assert all(found[role] != "in" for role in ROLES if wanted[role] == "out"), found
        assert all(found[role] != "out" for role in ROLES if wanted[role] == "in") or name in PUBLIC_IN, found
        return
    missing = {role for role, what in found.items() if what == "missing"}
    assert not missing & set(LETS_IN[rule]) or name in MAY_BE_MISSING, (address, found)
    assert {role: what if what != "missing" else wanted[role] for role, what in found.items()} == wanted


MAY_BE_MISSING = {
    "graded_download": "nothing was graded",
    "criterion_verdict": "nothing was computed on a criterion of this key",
    "judge_plot": "nothing was computed to draw",
    "judge_verdict_download": "nothing was computed",
    "benchmark_audit_download": "there is no audit yet",
    "api_benchmark_audit": "there is no audit yet",
    "release_download": "a draft is not given out",
    "api_benchmark_folder": "a draft is not given out",
    "api_graded": "nothing was graded",
    "api_study_hold_out": "nothing is held out",
    "api_newest_escalation": "nothing was escalated to people",
    "api_prompt": "the judge was asked in no words",
    "measures_download": "there is no material of this source",
}
"""Routes that answer 404 even to the owner here, and why."""


@of_routes
@pytest.mark.parametrize(
    "role", ["owner", *(pytest.param(less, marks=pytest.mark.long) for less in ("researcher", "adjudicator"))]
)
def test_people_of_another_project_find_nothing(name, route, view, role, both, db):
    """Each role of B asks about A's objects by each method: it is as if they did not exist."""
    here, there = both
    rule = rule_of(view)
    if rule in ("public", "signed_in"):
        return
    address, client = filled(route, here), signed_in(there.people[role])
    for method in METHODS if "/api/" in address else METHODS[:2]:
        found = outcome(client, address, method)
        if permissions.names_a_row(route):
            closed = role == "adjudicator" and rule != "adjudicator"
            assert found == ("out" if closed else "missing"), (method, address)
    if not permissions.names_a_row(route) and rule == "researcher":
        wanted = "out" if role == "adjudicator" else "in"
        assert outcome(client, address) == wanted or name in MAY_BE_MISSING


within_another = each(
    [
        one
        for one in ROUTES
        if re.search(r"<within:(pk|judgment)>", one[1])
        and not any(word in one[1] for word in ("annotators/", "participants/"))
    ]
)
"""Accounts are the site's: what one is within a study, its service asks."""


def is_allowed(client: Client, address: str, method: str) -> bool:
    return bool(asked(client, address, method).status_code != 405)


@within_another
def test_what_stands_within_is_not_found_within_another(name, route, view, both, db):
    """One's own study or benchmark in the address, and another project's row behind it."""
    here, there = both
    address = filled(route, here, children=there)
    client = signed_in(here.people["owner"])
    found = {method: outcome(client, address, method) for method in ("get", "post", "delete")}
    allowed = {method for method, what in found.items() if what == "in" and is_allowed(client, address, method)}
    assert not allowed, (address, found)


@pytest.mark.parametrize("role", ["annotator", "adjudicator", "researcher", "owner"])
@without_parts
def test_nothing_tells_of_another_project(name, route, view, role, both, db):
    """Every address without parts, read by the people of A: the names in B are nowhere."""
    here, there = both
    reply = signed_in(here.people[role]).get(f"/{route}")
    text = content_of(reply).decode("utf-8", "replace").replace(there.people["annotator"].username, "")
    for person in there.people.values():  # accounts are the site's
        text = text.replace(person.username, "")
    assert THERE not in text


LISTS = {
    "/projects/": "Project",
    "/studies/": "Study", "/benchmarks/": "Benchmark", "/judges/": "Judge", "/evaluations/": "Benchmark",
    "/experiments/": "Experiment", "/candidates/": "Candidates", "/conflicts/": "Conflict",
    "/api/v1/studies": "Study", "/api/v1/benchmarks": "benchmark", "/api/v1/judges": "Judge", "/api/v1/runs": "study",
    "/api/v1/evaluations": "benchmark", "/api/v1/experiments": "Experiment", "/api/v1/candidates/runs": "Candidates",
    "/api/v1/making": "source", "/api/v1/conflicts": "Conflict", "/api/v1/webhooks": "https",
    "/material/import/table/": "Mapping", "/api/v1/mappings": "Mapping",
}  # fmt: skip


@pytest.mark.parametrize("address", LISTS)
def test_ones_own_are_listed_and_a_superuser_sees_all(address, both, db):
    mine = signed_in(both[0].people["researcher"]).get(address).content.decode()
    assert HERE in mine
    assert THERE not in mine
    everything = signed_in(UserFactory(is_superuser=True)).get(address).content.decode()
    assert HERE in everything
    assert THERE in everything


@pytest.mark.parametrize("address", ["/search/?q={}", "/api/v1/search?q={}"])
@pytest.mark.parametrize("word", ["Study", "pair", "rater"])
def test_a_search_finds_nothing_of_another_project(address, word, both, db):
    here, there = both
    text = signed_in(here.people["researcher"]).get(address.format(word)).content.decode()
    for person in there.people.values():
        text = text.replace(person.username, "")
    assert THERE not in text


def test_a_route_without_a_rule_is_refused():
    with pytest.raises(LookupError, match="does not say what it names"):
        permissions.list_rules("secrets/<int:pk>/")


def test_the_door_costs_one_query(both, db):
    here, _ = both
    user, address = here.people["researcher"], "studies/<study:slug>/results/<judge:pk>/"
    given = {"slug": here.made["study"].slug, "pk": here.made["judge"].pk}
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert permissions.is_allowed(user, address, given, roles=permissions.RESEARCHING)
    assert len(asked) == 1
    with CaptureQueriesContext(connection) as asked:
        assert permissions.is_allowed(user, "studies/", {}, roles=permissions.RESEARCHING)
    assert len(asked) == 0


def test_a_closed_account_is_no_account(client, db):
    person = ResearcherFactory()
    client.force_login(person)
    person.is_active = False
    person.save()
    assert outcome(client, "/studies/") == "out"
    assert not access.may_research(AnonymousUser())
