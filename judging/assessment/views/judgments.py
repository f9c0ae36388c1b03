"""The page of one judgment."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotation.studies.queries.items import list_texts
from annotation.studies.queries.scales import describe_answer
from annotation.studies.steps import study_steps
from core.accounts.access import researcher_required
from judging.assessment.services import rules
from judging.assessment.views.verdict import reader
from judging.judges.models import PANEL
from judging.judges.pricing import format_dollars
from judging.judges.queries import study_items
from judging.runs.models.runs import Judgment
from judging.runs.queries import judgments as queries
from judging.runs.queries.judgments import reason_in_words


@researcher_required
@require_safe
def judgment_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Prompt, reply, verdict, tokens, time and cost, beside what people and other judges said of the same."""
    judgment = get_object_or_404(queries.whole(), pk=pk)
    rules.lock_rules(by=reader(request), study=judgment.run.study)
    criterion, prompt = judgment.criterion, queries.rebuild_prompt(judgment)
    masked = study_items.holds(judgment.item)
    context = {
        "judgment": judgment,
        "run": judgment.run,
        "study": judgment.run.study,
        "item": judgment.item,
        "label": describe_answer(criterion, judgment.value, judgment.content),
        "reason": reason_in_words(judgment.unscored_reason),
        "prompt": prompt,
        "prompt_is_same": prompt is not None and queries.is_same_prompt(judgment, prompt),
        "earlier": earlier(judgment),
        "turn_text": turn_text(judgment),
        "facts": facts(judgment),
        "shares": shares(judgment),
        "shares_caption": _("How probable each value is by the members’ votes")
        if judgment.run.judge.provider == PANEL
        else _("How probable each value was to the model"),
        "masked": masked,
        "people": []
        if masked
        else [(a, describe_answer(criterion, a.value, a.content)) for a in queries.list_people_answers(judgment)],
        "others": [
            (j, describe_answer(criterion, j.value, j.content), reason_in_words(j.unscored_reason))
            for j in queries.list_others(judgment)
        ],
        "members": judgment.details.get("members", []),
        "steps": study_steps(judgment.run.study, "judges"),
    }
    return render(request, "judging/judgment_detail.html", context)


def turn_text(judgment: Judgment) -> str:
    """The turn or response that was judged, as it is now; empty where it was the whole item."""
    return list_texts(judgment.item).get(f"{judgment.run.unit}-{judgment.turn}", "")


def earlier(judgment: Judgment) -> list[dict[str, str]]:
    """The replies without a verdict that came before."""
    return [
        {
            "title": _("Earlier reply {n}").format(n=one.number),
            "reason": _("unscored: {reason}").format(reason=reason_in_words(one.unscored_reason)),
            "text": one.raw_reply or one.explanation,
        }
        for one in judgment.earlier.all()
    ]


def facts(judgment: Judgment) -> list[tuple[str, str]]:
    tokens = [judgment.input_tokens, judgment.output_tokens]
    read, written = ("" if n is None else f"{n:,}" for n in tokens)
    return [
        *([(_(str(judgment.run.unit)).capitalize(), str(judgment.turn))] if judgment.turn else []),
        (_("Repeat"), str(judgment.repeat)),
        *([(_("Order"), judgment.order)] if judgment.order else []),
        (_("Input tokens"), read),
        (_("Output tokens"), written),
        (_("Time"), "" if judgment.latency_ms is None else f"{judgment.latency_ms / 1000:.1f} s"),
        (_("Cost"), cost(judgment)),
        *([(_("Mean over the scale"), f"{judgment.score:.2f}")] if judgment.score is not None else []),
        (_("Version of the prompt"), str(judgment.details.get("prompt", ""))),
        (_("Said"), f"{judgment.created_at:%Y-%m-%d %H:%M:%S} UTC"),
    ]


def cost(judgment: Judgment) -> str:
    if judgment.is_cached and not judgment.cost_usd:
        return _("nothing: an equal request was answered earlier")
    return _("not known") if judgment.cost_usd is None else format_dollars(judgment.cost_usd)


def shares(judgment: Judgment) -> list[dict[str, object]]:
    """How probable each value was, in the order of the scale; empty where the model does not tell."""
    told = judgment.details.get("distribution") or {}
    return [
        {"label": category["label"], "share": told.get(str(category["value"]), 0.0)}
        for category in judgment.criterion.categories
        if told
    ]
