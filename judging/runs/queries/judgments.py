"""One judgment in words, with all that led to it, and what people said of the same; all answers that judges gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _, gettext_noop

from annotation.studies.models.labels import Annotation
from judging.judges.prompts import evaluation
from judging.judges.providers.requests import JudgeRequest, PairContent, Prompt
from judging.judges.queries.contents import build_prompt
from judging.runs.models.runs import JudgeRun, Judgment
from judging.runs.queries.requests import Frame, build_requests

REASONS = {
    "refusal": gettext_noop("refused to answer"),
    "truncated": gettext_noop("cut off before the verdict"),
    "oversized": gettext_noop("larger than this site reads"),
    "unparsable": gettext_noop("no verdict could be read"),
    "off_scale": gettext_noop("a verdict that is not on the scale"),
    "too_long": gettext_noop("too long for the model"),
    "orders_disagree": gettext_noop("its verdicts in the two orders disagree"),
    "members_disagree": gettext_noop("no majority of the members"),
    "no_member": gettext_noop("no member gave a verdict"),
    "outside_range": gettext_noop("a score outside those that the map was fitted to"),
    "own_example": gettext_noop("one of the judge's own examples, so it is not asked about"),
    "nothing_to_measure": gettext_noop("nothing there that the baseline could measure"),
    "no_score": gettext_noop("the scorer gave no number"),
    "equal_scores": gettext_noop("both responses got the same score"),
    "equal_probabilities": gettext_noop("both responses were as probable"),
    "no_probabilities": gettext_noop("the model tells no probabilities"),
    "no_persona": gettext_noop("nothing is known of the person"),
    "no_memories": gettext_noop("nothing is remembered of the person"),
    "no_summary": gettext_noop("the model gave no summary of the memories"),
}


@dataclass(frozen=True, slots=True)
class JudgmentSummary:
    """One judgment as a table shows it: the label of its value, or the reason why there is none."""

    external_id: str
    position: int
    criterion: str
    label: str
    reason: str
    repeat: int
    order: str
    text: str
    pk: int = 0
    turn: int = 0
    alteration: str = ""


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


def to_shown(frame: Frame, request: JudgeRequest, details: Mapping[str, object]) -> JudgeRequest:
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


def reason_in_words(reason: str) -> str:
    """Why a reply held no verdict."""
    return _(REASONS[reason]) if reason in REASONS else reason.replace("_", " ")


def latest(run: JudgeRun, n: int = 12, *, reason: str = "") -> list[JudgmentSummary]:
    """The judgments saved last, all or those unscored for a reason."""
    newest = run.judgments.select_related("criterion", "item__dialogue", "item__pair").order_by("-pk")
    chosen = newest.filter(value="", unscored_reason=reason) if reason else newest
    return [summarise_judgment(judgment) for judgment in chosen[:n]]


def summarise_judgment(judgment: Judgment) -> JudgmentSummary:
    return JudgmentSummary(
        external_id=judgment.item.external_id,
        position=judgment.item.position,
        criterion=judgment.criterion.name,
        label=judgment.criterion.label_of(judgment.value) if judgment.value else "",
        reason=reason_in_words(judgment.unscored_reason),
        repeat=judgment.repeat,
        order=judgment.order,
        text=judgment.explanation or judgment.raw_reply,
        pk=judgment.pk,
        turn=judgment.turn,
        alteration=judgment.alteration,
    )
