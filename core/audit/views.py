"""The log of what researchers did, and its download."""

from __future__ import annotations

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.http import urlencode
from django.utils.translation import gettext as _, gettext_noop
from django.views.decorators.http import require_safe

from core.accounts import permissions
from core.accounts.access import get_account, researcher_required
from core.accounts.models.users import User
from core.audit.log import VERBS
from core.audit.models import Act
from core.audit.queries import EventFilter, head, list_events
from core.csv_files import csv_pieces
from core.downloads import attach_pieces, audit_export
from core.errors import InputError


def a_day(label: str) -> forms.DateField:
    return forms.DateField(label=label, required=False, widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"))


class EventForm(forms.Form):
    """Person, study, verb and period; what is left empty does not narrow."""

    person = forms.CharField(label="Person (username)", required=False, max_length=150)
    study = forms.CharField(label="Study", required=False, max_length=120)
    verb = forms.ChoiceField(label="What was done", required=False)
    since = a_day(gettext_noop("From (day, UTC)"))
    until = a_day(gettext_noop("To (day, UTC)"))

    def __init__(self, data: object = None) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        verbs, anything = sorted(VERBS), _("{kind}: anything")
        kinds = dict.fromkeys(verb.partition(".")[0] for verb in verbs)
        groups = [
            (kind, [(kind, anything.format(kind=kind)), *((one, one) for one in verbs if one.startswith(f"{kind}."))])
            for kind in kinds
        ]
        self.fields["verb"].choices = [("", _("anything")), *groups]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, object]:
        given = super().clean() or {}
        since, until = given.get("since"), given.get("until")
        if since and until and until < since:
            raise forms.ValidationError({"until": _("This is before the first day.")})
        return given

    def rows(self, seen_by: User) -> QuerySet[Act]:
        """What fits; nothing where something in the form is wrong, with the reason at its field."""
        if not self.is_valid():
            return Act.objects.none()
        try:
            return list_events(EventFilter(**self.cleaned_data), seen_by=seen_by)
        except InputError as error:
            self.add_error(error.field if error.field in self.fields else None, error.message)
            return Act.objects.none()

    @property
    def narrows(self) -> bool:
        return any(self.data.get(name) for name in self.fields)


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
