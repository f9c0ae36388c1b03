"""The researcher's pages of judges and their runs, of probes, and of panels made out of runs."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _, ngettext
from django.views.decorators.http import require_POST

from annotation.studies.models.studies import Study
from annotation.studies.steps import study_steps
from core.accounts.access import get_account, researcher_required
from core.accounts.permissions import filter_visible
from core.messages import show_errors
from judging.assessment.forms import ProbeForm
from judging.assessment.wording import duration
from judging.judges.models import PANEL, Judge
from judging.judges.pricing import format_dollars
from judging.judges.queries import workers
from judging.runs.forms import PanelForm, ResumeForm, RunForm
from judging.runs.models.runs import JudgeRun
from judging.runs.queries import judgments, runs as queries
from judging.runs.services import runs
from judging.runs.services.estimates import Estimate


@researcher_required
def judge_list(request: HttpRequest) -> HttpResponse:
    """All judges, and the runs of late."""
    recent = queries.list_runs(filter_visible(request.user, JudgeRun.objects.all()))
    context = {
        "judges": filter_visible(request.user, queries.judges()),
        "runs": recent,
        **is_waiting_for_worker(recent),
    }
    return render(request, "judging/judge_list.html", context)


@researcher_required
def run_create(request: HttpRequest, slug: str) -> HttpResponse:
    """The judges of a study: what has run, and a new run."""
    study = get_object_or_404(Study, slug=slug)
    form = RunForm(request.POST or None, study=study, initial=request.GET.dict())
    estimate = None
    if form.is_valid():
        if "estimate" in request.POST:
            estimate = form.estimate()
        elif run := form.start(get_account(request)):
            return redirect("run_detail", pk=run.pk)
    there = queries.list_runs(study.judge_runs.exclude(kind=JudgeRun.Kind.EVALUATION))
    context = {
        "study": study,
        "form": form,
        "estimate": estimate,
        "estimate_facts": estimate_facts(estimate) if estimate else [],
        "runs": there,
        "n_items": study.items.count(),
        "can_combine": queries.combinable(study).exists(),
        "steps": study_steps(study, "judges"),
        **is_waiting_for_worker(there),
    }
    return render(request, "judging/run_create.html", context)


@researcher_required
def run_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One run: how far it is, what went wrong, what it said last."""
    run = find_run(pk)
    progress = queries.progress(run)
    reason = request.GET.get("reason", "")
    context = {
        "run": run,
        "progress": progress,
        "pace": pace(progress),
        "spent": progress.spent,
        "stale": stale_in_words(queries.stale(run, progress.judged)),
        "reason": reason,
        "latest": judgments.latest(run, reason=reason),
        "caption": _caption_latest(reason),
        "resume": ResumeForm(initial={"budget_usd": run.budget_usd}),
        "ask_again": ask_again_in_words(progress),
        "facts": facts(run),
        "has_order": has_order(run),
        "panel": list_members(run),
        "steps": study_steps(run.study, "judges"),
    }
    return render(request, "judging/run_detail.html", context)


def _caption_latest(reason: str) -> str:
    if not reason:
        return _("Latest judgments")
    return _("Latest judgments: {reason}").format(reason=judgments.reason_in_words(reason))


@researcher_required
def run_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """The part of the run's page that moves. When the run is over, the whole page is loaded again."""
    run = find_run(pk)
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect("run_detail", pk=pk)
    if run.state != "running":
        return HttpResponse(headers={"HX-Refresh": "true"})
    progress = queries.progress(run)
    context = {"run": run, "progress": progress, "pace": pace(progress), "spent": progress.spent}
    return render(request, "judging/_run_progress.html", context)


@researcher_required
@require_POST
def run_stop(request: HttpRequest, pk: int) -> HttpResponse:
    run = find_run(pk)
    if runs.stop(by=get_account(request), run=run):
        messages.success(request, _("Stopped. What was judged is kept, and the rest can be done later."))
    else:
        messages.info(request, _("The run was over already."))
    return redirect("run_detail", pk=pk)


@researcher_required
@require_POST
def run_resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Go on with a run that was stopped, or with parts that ended early."""

    def tell(n: int) -> str:
        return ngettext("Going on with {n} part of the run.", "Going on with {n} parts of the run.", n).format(n=n)

    return go_on(request, pk, runs.resume, tell)


@researcher_required
@require_POST
def run_ask_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask again for the items of a run whose replies held no verdict."""

    def tell(n: int) -> str:
        said = ngettext(
            "Asking again for {n} reply without a verdict.", "Asking again for {n} replies without a verdict.", n
        )
        return said.format(n=f"{n:,}")

    return go_on(request, pk, runs.ask_again, tell)


def go_on(request: HttpRequest, pk: int, start: Callable[..., int], tell: Callable[[int], str]) -> HttpResponse:
    """Give a run more work, with the budget of the form, and tell how much."""
    run, form = find_run(pk), ResumeForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Budget: {problem}").format(problem=form.errors["budget_usd"][0]))
        return redirect("run_detail", pk=pk)
    with show_errors(request):
        n = start(by=get_account(request), run=run, budget_usd=form.cleaned_data["budget_usd"])
        messages.success(request, tell(n))
    return redirect("run_detail", pk=pk)


def facts(run: JudgeRun) -> list[tuple[str, str]]:
    """What the run was asked with."""
    judge = run.judge
    judged = [(_("Judged"), run.get_unit_display())]
    made = [(_("Code"), run.code_version), (_("Hash of the input"), run.input_hash[:16])]
    criteria = (_("Criteria"), ", ".join(criterion.name for criterion in run.criteria.all()))
    if judge.provider == PANEL:
        method, members = str(judge.parameters["method"]).replace("_", " "), ", ".join(judge.parameters["members"])
        return [(_("Combined by"), method), (_("Members"), members), criteria, *judged, *made]
    probed = (
        [
            (_("Altered copies"), describe_alterations(run)),
            (_("Items"), _("{n} drawn").format(n=run.probe["n_items"])),
        ]
        if run.probe
        else []
    )
    given = ", ".join(f"{name} {value}" for name, value in judge.settings.items())
    return [
        (_("Provider"), judge.provider),
        (_("Model"), judge.model or _("none")),
        (_("Parameters"), given or _("defaults")),
        criteria,
        *judged,
        *probed,
        (_("Repeats"), str(run.repeats)),
        *([(_("Order of the responses"), run.order_in_words)] if has_order(run) else []),
        (_("Seed"), str(run.seed)),
        (_("Budget"), format_dollars(run.budget_usd) if run.budget_usd else _("none")),
        *([(_("Asked"), _("through the batch API"))] if run.in_bulk else []),
        (_("Cache"), _("used") if run.use_cache else _("ignored")),
        *made,
    ]


def has_order(run: JudgeRun) -> bool:
    """Whether its responses were shown beside each other."""
    return run.study.kind == Study.Kind.PAIR and run.unit == JudgeRun.Unit.ITEM


def ask_again_in_words(progress: queries.Progress) -> str:
    """What the button says, with what it costs where that is known and not nothing."""
    n, usd = progress.can_ask_again, progress.again_usd
    if not usd:
        return _("Ask again for {n} without a verdict").format(n=f"{n:,}")
    return _("Ask again for {n} without a verdict (about {price})").format(n=f"{n:,}", price=format_dollars(usd))


def describe_alterations(run: JudgeRun) -> str:
    """What a probe run alters, and in how many of its items that changes nothing."""
    left_out = run.probe["left_out"]
    without = {
        name: _("{name} (nothing to alter in {n})").format(name=name, n=f"{n:,}") for name, n in left_out.items()
    }
    return ", ".join(without.get(name, name) for name in run.probe["alterations"])


def list_members(run: JudgeRun) -> list[dict[str, object]]:
    """Of a panel, by criterion: each member beside the panel, and what the model behind it says of the member."""
    names = {criterion.key: criterion.name for criterion in run.criteria.all()}
    return [
        {
            "criterion": names[key],
            "caption": _("Members on {criterion}").format(criterion=names[key]),
            "model": kept["model"],
            "members": [
                {**member, "accuracy": (kept["model"] or {}).get("accuracy", {}).get(member["name"])}
                for member in kept["members"]
            ],
        }
        for key, kept in run.result.items()
        if key in names
    ]


def stale_in_words(n: int) -> str:
    """What to do about judgments of an older text; empty if there are none."""
    if not n:
        return ""
    said = ngettext(
        "{n} of these judgments is of an older text. A new run asks about the edited items and takes over the other "
        "answers.",
        "{n} of these judgments are of an older text. A new run asks about the edited items and takes over the other "
        "answers.",
        n,
    )
    return said.format(n=f"{n:,}")


def estimate_facts(estimate: Estimate) -> list[tuple[str, str]]:
    """What a run would take, in words."""
    about, unknown, seconds = _("about {n}"), _("not known"), estimate.seconds
    price = unknown if estimate.usd is None else about.format(n=format_dollars(estimate.usd))
    return [
        (_("Requests"), f"{estimate.requests:,}"),
        (_("Answered already"), about.format(n=f"{estimate.cached:,}") if estimate.cached else _("none")),
        (_("Input tokens"), about.format(n=f"{estimate.input_tokens:,}")),
        (_("Output tokens"), about.format(n=f"{estimate.output_tokens:,}")),
        *([(_("Too long for the model"), about.format(n=f"{estimate.too_long:,}"))] if estimate.too_long else []),
        (_("Price"), price),
        (_("Time"), unknown if seconds is None else duration(seconds)),
    ]


def find_run(pk: int) -> JudgeRun:
    return get_object_or_404(JudgeRun.objects.select_related("study", "judge", "created_by"), pk=pk)


def is_waiting_for_worker(listed: list[JudgeRun]) -> dict[str, bool]:
    """Whether one of the runs waits for a worker that nobody has started."""
    return {"needs_worker": any(run.state == "running" for run in listed) and not workers.alive().exists()}


def pace(progress: queries.Progress) -> str:
    """How fast it goes and how long it still takes, in words; empty while nothing moves."""
    if not progress.rate:
        return ""
    if progress.rate >= 2:
        fast = _("{n} a second").format(n=f"{progress.rate:.0f}")
    else:
        fast = _("{n} a minute").format(n=f"{60 * progress.rate:.0f}")
    left = progress.seconds_left
    if left is None:
        return _("{pace} on average").format(pace=fast)
    return _("{pace}, {time} left").format(pace=fast, time=duration(left))


@researcher_required
def panel_create(request: HttpRequest, slug: str) -> HttpResponse:
    """The panels of a study, and a form that makes another one of its finished runs."""
    study = get_object_or_404(Study, slug=slug)
    runs = queries.combinable(study)
    form = PanelForm(request.POST or None, runs=runs)
    if form.is_valid() and (run := form.save(get_account(request))):
        return redirect("run_detail", pk=run.pk)
    context = {
        "study": study,
        "form": form,
        "there_are_runs": runs.exists(),
        "runs": queries.list_runs(study.judge_runs.filter(judge__provider=PANEL)),
        "steps": study_steps(study, "judges"),
    }
    return render(request, "judging/panel_create.html", context)


@researcher_required
def judge_probes(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The judge's probe runs on the study, and a new one: estimated first, or started."""
    study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
    form = ProbeForm(request.POST or None, study=study, judge=judge)
    estimate = None
    if form.is_valid():
        if "estimate" in request.POST:
            estimate = form.estimate()
        elif run := form.start(get_account(request)):
            return redirect("run_detail", pk=run.pk)
    there = queries.list_runs(study.judge_runs.probes().filter(judge=judge))
    context = {
        "study": study,
        "judge": judge,
        "form": form,
        "estimate": estimate,
        "estimate_facts": estimate_facts(estimate) if estimate else [],
        "runs": there,
        "n_items": study.items.count(),
        "steps": study_steps(study, "results"),
        **is_waiting_for_worker(there),
    }
    return render(request, "judging/judge_probes.html", context)
