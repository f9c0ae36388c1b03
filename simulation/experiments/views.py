"""The researcher's pages of experiments: all of them, a new one, how far one is, and one dialogue as it grows."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _, ngettext
from django.views.decorators.http import require_POST

from annotation.studies.queries.context import build_panels, subject_of_scenario
from core.accounts.access import get_account, researcher_required
from core.accounts.permissions import filter_visible
from core.errors import InputError
from core.messages import show_errors
from judging.assessment.wording import duration
from judging.judges.pricing import format_dollars
from judging.judges.prompts.templates import digest
from judging.judges.queries import workers
from judging.runs.forms import ResumeForm
from simulation.agents.models import Agent
from simulation.agents.parsing.endings import ENDINGS, EXCHANGES
from simulation.agents.parsing.speech import PROBLEMS
from simulation.agents.prompts import CONDITIONS, USER_INFORMATION, assistant_role
from simulation.agents.prompts.roles import ROLES, find_text
from simulation.experiments import queries
from simulation.experiments.forms import ExperimentForm, PeopleForm, parameters_in_words
from simulation.experiments.models import Experiment, SimulatedDialogue
from simulation.experiments.services import experiments, studies
from simulation.experiments.services.estimates import Estimate
from simulation.results.services.differences import differences, list_shared_models

PER_PAGE = 50


@researcher_required
def experiment_list(request: HttpRequest) -> HttpResponse:
    found = Paginator(filter_visible(request.user, queries.list_experiments()), PER_PAGE).get_page(
        request.GET.get("page")
    )
    running = any(experiment.state == "running" for experiment in found)
    context = {"page": found, "needs_worker": running and not workers.alive().exists()}
    return render(request, "simulation/experiment_list.html", context)


@researcher_required
def experiment_create(request: HttpRequest) -> HttpResponse:
    """A new experiment, with what it would take before it starts."""
    form = ExperimentForm(request.POST or None, by=get_account(request))
    estimate = None
    if form.is_valid():
        if "estimate" in request.POST:
            estimate = form.estimate()
        elif experiment := form.start():
            return redirect("experiment_detail", pk=experiment.pk)
    context = {"form": form, "estimate": estimate, "estimate_facts": estimate_facts(estimate) if estimate else []}
    return render(request, "simulation/experiment_create.html", context)


@researcher_required
def experiment_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """How far it is, its dialogues, and what can be done with them."""
    experiment = find_experiment(pk)
    rows = queries.dialogues(experiment)
    ending = request.GET.get("ending", "")
    if ending in ENDINGS:
        rows = rows.filter(ending=ending)
    context = {
        **build_progress_context(experiment),
        "page": Paginator(rows, PER_PAGE).get_page(request.GET.get("page")),
        "ending": _(ENDINGS[ending]) if ending in ENDINGS else "",
        "endings": ENDINGS,
        "resume": ResumeForm(initial={"budget_usd": experiment.budget_usd}),
        "people": PeopleForm(),
        "studies": studies.list_studies(experiment),
        "facts": facts(experiment),
        "prompts": list_prompts(experiment),
        "same_models": list_shared_models(experiment),
        "scripted": [agent.name for agent in list_agents(experiment) if agent.is_scripted],
    }
    return render(request, "simulation/experiment_detail.html", context)


@researcher_required
def experiment_differences(request: HttpRequest, pk: int) -> HttpResponse:
    """Its settings beside those of PersonaLens."""
    experiment = find_experiment(pk)
    rows = differences(experiment)
    context = {
        "experiment": experiment,
        "rows": rows,
        "n_different": sum(row.same is False for row in rows),
        "same_models": list_shared_models(experiment),
    }
    return render(request, "simulation/differences.html", context)


@researcher_required
def experiment_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """The part of the experiment's page that moves. When it is over, the whole page is loaded again."""
    experiment = find_experiment(pk)
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect("experiment_detail", pk=pk)
    if experiment.state != "running":
        return HttpResponse(headers={"HX-Refresh": "true"})
    return render(request, "simulation/_progress.html", build_progress_context(experiment))


@researcher_required
@require_POST
def experiment_stop(request: HttpRequest, pk: int) -> HttpResponse:
    if experiments.stop(by=get_account(request), experiment=find_experiment(pk)):
        messages.success(request, _("Stopped. Every turn is kept, and the rest can be said later."))
    else:
        messages.info(request, _("The experiment was over already."))
    return redirect("experiment_detail", pk=pk)


@researcher_required
@require_POST
def experiment_resume(request: HttpRequest, pk: int) -> HttpResponse:
    form = ResumeForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Budget: {problem}").format(problem=form.errors["budget_usd"][0]))
        return redirect("experiment_detail", pk=pk)
    with show_errors(request):
        left = experiments.resume(
            by=get_account(request), experiment=find_experiment(pk), budget_usd=form.cleaned_data["budget_usd"]
        )
        said = ngettext("Going on with {n} dialogue.", "Going on with {n} dialogues.", left)
        messages.success(request, said.format(n=left))
    return redirect("experiment_detail", pk=pk)


@researcher_required
@require_POST
def experiment_people(request: HttpRequest, pk: int) -> HttpResponse:
    """Send a sample of the dialogues to people, as a study."""
    experiment, form = find_experiment(pk), PeopleForm(request.POST)
    study = form.send(get_account(request), experiment) if form.is_valid() else None
    if study is None:
        messages.error(request, " ".join(str(error) for errors in form.errors.values() for error in errors))
        return redirect("experiment_detail", pk=pk)
    said = _("The study has {n} dialogues. Say who rates them, and open it.")
    messages.success(request, said.format(n=study.items.count()))
    return redirect("study_detail", slug=study.slug)


@researcher_required
@require_POST
def experiment_judge(request: HttpRequest, pk: int) -> HttpResponse:
    """All dialogues as a study, and on to its judges."""
    try:
        checks = "user_checks" in request.POST
        study = studies.create_judge_study(by=get_account(request), experiment=find_experiment(pk), user_checks=checks)
    except InputError as error:
        messages.error(request, error.message)
        return redirect("experiment_detail", pk=pk)
    return redirect("run_create", slug=study.slug)


@researcher_required
def dialogue_detail(request: HttpRequest, pk: int, index: int) -> HttpResponse:
    """One dialogue with what its user wants and knows, and what each turn took; it grows while one looks."""
    row = dialogue(pk, index)
    context = {
        **talk(row),
        "panels": build_panels(subject_of_scenario(row.scenario)),
        "condition": _(CONDITIONS[row.condition].name),
        "last": row.experiment.dialogues.count(),
    }
    return render(request, "simulation/simulated_detail.html", context)


@researcher_required
def dialogue_turns(request: HttpRequest, pk: int, index: int) -> HttpResponse:
    """The part of the dialogue's page that grows."""
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect("simulated_detail", pk=pk, index=index)
    row = dialogue(pk, index)
    if row.ending:
        return HttpResponse(headers={"HX-Refresh": "true"})
    return render(request, "simulation/_turns.html", talk(row))


def talk(row: SimulatedDialogue) -> dict[str, object]:
    turns = list(row.turns.order_by("number"))
    return {
        "row": row,
        "experiment": row.experiment,
        "turns": [{"number": turn.number, "role": turn.side, "content": turn.text} for turn in turns if turn.text],
        "details": turns,
        "ending": _(ENDINGS[row.ending]) if row.ending else "",
        "problems": PROBLEMS,
        "grows": not row.ending and row.experiment.state == "running",
        "retrieves": any(turn.retrieved for turn in turns),
        "thinks": any(turn.thought for turn in turns),
    }


def build_progress_context(experiment: Experiment) -> dict[str, object]:
    progress = queries.progress(experiment)
    return {
        "experiment": experiment,
        "progress": progress,
        "pace": pace(progress),
        "spent": queries.load_spending(experiment),
        "latest": queries.latest(experiment),
    }


def pace(progress: queries.Progress) -> str:
    """How fast it goes, in words; empty while nothing moves."""
    if not progress.rate:
        return ""
    if progress.rate >= 2:
        return _("{n:.0f} turns a second").format(n=progress.rate)
    return _("{n:.0f} turns a minute").format(n=60 * progress.rate)


def facts(experiment: Experiment) -> list[tuple[str, str]]:
    """What it was asked with."""
    grid = experiment.grid
    user = experiment.user_agent
    most = _("{single}, of several domains {multi}").format(
        single=experiment.single_turns, multi=experiment.multi_turns
    )
    return [
        (_("User agent"), f"{user.provider} {user.model} ({parameters_in_words(user)})"),
        (_("User agent is told"), _(USER_INFORMATION[experiment.user_information].name)),
        (_("Strategy"), experiment.strategy.replace("_", " ")),
        *(
            (_("Assistant"), f"{one.provider} {one.model} ({parameters_in_words(one)})")
            for one in experiment.assistants.all()
        ),
        (_("Conditions"), ", ".join(experiment.conditions)),
        (_("Users"), f"{len(grid.get('users', []))} ({grid.get('asked_users', '')})"),
        (_("Tasks"), f"{len(grid.get('tasks', []))} ({grid.get('asked_tasks', '')})"),
        (_("Left out"), describe_left_out(grid.get("masked", 0), grid.get("absent"))),
        (_("Most exchanges") if experiment.limit_unit == EXCHANGES else _("Most messages"), most),
        (_("Passages retrieved"), str(experiment.passages)),
        *([(_("Embeddings"), experiment.embedder.model)] if experiment.embedder else []),
        (_("Seed"), str(experiment.seed)),
        (_("Budget"), format_dollars(experiment.budget_usd) if experiment.budget_usd else _("none")),
        (_("Code"), experiment.code_version),
        (_("Hash of the input"), experiment.input_hash[:16]),
    ]


def list_prompts(experiment: Experiment) -> list[dict[str, object]]:
    """The text of each role that speaks in it, with its hash, and whose words these are."""
    used = ["user_opening", "user_later", *dict.fromkeys(filter(None, map(assistant_role, experiment.conditions)))]
    texts = {role: find_text(role, experiment.user_information, experiment.prompts) for role in used if role}
    return [
        {
            "name": _(ROLES[role].name),
            "text": words,
            "note": f"{_('replaced') if role in experiment.prompts else _('Concord’s own')}, {digest(words)}",
        }
        for role, words in texts.items()
    ]


def describe_left_out(masked: int, absent: int | None) -> str:
    """Pairs of user and task that are not played. Older experiments did not count those without a scenario."""
    if absent is None:
        said = _("{masked:,} pairs masked by interests; pairs without a scenario were not counted")
        return said.format(masked=masked)
    said = _("{masked:,} pairs masked by interests; {absent:,} without a scenario")
    return said.format(masked=masked, absent=absent)


def list_agents(experiment: Experiment) -> list[Agent]:
    return [experiment.user_agent, *experiment.assistants.all()]


def estimate_facts(estimate: Estimate) -> list[tuple[str, str]]:
    """What an experiment would take, in words."""
    about, unknown = _("about {amount}"), _("not known")
    price = unknown if estimate.usd is None else about.format(amount=format_dollars(estimate.usd))
    without_goal = ngettext("{n:,} task", "{n:,} tasks", estimate.without_goal).format(n=estimate.without_goal)
    return [
        (_("Dialogues"), f"{estimate.dialogues:,}"),
        (_("Left out"), describe_left_out(estimate.masked, estimate.absent)),
        *([(_("Without a goal"), without_goal)] if estimate.without_goal else []),
        (_("Turns"), about.format(amount=f"{estimate.turns:,}")),
        (_("Input tokens"), about.format(amount=f"{estimate.input_tokens:,}")),
        (_("Output tokens"), about.format(amount=f"{estimate.output_tokens:,}")),
        (_("Price"), price),
        (_("Time"), unknown if estimate.seconds is None else duration(estimate.seconds)),
    ]


def find_experiment(pk: int) -> Experiment:
    return get_object_or_404(Experiment.objects.select_related("user_agent", "created_by", "embedder"), pk=pk)


def dialogue(pk: int, index: int) -> SimulatedDialogue:
    rows = SimulatedDialogue.objects.select_related(
        "experiment", "scenario__profile", "scenario__task", "assistant", "dialogue"
    )
    return get_object_or_404(rows, experiment=pk, index=index)
