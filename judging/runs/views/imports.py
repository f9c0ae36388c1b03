"""The upload page: material, people's labels and judges' labels, each from a file."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from annotation.studies.models.studies import Study
from core.accounts.access import get_account, researcher_required
from core.files.outcome import Outcome
from judging.runs.forms import UploadForm
from judging.runs.imports.formats import FORMATS, TABLE, Format

SHOWN = 100
ITEMS = ("dialogues", "pairs")
"""Kinds of records that a study can ask about."""


@researcher_required
def import_upload(request: HttpRequest) -> HttpResponse:
    """Choose a format, upload a file, and see what became of it."""
    shown = {key: one for key, one in FORMATS.items() if key != TABLE}
    chosen = shown.get(request.GET.get("format", ""), FORMATS["dialogues"])
    form = UploadForm(request.POST or None, request.FILES or None, chosen=chosen)
    outcome = form.load(get_account(request)) if form.is_valid() else None
    told = {name: form.cleaned_data[name] for name in chosen.fields} if outcome else {}
    context = {
        "groups": group_formats(shown.values(), chosen),
        "chosen": chosen,
        "form": UploadForm(chosen=chosen, initial=told) if outcome else form,
        "result": outcome and build_context(outcome, told.get("source", "")),
    }
    return render(request, "judging/import_upload.html", context)


def group_formats(formats: Iterable[Format], chosen: Format) -> list[tuple[str, list[Format], bool]]:
    """The formats under the heading of their group, in the order in which these come; that of the chosen is open."""
    groups: dict[str, list[Format]] = {}
    for one in formats:
        groups.setdefault(one.group, []).append(one)
    return [(_(name), found, name == chosen.group) for name, found in groups.items()]


def build_context(outcome: Outcome, source: str) -> dict[str, object]:
    """Counts in rows, the first bad records, and the study to go on with."""
    document = outcome.to_document()
    rows = [(kind, outcome.created[kind], outcome.updated[kind], outcome.unchanged[kind]) for kind in outcome.kinds]
    kind = next((kind.removesuffix("s") for kind, *counts in rows if kind in ITEMS and any(counts)), "")
    return {
        "rows": rows,
        "of_study": kind and urlencode({"kind": kind, "source": source}),
        "changed": any(created or updated for _kind, created, updated, _unchanged in rows),
        "unchanged": any(unchanged for *_, unchanged in rows),
        "warnings": document["warnings"],
        "skipped": outcome.skipped[:SHOWN],
        "n_skipped": len(outcome.skipped),
        "left_out": _("Records that were left out: {n}").format(n=len(outcome.skipped)),
        "study": Study.objects.filter(name=outcome.study).first() if outcome.study else None,
    }
