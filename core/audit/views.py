"""The log of what researchers did, and its download."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from core.accounts import permissions
from core.accounts.access import get_account, researcher_required
from core.audit.forms import EventForm
from core.audit.models import Act
from core.audit.queries import head
from core.csv_files import csv_pieces
from core.downloads import attach_pieces, audit_export

AT_ONCE = 50
LARGEST = 2**63 - 1
COLUMNS = (
    *("number", "at", "who", "operator", "verb", "kind", "id", "name", "study_id", "through", "request_id"),
    *("arguments", "outcome", "digest", "digest_key_id"),
)


@researcher_required
@require_safe
def event_list(request: HttpRequest) -> HttpResponse:
    """Acts, newest first, narrowed by person, study, verb and period. Four queries, however long the log is."""
    form = EventForm(request.GET)
    rows = form.rows(get_account(request))
    if before := parse_number(request.GET.get("before", "")):
        rows = rows.filter(number__lt=before)
    found = list(rows[: AT_ONCE + 1])
    shown, query = found[:AT_ONCE], parse_filter(request)
    older: dict[str, str | int] = {**query, "before": shown[-1].number} if len(found) > AT_ONCE else {}
    studies = permissions.study_model()._default_manager.in_bulk({row.study_id for row in shown if row.study_id})
    context = {
        "form": form,
        "rows": [(row, studies.get(row.study_id or 0)) for row in shown],
        "older": urlencode(older),
        "newest": urlencode(query) if before else "",
        "is_later_page": bool(before),
        "csv": urlencode(query),
        "head": head(),
    }
    return render(request, "annotation/act_list.html", context)


def parse_number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and int(text) <= LARGEST else None


def parse_filter(request: HttpRequest) -> dict[str, str]:
    return {name: request.GET[name] for name in EventForm.base_fields if request.GET.get(name)}


@researcher_required
@require_safe
@audit_export("acts")
def events_download(request: HttpRequest) -> HttpResponseBase:
    """The same acts as CSV, all of them."""
    form = EventForm(request.GET)
    rows = form.rows(get_account(request))
    if form.errors:
        return render(request, "annotation/act_list.html", {"form": form, "rows": [], "head": head()}, status=400)
    return attach_pieces(
        csv_pieces(COLUMNS, map(csv_row, rows.iterator(chunk_size=2000))),
        name="acts.csv",
        content_type="text/csv; charset=utf-8",
    )


def csv_row(row: Act) -> list[object]:
    return [
        *(
            row.number,
            row.at.isoformat(),
            describe_actor(row),
            row.operator,
            row.verb,
            row.kind,
            row.key,
            row.name,
            row.study_id,
        ),
        *(row.through, row.request_id, row.arguments, row.outcome, row.digest, row.digest_key_id),
    ]


def describe_actor(row: Act) -> str:
    """Return the actor's username, or the number of a deleted account; empty for a command."""
    if row.who_id is None:
        return ""
    return row.who.username if row.who else f"account {row.who_id}"
