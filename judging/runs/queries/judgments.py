"""One judgment with all that led to it, and what people said of the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db.models import Q, QuerySet

from annotation.studies.models.labels import Annotation
from judging.judges.prompts import evaluation
from judging.judges.providers.base import JudgeRequest, PairContent, Prompt
from judging.judges.queries.contents import prompt_for
from judging.runs.models.runs import Judgment
from judging.runs.queries.requests import Frame, asked


def whole() -> QuerySet[Judgment]:
    """Judgments with what their page shows."""
    return Judgment.objects.select_related(
        "run__judge", "run__study", "criterion", "item__dialogue", "item__pair", "item__study"
    )


def request_of(judgment: Judgment) -> JudgeRequest | None:
    """What the judge would be asked today; None where it can no longer be asked that."""
    frame = Frame.of(judgment.run, criteria=[judgment.criterion])
    found = [
        one.request
        for one in asked(frame, [judgment.item_id], with_prompt=True)
        if (one.repeat, one.order, one.turn, one.alteration)
        == (judgment.repeat, judgment.order, judgment.turn, judgment.alteration)
    ]
    return to_shown(frame, found[0], judgment.details) if found else None


def to_shown(frame: Frame, request: JudgeRequest, details: Mapping[str, Any]) -> JudgeRequest:
    """The request with the memories that were found for it, as the judgment keeps them."""
    if frame.setting is None or not isinstance(request.content, PairContent):
        return request
    content = evaluation.shown(request.content, details)
    prompt = prompt_for(frame.judge, request.criterion, content, frame.setting)
    return replace(request, content=content, prompt=prompt)


def prompt_of(judgment: Judgment) -> Prompt | None:
    """The prompt, made again from the item; None for a judge that was asked in no words."""
    if "prompt" not in judgment.details:
        return None
    request = request_of(judgment)
    return request.prompt if request else None


def is_same_prompt(judgment: Judgment, prompt: Prompt) -> bool:
    """Whether neither the item nor the templates have changed since."""
    return not judgment.is_stale and bool(judgment.details["prompt"] == prompt.version)


def others(judgment: Judgment) -> QuerySet[Judgment]:
    """What this judge and others said of the same item, or turn of it, and criterion; and in its own run of copies."""
    return (
        Judgment.objects.filter(Q(alteration="") | Q(run=judgment.run_id))
        .filter(item=judgment.item_id, criterion=judgment.criterion_id, turn=judgment.turn)
        .filter(run__evaluation=judgment.run.evaluation_id)
        .exclude(pk=judgment.pk)
        .select_related("run__judge")
        .order_by("run__judge__name", "run_id", "alteration", "repeat", "order")
    )


def people_on(judgment: Judgment) -> QuerySet[Annotation]:
    """What people said of the same item, or of the same turn where they are asked about turns."""
    return (
        Annotation.objects.counting()
        .filter(assignment__item=judgment.item_id, criterion=judgment.criterion_id, turn=judgment.turn)
        .select_related("assignment__annotator")
        .order_by("assignment__annotator__username")
    )
