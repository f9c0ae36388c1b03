"""The researcher's pages of one judge: its versions beside each other, its limits, what models cost, and keys."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation.studies.criteria import TEMPLATES
from core.accounts.access import get_account, owner_required, researcher_required
from core.accounts.models.projects import Project
from core.accounts.queries import owns
from core.errors import InputError
from judging.judges import pricing
from judging.judges.models import Judge, ModelKey, Price
from judging.judges.pricing import Rate, format_dollars
from judging.judges.prompts import templates
from judging.judges.providers import REGISTRY
from judging.judges.queries import prices as rates
from judging.judges.services import judges, keys, quotas
from judging.runs import parameter_fields
from judging.runs.forms import provider_choices
from judging.runs.judge_forms import JudgeForm, KeyForm, LimitsForm, PriceForm
from judging.runs.models.runs import JudgeRun
from judging.runs.queries import runs as queries, spending


@researcher_required
def judge_create(request: HttpRequest) -> HttpResponse:
    """Choose a provider, then describe and try the judge."""
    provider = read_provider(request)
    if not provider:
        return render(request, "judging/judge_create.html", {"providers": list_providers("")})
    form = JudgeForm(request.POST or None, by=get_account(request), provider=provider)
    shown = preview_judge(request, form)
    if not is_preview(request) and form.is_valid() and (judge := form.save(get_account(request))):
        messages.success(request, _("{judge} is made. Let it rate the items of a study.").format(judge=judge))
        return redirect("judge_detail", pk=judge.pk)
    context = {"form": form, "providers": list_providers(provider), **shown}
    return render(request, "judging/judge_create.html", context)


@researcher_required
def judge_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """A version of a judge beside another one, its runs, and the form that makes the next version."""
    judge = get_object_or_404(Judge.objects.select_related("created_by"), pk=pk)
    form, shown = None, {}
    if judge.is_runnable:
        provider = read_provider(request, judge)
        initial = load_settings(judge, provider)
        form = JudgeForm(request.POST or None, by=get_account(request), provider=provider, judge=judge, initial=initial)
        shown = preview_judge(request, form) | {"providers": list_providers(provider)}
        if not is_preview(request) and form.is_valid() and (saved := form.save(get_account(request))):
            if saved == judge:
                messages.info(request, _("Nothing was changed, so there is no new version."))
            return redirect("judge_detail", pk=saved.pk)
    versions = list(queries.judges().filter(name=judge.name))
    other = find_compared_version(request.GET.get("with", ""), judge, versions)
    context = {
        "judge": judge,
        "form": form,
        **shown,
        "versions": versions,
        "other": other,
        "comparison": compare_settings(judge, other) if other else [],
        "facts": facts(judge),
        "prompts": list_prompts(judge),
        "limits": LimitsForm(initial=load_limits(judge)),
        "runs": queries.list_runs(JudgeRun.objects.filter(judge=judge)),
    }
    return render(request, "judging/judge_detail.html", context)


@researcher_required
@require_POST
def judge_limits(request: HttpRequest, pk: int) -> HttpResponse:
    judge = get_object_or_404(Judge, pk=pk)
    form = LimitsForm(request.POST)
    if form.is_valid() and form.save(get_account(request), judge):
        messages.success(request, _("The limits hold from now on, also for runs that are going on."))
    else:
        for field, problems in form.errors.items():
            label = _(str(form.fields[field].label)) if field in form.fields else ""
            messages.error(request, f"{label}: {problems[0]}")
    return redirect("judge_detail", pk=pk)


@researcher_required
@require_POST
def judge_delete(request: HttpRequest, pk: int) -> HttpResponse:
    judge = get_object_or_404(Judge, pk=pk)
    try:
        judges.delete(by=get_account(request), judge=judge)
    except InputError as error:
        messages.error(request, error.message)
        return redirect("judge_detail", pk=pk)
    messages.success(request, _("{judge} is gone. It had never run.").format(judge=judge))
    return redirect("judge_list")


@researcher_required
def price_list(request: HttpRequest) -> HttpResponse:
    """What models cost, as published and as entered, and a form for what is missing."""
    form = PriceForm(request.POST or None, initial={"valid_from": timezone.now().date(), **request.GET.dict()})
    if form.is_valid() and (price := form.save(get_account(request))):
        said = _("{model} costs that from {day} on.")
        messages.success(request, said.format(model=price.model, day=f"{price.valid_from:%Y-%m-%d}"))
        return redirect("price_list")
    context = {
        "form": form,
        "entered": Price.objects.select_related("created_by"),
        "published": sort_prices(pricing.load_published()),
    }
    return render(request, "judging/price_list.html", context)


@researcher_required
@require_POST
def price_remove(request: HttpRequest, pk: int) -> HttpResponse:
    judges.remove_price(by=get_account(request), price=get_object_or_404(Price, pk=pk))
    messages.success(request, _("The entry is gone. What was reckoned with it stays as it was."))
    return redirect("price_list")


def sort_prices(published: Iterable[Rate]) -> list[Rate]:
    """A row for each price: those of long prompts after those of others."""
    return [one for rate in published for one in (rate, rate.longer) if one]


def is_preview(request: HttpRequest) -> bool:
    """Whether the form was sent to look at the judge, and not to save it."""
    return any(name in request.POST for name in LOOKS)


def preview_judge(request: HttpRequest, form: JudgeForm) -> dict[str, object]:
    """What was asked for, where the form is right: the prompt of a real item, or whether the judge would answer."""
    shown: dict[str, object] = dict.fromkeys(("preview", "tested", "models", "trials"))
    if "models" in request.POST and "name" in form.fields:
        form.fields["name"].required = False
    if is_preview(request) and form.is_valid():
        looks = {"preview": form.preview, "test": form.test, "models": form.list_models, "try": form.try_out}
        shown |= {LOOKS[name]: look() for name, look in looks.items() if name in request.POST}
    return shown


LOOKS = {"preview": "preview", "test": "tested", "models": "models", "try": "trials"}
"""Buttons that look at a judge and save nothing, and what they show."""


def read_provider(request: HttpRequest, judge: Judge | None = None) -> str:
    """The provider that the form is for; empty before one is chosen."""
    asked = request.POST.get("provider") or request.GET.get("provider", "")
    return asked if asked in REGISTRY else judge.provider if judge else ""


def list_providers(chosen: str) -> list[tuple[str, str, str, bool]]:
    """Key, name, what it is, and whether it is the one that was chosen."""
    parts = [(key, *label.partition(": ")[::2]) for key, label in provider_choices()]
    return [(key, name, about, key == chosen) for key, name, about in parts]


def load_settings(judge: Judge, provider: str) -> dict[str, object]:
    """The form's fields. Templates and address, which are parameters, have fields of their own; examples stay."""
    own = {name: judge.parameters.get(name, "") for name in ("template", "templates", "base_url")}
    others = {name: value for name, value in judge.parameters.items() if name not in (*own, "examples")}
    fields, rest = parameter_fields.to_initial(provider, others)
    return {"provider": provider, "model": judge.model, "parameters": rest or None, **own, **fields}


def load_limits(judge: Judge) -> dict[str, object]:
    quota = quotas.find_quota(judge.provider, judge.model)
    return {
        "daily_budget_usd": spending.daily_budget(judge.name),
        "requests_per_minute": quota.requests_per_minute if quota else None,
        "tokens_per_minute": quota.tokens_per_minute if quota else None,
    }


def facts(judge: Judge) -> list[tuple[str, str]]:
    rate = rates.find_rate(judge)
    made = f"{judge.created_at:%Y-%m-%d %H:%M} UTC"
    if judge.created_by:
        made = _("{when} by {person}").format(when=made, person=judge.created_by)
    return [
        (_("Kind"), _(judge.kind)),
        (_("Provider"), judge.provider),
        (_("Model"), judge.model or _("none")),
        *((name, value) for name, value in judge.settings.items() if not name.startswith(WORDS)),
        (_("Price of a million tokens"), describe_rate(rate)),
        (_("Spent today, all versions"), format_dollars(spending.today(judge.name))),
        (_("Made"), made),
    ]


def describe_rate(rate: Rate | None) -> str:
    if rate is None:
        return _("not known")
    if rate.is_free:
        return _("nothing")
    read, written = format_dollars(rate.input), format_dollars(rate.output)
    return _("{read} read, {written} written").format(read=read, written=written)


WORDS = ("template", "system")
"""Settings that are texts, which stand under Prompts."""


def list_prompts(judge: Judge) -> list[dict[str, object]]:
    """The text that asks for each criterion, with its hash, and whose words it is; none for a judge asked in none."""
    if not judge.is_runnable or not judges.build_provider(judge).needs_prompt:
        return []
    named = judge.parameters.get("templates", {})
    kinds = {key: one.kind for key, one in TEMPLATES.items()} | dict.fromkeys(
        named.keys() - TEMPLATES.keys(), "dialogue"
    )
    instruction = judge.parameters.get("system")
    found = [(_("Instruction"), templates.system_text(instruction), instruction is not None)]
    for key, kind in kinds.items():
        own = templates.find_template(key, **judge.parameters)
        name = TEMPLATES[key].name if key in TEMPLATES else key
        found.append((name, own or templates.template(kind, key), bool(own)))
    replaced, ours = _("replaced, {digest}"), _("Concord’s own, {digest}")
    return [
        {"name": name, "text": text, "note": (replaced if own else ours).format(digest=templates.digest(text))}
        for name, text, own in found
    ]


def find_compared_version(wanted: str, judge: Judge, versions: list[Judge]) -> Judge | None:
    """The version to compare with: the one asked for, or else the one before."""
    others = [version for version in versions if version.pk != judge.pk]
    asked = [version for version in others if str(version.version) == wanted]
    before = [version for version in others if version.version < judge.version]
    return next(iter([*asked, *before, *others]), None)


def compare_settings(judge: Judge, other: Judge) -> list[dict[str, object]]:
    """Each setting of the two, and whether it differs."""
    mine, theirs = flat(judge), flat(other)
    names = dict.fromkeys([*mine, *theirs])
    return [
        {"name": name, "this": mine.get(name), "other": theirs.get(name), "differs": mine.get(name) != theirs.get(name)}
        for name in names
    ]


def flat(judge: Judge) -> dict[str, str]:
    return {"provider": judge.provider, "model": judge.model, **judge.settings}


@researcher_required
@require_safe
def key_list(request: HttpRequest, slug: str) -> HttpResponse:
    """For which addresses there are keys. No key is ever shown."""
    return render_keys(request, get_object_or_404(Project, slug=slug))


@owner_required
@require_POST
def key_add(request: HttpRequest, slug: str) -> HttpResponse:
    """Enter a key, or another one for an address that has one."""
    project = get_object_or_404(Project, slug=slug)
    form = KeyForm(request.POST)
    if form.is_valid() and (made := form.save(get_account(request), project)):
        messages.success(request, _("There is a key for {origin} now.").format(origin=made.origin))
        return redirect("key_list", slug=slug)
    return render_keys(request, project, form)


@owner_required
@require_POST
def key_remove(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Forget a key."""
    key = get_object_or_404(ModelKey, project__slug=slug, pk=pk)
    keys.drop(by=get_account(request), key=key)
    said = _("The key for {origin} is forgotten here. It is valid there until it is revoked.")
    messages.success(request, said.format(origin=key.origin))
    return redirect("key_list", slug=slug)


def render_keys(request: HttpRequest, project: Project, form: KeyForm | None = None) -> HttpResponse:
    is_owner = owns(get_account(request), project)
    rows = list(ModelKey.objects.filter(project=project).select_related("created_by"))
    context = {
        "project": project,
        "rows": [(row, keys.is_readable(row)) for row in rows],
        "owns": is_owner,
        "form": (form or KeyForm()) if is_owner else None,
    }
    return render(request, "judging/key_list.html", context)
