"""One judgment with all that led to it, and what people said of the same."""

from __future__ import annotations

from django.db.models import QuerySet

from annotation.models import Annotation
from judging.models import Judgment
from judging.providers.base import JudgeRequest, Prompt
from judging.queries.requests import Frame, asked


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
        if (one.repeat, one.order, one.turn) == (judgment.repeat, judgment.order, judgment.turn)
    ]
    return found[0] if found else None


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
    """What this judge and others said of the same item, or turn of it, and criterion."""
    return (
        Judgment.objects.filter(item=judgment.item_id, criterion=judgment.criterion_id, turn=judgment.turn)
        .exclude(pk=judgment.pk)
        .select_related("run__judge")
        .order_by("run__judge__name", "run_id", "repeat", "order")
    )


def people_on(judgment: Judgment) -> QuerySet[Annotation]:
    """What people said of the same. They rate whole items: of one turn nobody has said anything."""
    if judgment.turn:
        return Annotation.objects.none()
    return (
        Annotation.objects.counting()
        .filter(assignment__item=judgment.item_id, criterion=judgment.criterion_id)
        .select_related("assignment__annotator")
        .order_by("assignment__annotator__username")
    )
