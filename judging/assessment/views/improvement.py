"""Improving a judge: where it and people part, another version of it, and whether that one is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_noop
from django.views.decorators.http import require_POST, require_safe

from annotation.stats.bands import TIERS
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries.ratings import Annotator, load_annotators
from annotation.studies.queries.scales import name_label
from annotation.studies.steps import study_steps
from core.accounts.access import get_account, researcher_required
from core.errors import InputError
from judging.assessment.agreement_types import VersionChangeDocument
from judging.assessment.forms import VersionForm
from judging.assessment.queries.assessment_data import JudgeData, StudyData
from judging.assessment.queries.disagreements import Written, load_written
from judging.assessment.services import disagreement_sources, disagreements, improvement, rules
from judging.assessment.services.disagreements import Disagreement, DisagreementCounts
from judging.assessment.views.items import MOST_LISTED
from judging.assessment.views.large import reads_judge
from judging.judges.models import NO_MODELS, NOT_RUN_HERE, Judge
from judging.judges.queries import study_items

PER_PAGE = 10
ASKED = ("criterion", "tier", "sort")
DISTANCES = {
    "jensen_shannon": gettext_noop("Jensen–Shannon divergence, 0 to 1 bit"),
    "cross_entropy": gettext_noop("Cross-entropy, bits"),
    "earth_mover": gettext_noop("Earth mover’s distance, 0 to 1 of the scale"),
}


@researcher_required
@require_safe
@reads_judge(gettext_noop("Where people differ from {judge}"), "disagreements --limit 25")
def judge_improve(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The change from another version, the disagreements, and the form that makes the next version."""
    study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
    return _render(request, study, judge, VersionForm(study=study, judge=judge))


def _render(request: HttpRequest, study: Study, judge: Judge, form: VersionForm) -> HttpResponse:
    """Render the page. A form that was refused keeps what was typed, and says at its fields what is wrong."""
    head = {
        "study": study,
        "judge": judge,
        "steps": study_steps(study, "results"),
        "asked": parse_query(request),
        "form": form,
    }
    try:
        context = _context(request, study, judge)
    except InputError as error:
        return render(request, "judging/improve.html", {**head, "error": error}, status=400)
    return render(request, "judging/improve.html", {**head, **context}, status=400 if form.errors else 200)


def _context(request: HttpRequest, study: Study, judge: Judge) -> dict[str, object]:
    evidence, query = StudyData.load(study), parse_query(request)
    old = improvement.find_previous_version(evidence, judge, request.GET.get("against", ""))
    mine, *before = evidence.load_judges([judge, *([old] if old else [])])
    mine.check_judged()
    key = request.GET.get("explain", "")
    explained = disagreements.criteria_called(mine, key, field="explain")[0] if key else None
    rules.lock(by=get_account(request), study=study)
    rows, counts = disagreements.list_disagreements(mine, **query), disagreements.counts(mine)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    said = load_written(study, mine.criteria, mine.runs, [(row.position, row.turn) for row in page])
    names, annotators = {c.key: c for c in mine.criteria}, load_annotators(study)
    return {
        "explained": explained,
        "differing": explained and _differing(explained, mine),
        "part": mine.part,
        "left_out": mine.left_out,
        "hold_out": study_items.find_hold_out(study),
        "counts": [(names[key], one) for key, one in counts.items()],
        "worst": _find_worst([(names[key], one) for key, one in counts.items() if one.differing]),
        "has_confidence": any(isfinite(row.confidence) for row in rows),
        "compared": sum(one.compared for one in counts.values()),
        "criteria": mine.criteria,
        "tiers": TIERS,
        "page": page,
        "rows": [{**_row(row, said, names, annotators), "href": _address(study, mine, row, rows)} for row in page],
        "query": urlencode({name: value for name, value in query.items() if value}),
        "others": improvement.list_other_versions(evidence, judge),
        "old": old,
        "change": _shown(improvement.change(before[0], mine)) if before else None,
        "takes_examples": judge.provider not in (*NOT_RUN_HERE, *NO_MODELS),
    }


def _find_worst(counts: Sequence[tuple[Criterion, DisagreementCounts]]) -> tuple[Criterion, DisagreementCounts] | None:
    """Find the criterion on which the judge differs on the largest share of items, with its counts."""
    return max(counts, key=lambda found: found[1].differing / found[1].compared, default=None)


def _differing(criterion: Criterion, mine: JudgeData) -> dict[str, object]:
    """Why people differ, and how far the judge is from them, in rows and sentences."""
    found = disagreement_sources.compute_criterion(criterion, mine.evidence[criterion.key])
    sources = found["sources"]
    return {
        "distance": [(_(DISTANCES[name]), one) for name, one in found["distance"].items()],
        "sources": [(_(label), sources[name]) for name, label in disagreement_sources.SOURCES.items()]
        if not sources["reason"]
        else [],
        "why_no_sources": sources["reason"],
        "camps": disagreement_sources.camps_in_words(found["taste"]),
        "sets": disagreement_sources.sets_in_words(found["sets"]),
    }


def _shown(change: VersionChangeDocument) -> dict[str, object]:
    """The change with the kappa that fits each criterion's scale in front."""
    criteria = {key: {**one, "main": one["figures"][one["figure"]]} for key, one in change["criteria"].items()}
    return {**change, "criteria": criteria}


def parse_query(request: HttpRequest) -> dict[str, str]:
    """What the address asks for."""
    given = {name: request.GET.get(name, "").strip() for name in ASKED}
    return {**given, "sort": given["sort"] or "-size"}


def _row(
    row: Disagreement,
    said: Written,
    criteria: Mapping[str, Criterion],
    annotators: Mapping[str, Annotator],
) -> dict[str, object]:
    """A disagreement in the words of the scale, with what was written."""
    criterion, about = criteria[row.criterion], said[row.position, row.turn, row.criterion]
    label = name_label(criterion, row.label) if isinstance(row.label, str) else f"{row.label:.2f}"
    return {
        "of": row,
        "criterion": criterion,
        "label": label,
        "verdict": name_label(criterion, row.verdict),
        "people": [
            {
                "annotator": annotators[name],
                "label": name_label(criterion, value),
                "note": about["notes"].get(name, ""),
                "evidence": about["evidence"].get(name, []),
            }
            for name, value in row.people
        ],
        "answers": _count_answers(criterion, annotators, row),
        "about": about,
    }


def _count_answers(
    criterion: Criterion, annotators: Mapping[str, Annotator], row: Disagreement
) -> list[tuple[str, list[str]]]:
    """Each answer that people gave with the names of who gave it, the most frequent first."""
    given: dict[str, list[str]] = {}
    for name, value in row.people:
        given.setdefault(name_label(criterion, value), []).append(annotators[name].name)
    return sorted(given.items(), key=lambda answer: -len(answer[1]))


def _address(study: Study, mine: JudgeData, row: Disagreement, rows: Sequence[Disagreement]) -> str:
    """The item, on the list of the criterion's disagreements, as far as an address holds them."""
    positions = dict.fromkeys(str(one.position) for one in rows if one.criterion == row.criterion)
    listed = list(positions)[:MOST_LISTED]
    asked = {"criterion": row.criterion, "run": mine.runs[row.criterion].pk, "at": ",".join(listed)}
    return f"{reverse('item_detail', args=[study.slug, row.position])}?{urlencode(asked)}#scale-{row.criterion}"


@researcher_required
@require_safe
def judge_disagreement(request: HttpRequest, slug: str, pk: int, key: str, position: int) -> HttpResponse:  # noqa: ARG001
    """Where a disagreement stood once: the item's page says all of it."""
    there = reverse("item_detail", args=[slug, position])
    return redirect(f"{there}?{urlencode({'criterion': key})}#scale-{key}", permanent=True)


@researcher_required
@require_POST
def judge_version(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Make the next version, and go to where it is run."""
    study, judge = get_object_or_404(Study, slug=slug), get_object_or_404(Judge, pk=pk)
    form = VersionForm(request.POST, study=study, judge=judge)
    made = form.save(get_account(request)) if form.is_valid() else None
    if made is None:
        return _render(request, study, judge, form)
    if made == judge:
        messages.info(request, _("Nothing was changed, so there is no new version."))
        return redirect(f"{reverse('judge_improve', args=[study.slug, judge.pk])}#version")
    said = _("{judge} is there. Let it judge the study, then see what changed.")
    messages.success(request, said.format(judge=made))
    return redirect("run_create", slug=study.slug)
