"""Pages of the site itself."""

from __future__ import annotations

from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from annotation.recruitment.queries import is_link_participant
from config import readiness, retention
from config.metrics import registry
from config.pages import gallery as specimens
from config.pages.dashboard import build_dashboard
from core.accounts.access import get_account, may_adjudicate, may_research, public, require_sign_in, researcher_required
from core.accounts.permissions import filter_visible
from judging.judges.queries import workers
from judging.runs.models.runs import JudgeRun
from judging.runs.queries import queues
from simulation.experiments import queries
from simulation.experiments.models import Experiment


@require_sign_in
def home(request: HttpRequest) -> HttpResponse:
    """Researchers start at what runs and waits for them, adjudicators at what they decide, annotators at their work."""
    if may_research(request.user):
        return render(request, "config/dashboard.html", build_dashboard(get_account(request)))
    return redirect("to_decide" if may_adjudicate(request.user) else "my_work")


@researcher_required
def gallery(request: HttpRequest) -> HttpResponse:
    """Every component in every state; with ?layout=annotate, the layout of the page that annotates a dialogue."""
    template = "gallery_annotate.html" if request.GET.get("layout") == "annotate" else "gallery.html"
    return render(request, template, specimens.context())


@require_sign_in
def account(request: HttpRequest) -> HttpResponse:
    """Who I am here, my password and second factor."""
    user = request.user
    role = _("researcher") if may_research(user) else _("annotator")
    facts = [(_("Username"), user.get_username()), (_("Role"), role)]
    context = {"facts": facts, "has_second_factor": is_mfa_enabled(user), "by_link": is_link_participant(user)}
    return render(request, "config/account.html", context)


@public
def health(request: HttpRequest) -> JsonResponse:  # noqa: ARG001
    """Answers 200 when the web server reaches its database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return JsonResponse({"status": "ok"})


@public
@never_cache
def ready(request: HttpRequest) -> JsonResponse:  # noqa: ARG001
    """Answers 200 when everything that the site needs is there, and 503 with what is missing where not."""
    problems = {check.name: check.problem for check in readiness.checks()}
    ok = not any(problems.values())
    checks = {name: problem or "ok" for name, problem in problems.items()}
    return JsonResponse({"status": "ok" if ok else "not ready", "checks": checks}, status=200 if ok else 503)


@public
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """For Prometheus, which shows CONCORD_METRICS_TOKEN as a bearer token, and for researchers."""
    if not (has_token(request) or may_research(request.user)):
        raise PermissionDenied("Metrics are for researchers, and for who shows CONCORD_METRICS_TOKEN.")
    return HttpResponse(generate_latest(registry()), content_type=CONTENT_TYPE_LATEST)


def has_token(request: HttpRequest) -> bool:
    token = settings.METRICS_TOKEN
    return bool(token) and constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {token}")


@researcher_required
def system(request: HttpRequest) -> HttpResponse:
    """What waits, who works, and which runs need somebody."""
    context = {
        "checks": [*readiness.checks(), *readiness.notices()],
        "queue": queues.queue(),
        "processes": queues.processes(),
        "no_worker": not workers.alive().exists(),
        "runs": queues.list_needing_attention(filter_visible(request.user, JudgeRun.objects.all())),
        "experiments": queries.list_needing_attention(filter_visible(request.user, Experiment.objects.all())),
        "kept": retention.due(),
    }
    return render(request, "config/system.html", context)
