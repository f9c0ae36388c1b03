"""Pages of the site itself."""

from __future__ import annotations

from allauth.account.decorators import reauthentication_required
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import translation
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.http import require_POST, require_safe
from django.views.i18n import JavaScriptCatalog, set_language
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from annotation.recruitment.queries import is_link_participant
from annotation.recruitment.services import withdrawn
from annotation.studies.models.studies import Study
from config import readiness, retention
from config.archives import writing
from config.erasure import erasing
from config.erasure.erasing import load_about
from config.erasure.forms import EraseForm
from config.metrics import registry
from config.pages import gallery as specimens
from config.pages.dashboard import build_dashboard
from core.accounts.access import get_account, may_adjudicate, may_research, public, require_sign_in, researcher_required
from core.accounts.models.users import User
from core.accounts.permissions import filter_visible
from core.downloads import audit_export, stream_zip
from core.errors import InputError
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
        raise PermissionDenied(_("Metrics are for researchers, and for who shows CONCORD_METRICS_TOKEN."))
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


@researcher_required
@require_safe
@audit_export("archive")
def study_archive(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The study with all that it rests on."""
    study = get_object_or_404(Study, slug=slug)
    try:
        writing.refuse_at_work(study)
    except InputError as error:
        messages.error(request, error.message)
        return redirect("study_files", slug)
    return stream_zip(writing.files(study), name=f"{study.slug}-archive.zip")


@require_sign_in
@never_cache
@reauthentication_required  # type: ignore[untyped-decorator] # allauth says no types
def person_erase(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what is erased and what stays, ask for the username, and erase."""
    by, person = get_account(request), get_object_or_404(User, pk=pk)
    if not erasing.concerns(by, person):
        raise Http404
    found, is_own = load_about(by=by, person=person), by == person
    form = EraseForm(request.POST or None, person=person)
    if form.is_valid() and form.save(by):
        return render_erased(request, found.username, is_own=is_own)
    context = {"about": found, "form": form, "is_own": is_own, "withdrawable": person.studies.all() if is_own else ()}
    return render(request, "config/person_erase.html", context, status=422 if form.is_bound else 200)


def render_erased(request: HttpRequest, username: str, *, is_own: bool) -> HttpResponse:
    """Who erased themselves is signed out; who did it for somebody goes on, and is told if the list lacks it."""
    if is_own:
        logout(request)
        return render(request, "config/erased.html")
    messages.success(request, _("{username} is erased.").format(username=username))
    if problem := withdrawn.problem():
        messages.warning(request, _("Tell the person who runs this site: {problem}").format(problem=problem))
    return redirect("home")


YEAR = 365 * 24 * 3600


@public
@require_POST
def choose_language(request: HttpRequest) -> HttpResponseBase:
    """Keep my choice with my account, and in a cookie for the pages before I sign in; then back to the page."""
    language = request.POST.get("language", "")
    if language in dict(settings.LANGUAGES) and isinstance(request.user, User):
        User.objects.filter(pk=request.user.pk).update(language=language)
    answer: HttpResponse = set_language(request)
    return answer


@public
@require_safe
@cache_control(public=True, max_age=YEAR, immutable=True)
def load_script_texts(request: HttpRequest) -> HttpResponseBase:
    """The texts of scripts in the language that is asked for. The address changes with them, so they are kept."""
    language = request.GET.get("language", "")
    if language not in dict(settings.LANGUAGES):
        raise Http404
    with translation.override(language):
        return JavaScriptCatalog.as_view(packages=["config"])(request)
