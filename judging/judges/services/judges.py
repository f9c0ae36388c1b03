"""Judges: a name, and behind each version of it a provider, a model and parameters that never change."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.utils.translation import gettext as _, gettext_noop

from annotation.studies.models.studies import Criterion
from core.accounts.models.projects import Project, choose_project
from core.accounts.models.users import User
from core.audit.log import audit_transaction, audited
from core.errors import InputError
from core.jobs.backoff import PermanentError, TransientError
from core.names import check_line, check_name
from core.options.model import check_options
from judging.judges import prompts, providers
from judging.judges.models import IMPORTED, PANEL, RECALIBRATED, Judge, Price
from judging.judges.options import NewPrice
from judging.judges.prompts import templates
from judging.judges.providers.base import BatchProvider, Provider
from judging.judges.providers.keys import ENVIRONMENT, Keyring
from judging.judges.queries.contents import build_spec
from judging.judges.services import examples
from judging.judges.services.keys import load_keyring

LIST_SECONDS = 20
"""How long a page waits for a list of models."""

NO_BATCHES = gettext_noop("A judge of provider {provider} takes no batches.")


@audited("judge.define", says=("provider", "model"), prepares=True)
def define(
    *,
    by: User | None,
    name: str,
    provider: str,
    model: str = "",
    parameters: Mapping[str, object] | None = None,
    project: Project | None = None,
) -> Judge:
    """The judge of this name with exactly these settings: its latest version if they are the same, else a new one.

    It is of `project`, or goes where new things of `by` go.
    """
    judge = build_judge(by=by, name=name, provider=provider, model=model, parameters=parameters, project=project)
    if judge._state.adding:
        judge.created_by = by
        try:
            with audit_transaction() as done:
                judge.save()
                done.result = judge
        except IntegrityError as error:
            raise InputError(
                "Somebody else changed the judge {name!r} just now: try again.", field="name", name=name
            ) from error
    return judge


def build_judge(
    *,
    by: User | None = None,
    name: str,
    provider: str,
    model: str = "",
    parameters: Mapping[str, object] | None = None,
    project: Project | None = None,
) -> Judge:
    """The judge that `define` would give: the latest version if it is the same, else a new one that is not saved."""
    name, model = name.strip(), model.strip()
    check_names(name, model)
    given = dict(parameters or {})
    takes = check_provider(provider, model, given).Parameters.model_fields
    check_templates(given)
    latest = find_latest(name, by=by, project=project)
    if "temperature" in takes and takes["temperature"].default is None and has_default_temperature(latest):
        given.setdefault("temperature", 0.0)
    if latest and (latest.provider, latest.model, latest.parameters) == (provider, model, given):
        return latest
    check_examples(given, seen_by=by)
    made = Judge(name=name, provider=provider, model=model, parameters=given)
    if latest is None:
        made.project = choose_project(by, project)
    else:
        made.version, made.daily_budget_usd = latest.version + 1, latest.daily_budget_usd
        made.project_id = latest.project_id
    return made


def find_latest(name: str, *, by: User | None = None, project: Project | None = None) -> Judge | None:
    """The latest version of a judge, if there is one. All versions are of one project: elsewhere the name is taken.

    It is that of the study at hand, else where new things of `by` go; a command without either is not asked.
    """
    latest = Judge.objects.filter(name=name).order_by("-version").first()
    if latest is None or (project is None and by is None):
        return latest
    if latest.project_id != choose_project(by, project).pk:
        raise InputError("The name {name!r} is taken.", field="name", name=name)
    return latest


@audited("judge.set_daily_budget", on="judge", says=("usd",))
def set_daily_budget(*, by: User | None, judge: Judge, usd: Decimal | None) -> None:  # noqa: ARG001
    """What all versions of the judge together may cost in a day (UTC). None: as much as its runs may."""
    if usd is not None and not usd > 0:
        raise InputError("A budget is above 0; leave it empty for none.", field="daily_budget_usd")
    Judge.objects.filter(name=judge.name).update(daily_budget_usd=usd)


@audited("judge.delete", on="judge")
def delete(*, by: User | None, judge: Judge) -> None:  # noqa: ARG001
    """Remove a version that never ran. One with runs stays, since their judgments are its."""
    try:
        with transaction.atomic():
            judge.delete()
    except (ProtectedError, IntegrityError) as error:  # the latter where a run was begun at the same moment
        running = judge.runs.filter(finished_at__isnull=True, stopped_at__isnull=True).count()
        now = _(", {n} of them still going: stop it there first if it should not go on").format(n=running)
        raise InputError(
            "{judge} has {count} runs{now}. Their judgments belong to it, so it stays.",
            field="judge",
            judge=judge,
            count=judge.runs.count(),
            now=now if running else "",
        ) from error


def find(name: str, *, project: Project | None = None) -> Judge:
    """The latest version of the judge called `name`, of a project where one is named."""
    there = Judge.objects.filter(project=project) if project else Judge.objects.all()
    judge = there.filter(name=name).order_by("-version").first()
    if judge is None:
        known = ", ".join(there.order_by("name").values_list("name", flat=True).distinct()) or _("none yet")
        raise InputError("There is no judge {name!r}; there are: {known}.", field="judge", name=name, known=known)
    return judge


def check_names(name: str, model: str) -> None:
    check_name(name, what="A judge")
    if len(model) > 120:
        raise InputError("A model's name has at most 120 characters.", field="model")
    check_line(model, field="model")


def has_default_temperature(latest: Judge | None) -> bool:
    """Whether temperature 0, as published (arXiv 2506.09902), is given to a judge for which none is named.

    Not to one that was made before this default: the same settings shall stay the same judge.
    """
    return latest is None or "temperature" in latest.parameters


def check_templates(parameters: Mapping[str, object]) -> None:
    """A template must fit one kind of item: hold it, and no placeholder that it does not have."""
    for field, criterion, template in list_own_templates(parameters):
        if template and not prompts.kinds(template):
            pair = "response_a" in template or "response_b" in template
            wrong = " ".join(prompts.problems(template, "pair" if pair else "dialogue"))
            raise InputError(f"{criterion}: {wrong}" if criterion else wrong, field=field)


def list_own_templates(parameters: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Parameter, criterion (empty for all) and text of each template that the judge brings."""
    named = [("templates", key, text) for key, text in parameters.get("templates", {}).items()]
    return [("template", "", parameters.get("template", "")), *named]


def check_examples(parameters: Mapping[str, Any], *, seen_by: User | None = None) -> None:
    """Examples are settled items of a development part, and the template has a place for them."""
    if given := parameters.get("examples"):
        for key in {one["criterion"] for one in given}:
            if (template := templates.find_template(key, **parameters)) and not prompts.shows_examples(template):
                raise InputError(prompts.NO_EXAMPLES, field="template")
        examples.check(given, seen_by=seen_by)


def check_template_fits(judge: Judge, criteria: Sequence[Criterion], *, every_turn: bool = False) -> None:
    """The judge's templates, if it brings any, must fit the criteria's kind; one for several must tell them apart."""
    of_all = judge.parameters.get("template", "")
    used = {one.key: template for one in criteria if (template := templates.find_template(one.key, **judge.parameters))}
    for template in used.values():
        if wrong := prompts.problems(template, criteria[0].study.kind):
            raise InputError("{judge} cannot run here. {wrong}", field="judge", judge=judge, wrong=" ".join(wrong))
        if every_turn and not prompts.names_turn(template):
            raise InputError("{judge} cannot run here. {no_turn}", field="judge", judge=judge, no_turn=prompts.NO_TURN)
    if list(used.values()).count(of_all) > 1 and not prompts.names_criterion(of_all):
        raise InputError(
            "The template of {judge} asks the same whatever the criterion: choose one criterion, or put "
            "$criterion and $guideline into the template.",
            field="criteria",
            judge=judge,
        )


def check_provider(
    provider: str, model: str, parameters: Mapping[str, object], keys: Keyring = ENVIRONMENT
) -> Provider:
    try:
        return providers.create(provider, model=model, parameters=parameters, keys=keys)
    except PermanentError as error:
        raise InputError(str(error), field="parameters" if provider in providers.REGISTRY else "provider") from error


def build_provider(judge: Judge) -> Provider:
    """The judge's provider, ready for use. PermanentError if its settings do not fit this version of Concord."""
    return providers.create(judge.provider, model=judge.model, parameters=judge.parameters, keys=load_keys(judge))


@check_options(NewPrice)
@audited("price.enter", says=("provider", "model", "valid_from", "columns"))
def enter_price(*, by: User | None, provider: str, model: str, valid_from: date, **columns: object) -> Price:
    """What a model costs from a day on. Entered twice for one day, the later entry holds."""
    if provider not in providers.REGISTRY:
        raise InputError("There is no provider {provider!r}.", field="provider", provider=provider)
    made, _ = Price.objects.update_or_create(
        provider=provider, model=model, valid_from=valid_from, defaults={**columns, "created_by": by}
    )
    return made


@audited("price.remove", on="price")
def remove_price(*, by: User | None, price: Price) -> None:  # noqa: ARG001
    """Take an entry back. What was reckoned with it stays as it was."""
    price.delete()


def load_keys(judge: Judge) -> Keyring:
    """Those of the judge's project."""
    return load_keyring(judge.project_id)


def check(judge: Judge, criteria: Sequence[Criterion], *, every_turn: bool = False) -> None:
    """Raise InputError if something stands in the way of judging these criteria: no key, no model, no rule."""
    check_runs_here(judge)
    provider = check_provider(judge.provider, judge.model, judge.parameters, load_keys(judge))
    check_template_fits(judge, criteria, every_turn=every_turn)
    if provider.compares and (of_one := next((one.name for one in criteria if one.of_responses), "")):
        raise InputError(
            "{judge} compares responses, and {of_one} is asked of each alone.",
            field="judge",
            judge=judge,
            of_one=of_one,
        )
    if problems := provider.check([build_spec(criterion) for criterion in criteria]):
        raise InputError("{judge} cannot run: {problems}.", field="judge", judge=judge, problems="; ".join(problems))


def check_runs_here(judge: Judge) -> None:
    """Raise InputError for a judge whose judgments come from elsewhere: from a file, its members, or a map."""
    if judge.provider == IMPORTED:
        raise InputError("The judgments of {judge} were imported; it cannot be run here.", field="judge", judge=judge)
    if judge.provider == PANEL:
        raise InputError(
            "{judge} is a panel: let its members run, and combine their runs again.", field="judge", judge=judge
        )
    if judge.provider == RECALIBRATED:
        raise InputError(
            "{judge} is {parameters} recalibrated: let that run.",
            field="judge",
            judge=judge,
            parameters=judge.parameters["of"],
        )


def check_bulk(judge: Judge) -> None:
    """Raise InputError if the judge cannot be asked in bulk."""
    provider = check_provider(judge.provider, judge.model, judge.parameters, load_keys(judge))
    if not isinstance(provider, BatchProvider):
        raise InputError(NO_BATCHES, field="in_bulk", provider=judge.provider)
    if problem := provider.no_batches():
        raise InputError(problem, field="in_bulk")


def test(judge: Judge) -> str:
    """Ask for all that a run would need: settings, key, an address that answers, a known model. Costs nothing.

    Returns what is known then, in a sentence. InputError says what is missing.
    """
    provider = check_provider(judge.provider, judge.model, judge.parameters, load_keys(judge))
    if problems := provider.check([]):
        raise InputError("{judge} cannot run: {problems}.", field="provider", judge=judge, problems="; ".join(problems))
    try:
        probe(judge)
    except InputError as error:
        raise InputError(error.message, field="provider") from error
    return provider.probed


def list_models(judge: Judge) -> tuple[str, ...]:
    """Ask the other side which models it has. InputError says why it does not tell."""
    provider = check_provider(judge.provider, judge.model, judge.parameters, load_keys(judge))

    async def ask() -> tuple[str, ...]:
        try:
            return await asyncio.wait_for(provider.list_models(), LIST_SECONDS)
        finally:
            await provider.aclose()

    try:
        with ThreadPoolExecutor(1) as thread:  # the caller may be in a loop itself
            return thread.submit(asyncio.run, ask()).result()
    except TimeoutError as error:
        raise InputError("No answer within {list_seconds} s.", field="model", list_seconds=LIST_SECONDS) from error
    except (PermanentError, TransientError) as error:
        raise InputError(str(error), field="model") from error


def probe(judge: Judge) -> None:
    """Ask the other side whether it would answer, before anything is spent. InputError says what it objects to."""
    check_runs_here(judge)
    if problems := probe_provider(build_provider(judge)):
        raise InputError("{judge} cannot run: {problems}.", field="judge", judge=judge, problems="; ".join(problems))


def probe_provider(provider: Provider) -> list[str]:
    """What the other side objects to, in sentences. The provider is closed."""
    with ThreadPoolExecutor(1) as thread:  # the caller may be in a loop itself, as in a notebook
        return thread.submit(asyncio.run, objections(provider)).result()


async def objections(provider: Provider) -> list[str]:
    try:
        return await provider.probe()
    except (PermanentError, TransientError) as error:
        return [str(error)]
    finally:
        await provider.aclose()
