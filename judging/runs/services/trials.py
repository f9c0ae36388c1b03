"""A judge tried on a few items before it is made: what it is asked, what it answers, and how long that takes.

Nothing of it is stored but that it was done: the items are sent to the model.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotation.studies.models.studies import Criterion, Study
from core.accounts.models.users import User
from core.audit.log import audit_transaction, audited
from core.errors import InputError
from core.jobs.backoff import PermanentError, TransientError
from judging.judges import prompts
from judging.judges.models import Judge
from judging.judges.parsing import Verdict
from judging.judges.prompts import TemplateError, templates
from judging.judges.providers.base import Provider, Reply
from judging.judges.providers.requests import Prompt
from judging.judges.queries import study_items
from judging.judges.services import judges
from judging.runs.queries.judgments import reason_in_words
from judging.runs.queries.requests import Frame, Pending, build_requests
from judging.runs.services.judgment_writer import parse_reply

ITEMS = 3
SECONDS = 60
"""How long a page waits for the replies of a trial."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One item: its prompt, if it is asked in one, the verdict or why there is none, and the raw reply."""

    item: str
    criterion: str
    prompt: Prompt | None
    label: str = ""
    explanation: str = ""
    problem: str = ""
    text: str = ""
    seconds: float | None = None


@audited("judge.try", on="study", says=("judge.provider", "judge.model"), prepares=True)
def try_out(*, by: User | None, judge: Judge, study: Study, criterion: Criterion | None = None) -> list[Trial]:  # noqa: ARG001
    """Ask the judge, which may be unsaved, one criterion of a study's first items. Held-out items are left out.

    Raises InputError with the field that stands in the way.
    """
    asked = build_trial_requests(judge, study, criterion)
    provider = judges.build_provider(judge)
    if problems := provider.check([asked[0].request.criterion]):
        raise InputError("{judge} cannot run: {problems}.", field="provider", judge=judge, problems="; ".join(problems))
    with ThreadPoolExecutor(1) as thread:  # the caller may be in a loop itself
        found = thread.submit(asyncio.run, ask_all(provider, asked)).result()
    with audit_transaction():
        return found


def build_trial_requests(judge: Judge, study: Study, criterion: Criterion | None = None) -> list[Pending]:
    """What the first items would be asked; of criteria of each response, about the first one."""
    held_out = study_items.positions(study)
    there = study.items.exclude(position__in=held_out).order_by("position")
    items = list(there.values_list("pk", flat=True)[:ITEMS])
    criterion = criterion or study.criteria.filter(is_asked=True).order_by("position").first()
    if not items or criterion is None:
        raise InputError("{study} has no items or no criteria yet.", field="study", study=study)
    own = templates.find_template(criterion.key, **judge.parameters)
    if own and (wrong := prompts.problems(own, study.kind)):
        raise InputError(" ".join(wrong), field="template")
    needs_prompt = judges.build_provider(judge).needs_prompt
    frame = Frame.build_trial(judge, study, criterion)
    try:
        return [one for one in build_requests(frame, items, with_prompt=needs_prompt) if one.turn <= 1]
    except TemplateError as error:
        raise InputError(str(error), field="template") from error


async def ask_all(provider: Provider, asked: Sequence[Pending]) -> list[Trial]:
    """Ask about all items at once, each for at most SECONDS."""
    try:
        return list(await asyncio.gather(*(ask(provider, one) for one in asked)))
    finally:
        await provider.aclose()


async def ask(provider: Provider, asked: Pending) -> Trial:
    began, request = time.monotonic(), asked.request
    about = (request.item, request.criterion.name, request.prompt)
    try:
        reply = await asyncio.wait_for(provider.judge(request), SECONDS)
    except TimeoutError:
        return Trial(*about, problem=_("no reply within {n} s").format(n=SECONDS))
    except (PermanentError, TransientError) as error:
        return Trial(*about, problem=str(error), seconds=time.monotonic() - began)
    return read_trial(asked, reply, time.monotonic() - began)


def read_trial(asked: Pending, reply: Reply, seconds: float) -> Trial:
    request, verdict = asked.request, parse_reply(asked, reply)
    labels = {category.value: category.label for category in request.criterion.categories}
    label, problem = (
        (labels.get(verdict.value, verdict.value), "")
        if isinstance(verdict, Verdict)
        else ("", reason_in_words(verdict.reason))
    )
    return Trial(
        request.item,
        request.criterion.name,
        request.prompt,
        label=label,
        explanation=verdict.explanation,
        problem=problem,
        text=reply.text,
        seconds=seconds,
    )


@dataclass(frozen=True, slots=True)
class Preview:
    """A prompt, the item that it asks about, and about how many tokens it has."""

    prompt: Prompt
    item: str
    criterion: str
    tokens: int


def preview(judge: Judge, study: Study) -> Preview:
    """The first question of a run on the study. InputError says why the template cannot ask it."""
    item = study.items.order_by("position").values_list("pk", flat=True).first()
    criteria = list(study.criteria.all()[:1])
    if item is None or not criteria:
        raise InputError("{study} has no items or no criteria yet.", field="study", study=study)
    provider = judges.build_provider(judge)
    if not provider.needs_prompt:
        raise InputError("This judge is not asked in words.", field="provider")
    own = templates.find_template(criteria[0].key, **judge.parameters)
    if own and (wrong := prompts.problems(own, study.kind)):
        raise InputError(" ".join(wrong), field="template")
    try:
        frame = Frame.build_trial(judge, study, criteria[0])
        request = build_requests(frame, [item], with_prompt=True)[0].request
    except TemplateError as error:
        raise InputError(str(error), field="template") from error
    assert request.prompt is not None
    return Preview(request.prompt, request.item, request.criterion.name, provider.estimate_tokens(request).tokens)
