"""The page of a study's rules: set before anybody looks at a judge's result, changed on record after that."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _

from annotation.studies.models.studies import Study
from annotation.studies.steps import study_steps
from core.accounts.access import researcher_required
from core.errors import InputError
from judging.assessment.services import rules, verdicts
from judging.assessment.services.rules import StudyVerdictRules
from judging.assessment.views.verdict import reader
from judging.stats.verdict import Rules

BAD = 400


@researcher_required
def study_rules(request: HttpRequest, slug: str) -> HttpResponse:
    """What holds, how it came about, and a form. Reading this page is no look at a result."""
    study = get_object_or_404(Study, slug=slug)
    error = None
    if request.method == "POST":
        try:
            _set(request, study)
            return redirect("study_rules", slug=study.slug)
        except InputError as refused:
            error = refused
    context = {"study": study, "steps": study_steps(study, "results"), "error": error, **_shown(request, study)}
    return render(request, "judging/rules.html", context, status=BAD if error else 200)


def _set(request: HttpRequest, study: Study) -> None:
    wanted = verdicts.parse_rules(request.POST.dict(), Rules())
    success = rules.Success(request.POST.get("success", rules.REPLACE), tuple(request.POST.getlist("criteria")))
    reason = request.POST.get("reason", "")
    if rules.set_rules(by=reader(request), study=study, rules=wanted, success=success, reason=reason):
        messages.success(request, _("The rules are set, and stand on record."))
    else:
        messages.info(request, _("These are the rules already. Nothing was changed."))


def _shown(request: HttpRequest, study: Study) -> dict[str, object]:
    there = rules.load(study)
    names = rules.load_names(there.rows)
    return {
        "there": there,
        "locked_by": rules.name_author(there.locked, names) if there.locked else "",
        "changes": [rules.sentence(before, after, names) for before, after in there.changes],
        "numbers": [_build_field(request, name, _(label), there) for name, label in verdicts.RULES.items()],
        "typed": request.POST,
        "successes": rules.SUCCESSES,
        "criteria": study.criteria.all(),
        "usual": Rules(),
    }


def _build_field(request: HttpRequest, name: str, label: str, there: StudyVerdictRules) -> dict[str, object]:
    """A field of the form, with what was typed where it was refused."""
    value = request.POST.get(name, getattr(there.rules, name))
    return {"name": name, "label": label, "value": value, "usual": getattr(Rules(), name)}
