"""One judgment with all that led to it, and what people said of the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db.models import Q, QuerySet

from annotation.studies.models.labels import Annotation
from judging.judges.prompts import evaluation
from judging.judges.providers.requests import JudgeRequest, PairContent, Prompt
from judging.judges.queries.contents import build_prompt
from judging.runs.models.runs import Judgment
from judging.runs.queries.requests import Frame, build_requests


def whole() -> QuerySet[Judgment]:
    """Judgments with what their page shows."""
    return Judgment.objects.select_related(
        "run__judge", "run__study", "criterion", "item__dialogue", "item__pair", "item__study"
    )


def rebuild_request(judgment: Judgment) -> JudgeRequest | None:
    """What the judge would be asked today; None where it can no longer be asked that."""
    frame = Frame.from_run(judgment.run, criteria=[judgment.criterion])
    found = [
        one.request
        for one in build_requests(frame, [judgment.item_id], with_prompt=True)
        if (one.repeat, one.order, one.turn, one.alteration)
        == (judgment.repeat, judgment.order, judgment.turn, judgment.alteration)
    ]
    return to_shown(frame, found[0], judgment.details) if found else None


def to_shown(frame: Frame, request: JudgeRequest, details: Mapping[str, Any]) -> JudgeRequest:
    """The request with the memories that were found for it, as the judgment keeps them."""
    if frame.setting is None or not isinstance(request.content, PairContent):
        return request
    content = evaluation.restrict_memories(request.content, details)
    prompt = build_prompt(frame.judge, request.criterion, content, frame.setting)
    return replace(request, content=content, prompt=prompt)


def rebuild_prompt(judgment: Judgment) -> Prompt | None:
    """The prompt, made again from the item; None for a judge that was asked in no words."""
    if "prompt" not in judgment.details:
        return None
    request = rebuild_request(judgment)
    return request.prompt if request else None


def is_same_prompt(judgment: Judgment, prompt: Prompt) -> bool:
    """Whether neither the item nor the templates have changed since."""
    return not judgment.is_stale and bool(judgment.details["prompt"] == prompt.version)


def list_others(judgment: Judgment) -> QuerySet[Judgment]:
    """What this judge and others said of the same item, or turn of it, and criterion; and in its own run of copies."""
    return (
        Judgment.objects.filter(Q(alteration="") | Q(run=judgment.run_id))
        .filter(item=judgment.item_id, criterion=judgment.criterion_id, turn=judgment.turn)
        .filter(run__evaluation=judgment.run.evaluation_id)
        .exclude(pk=judgment.pk)
        .select_related("run__judge")
        .order_by("run__judge__name", "run_id", "alteration", "repeat", "order")
    )


def list_people_answers(judgment: Judgment) -> QuerySet[Annotation]:
    """What people said of the same item, or of the same turn where they are asked about turns."""
    return (
        Annotation.objects.only_counting()
        .filter(assignment__item=judgment.item_id, criterion=judgment.criterion_id, turn=judgment.turn)
        .select_related("assignment__annotator")
        .order_by("assignment__annotator__username")
    )
