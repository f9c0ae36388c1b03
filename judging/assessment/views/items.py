"""The items of a study: a list that narrows, and one item with all that was said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_noop
from django.views.decorators.http import require_POST, require_safe

from annotation.agreement import queries as agreement_queries
from annotation.agreement.models import TierOverride
from annotation.agreement.services.tiers import set_tier
from annotation.stats.bands import TIERS
from annotation.stats.by_level import explain_missing
from annotation.studies.models.labels import Adjudication, Annotation
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.queries.messages import list_on_item
from annotation.studies.queries.scales import describe_answer, has_open_scale, name_label, sort_labels, to_label
from annotation.studies.queries.studies import is_large
from annotation.studies.steps import study_steps
from annotation.studies.views.large import asks_first
from core.accounts.access import get_account, researcher_required
from core.errors import InputError
from judging.assessment.queries import items as queries, ratings
from judging.assessment.services import rules
from judging.assessment.services.agreement import TIER
from judging.assessment.services.items import (
    AGREE,
    AGREES,
    DIFFERS,
    DISAGREE,
    SCORED,
    SEVERAL,
    TIED,
    UNSCORED,
    ItemFilter,
    RatedItems,
    find_criterion,
)
from judging.judges.queries import study_items
from judging.runs.models.runs import JudgeRun, Judgment

PER_PAGE = 50
MOST_LISTED = 300
"""Positions that an address holds."""


@researcher_required
@require_safe
def item_list(request: HttpRequest, slug: str) -> HttpResponse:
    """Items by position, all of them or those that the address asks for."""
    study = get_object_or_404(Study, slug=slug)
    wanted = ItemFilter.from_query(request.GET.dict())
    if wanted.narrows and (first := asks_first(request, study, _("Items that share something"), "tiers")):
        return first
    rules.lock_rules(by=get_account(request), study=study)
    context: dict[str, object] = {
        "study": study,
        "steps": study_steps(study, "sample"),
        "wanted": wanted,
        "tiers": TIERS,
    }
    context |= {"tied": TIED, "unscored": UNSCORED}
    try:
        page, found = _page(study, wanted, request.GET.get("page"))
    except InputError as error:
        return render(request, "judging/item_list.html", {**context, "error": error}, status=400)
    if found:
        context |= {"criterion": found.criterion, "criteria": study.criteria.all(), "judges": found.judges}
        context |= {"peoples": _translate(PEOPLE_NAMES), "outcomes": _translate(OUTCOME_NAMES)}
        context |= {"kept": _list_hidden_filters(wanted)}
    items = queries.load_at_positions(study, list(page))
    said = found.summary(list(page)) if found else {}
    page.object_list = items  # type: ignore[assignment] # from here on it is a page of items
    context |= {
        "masked": len(found.masked) if found and found.judges else 0,
        "page": page,
        "rows": [(item, one) for item in items for one in said.get(item.position, [None])],
        "strata": any(item.stratum for item in items),
        "query": urlencode(wanted.to_query()),
    }
    return render(request, "judging/item_list.html", context)


PEOPLE_NAMES = (
    (SEVERAL, gettext_noop("two or more ratings")),
    (AGREE, gettext_noop("agree")),
    (DISAGREE, gettext_noop("disagree")),
)
OUTCOME_NAMES = (
    (SCORED, gettext_noop("any verdict")),
    (AGREES, gettext_noop("equals the majority")),
    (DIFFERS, gettext_noop("differs from the majority")),
)


def _translate(names: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(value, _(name)) for value, name in names]


def _list_hidden_filters(wanted: ItemFilter) -> list[tuple[str, str, str]]:
    """What the address asks for that no field of the form changes: its name there, in words, and the value."""
    asked = wanted.to_query()
    return [(name, _(words), asked[name]) for name, words in HIDDEN_FILTERS.items() if name in asked]


HIDDEN_FILTERS = {
    "run": gettext_noop("run"),
    "annotator": gettext_noop("annotators"),
    "by": gettext_noop("grouped by"),
    "group": gettext_noop("group"),
    "at": gettext_noop("positions"),
    "cuts": gettext_noop("cut-offs"),
    "chance": gettext_noop("chance"),
}


def _page(study: Study, wanted: ItemFilter, number: str | None) -> tuple[Page[int], RatedItems | None]:
    """Positions on a page, and what was said: of a large study, where nothing narrows it, on these items alone."""
    criterion, options = find_criterion(study, wanted.criterion), wanted.tier_options()
    positions = queries.positions(study)
    if criterion is None or (not wanted.narrows and options.chance == "uniform" and is_large(study)):
        page = Paginator(positions, PER_PAGE).get_page(number)
        return page, None if criterion is None else RatedItems.read(study, criterion, options, list(page))
    found = RatedItems.read(study, criterion, options, run=wanted.run_id, by=wanted.by)
    chosen = found.positions(wanted)  # also where it does not narrow: what the address names has to be there
    return Paginator(chosen if wanted.narrows else positions, PER_PAGE).get_page(number), found


def _rated(study: Study, wanted: ItemFilter) -> RatedItems | None:
    """What was said on the criterion that the address names; None where the study has no criterion."""
    criterion = find_criterion(study, wanted.criterion)
    if criterion is None:
        return None
    return RatedItems.read(study, criterion, wanted.tier_options(), run=wanted.run_id, by=wanted.by)


@researcher_required
@require_safe
def item_detail(request: HttpRequest, slug: str, position: int) -> HttpResponse:
    """One item: the dialogue or pair, and every answer on one scale per criterion."""
    study = get_object_or_404(Study, slug=slug)
    item = get_object_or_404(queries.list_items(study), position=position)
    wanted = ItemFilter.from_query(request.GET.dict())
    rules.lock_rules(by=get_account(request), study=study)
    try:
        ways = _ways(study, item, wanted)
    except InputError:  # an address that was edited by hand: the item is still there to be read
        wanted = ItemFilter()
        ways = _ways(study, item, wanted)
    masked = study_items.holds(item)
    context = {
        "study": study,
        "steps": study_steps(study, "sample"),
        "title": _("Item {position}").format(position=item.position),
        "item": item,
        "scales": _scales(study, item, opened=wanted.criterion, masked=masked),
        "masked": masked,
        "item_messages": list(list_on_item(study, item)),
        "tier_names": TIERS,
        "query": urlencode(wanted.to_query()),
        **ways,
    }
    return render(request, "judging/item_detail.html", context)


def _ways(study: Study, item: Item, wanted: ItemFilter) -> dict[str, str]:
    """The way to the neighbours on the list that one came from, and the place on it."""
    found = _rated(study, wanted) if wanted.narrows and not is_large(study) else None
    if found is None:
        place, total, before, after = queries.load_neighbours(study, item)
        return _links(study, wanted, _("{n} of {total}").format(n=place, total=total), before, after)
    positions = found.positions(wanted)
    earlier = [position for position in positions if position < item.position]
    later = [position for position in positions if position > item.position]
    where = _("{n} of {total} in this selection") if item.position in positions else _("not in this selection")
    where = where.format(n=len(earlier) + 1, total=len(positions))
    nearest = earlier[-1] if earlier else None, later[0] if later else None
    return _links(study, wanted, where, *nearest)


def _links(study: Study, wanted: ItemFilter, where: str, before: int | None, after: int | None) -> dict[str, str]:
    return {
        "previous_href": "" if before is None else _address(study, before, wanted),
        "next_href": "" if after is None else _address(study, after, wanted),
        "where": where,
    }


def _address(study: Study, position: int, wanted: ItemFilter) -> str:
    query = urlencode(wanted.to_query())
    return reverse("item_detail", args=[study.slug, position]) + (f"?{query}" if query else "")


def _scales(study: Study, item: Item, *, opened: str, masked: bool) -> list[dict[str, object]]:
    """What was said on each criterion, of which one is opened; of a held-out item what people said."""
    annotations, judgments = list(queries.load_annotations(item)), [] if masked else list(queries.load_judgments(item))
    runs, gold, changes = ratings.runs_that_count(study), queries.load_gold(item), agreement_queries.history(item)
    return [
        _tiered(criterion, item, [one for one in changes if one.criterion_id == criterion.pk], annotations)
        | _scale(
            criterion,
            [a for a in annotations if a.criterion_id == criterion.pk],
            [j for j in judgments if j.criterion_id == criterion.pk],
            runs,
            {turn: one for (pk, turn), one in gold.items() if pk == criterion.pk},
        )
        | {"open": criterion.key == opened}
        for criterion in study.criteria.all()
    ]


def _tiered(
    criterion: Criterion, item: Item, changes: Sequence[TierOverride], annotations: Sequence[Annotation]
) -> dict[str, object]:
    """The tier of the item, or of each turn or response, on a criterion: what holds and what is computed; and every
    change by hand, newest first."""
    if explain_missing("tiers", criterion.level):
        return {"tiers": []}
    tiers = []
    for turn in criterion.turns_of(item):
        said = [a.value for a in annotations if (a.criterion_id, a.turn) == (criterion.pk, turn) and a.value]
        computed = agreement_queries.compute_tier(criterion, said)
        by_hand = next((one.tier for one in changes if one.turn == turn), "")
        tiers.append({"turn": turn, "tier": by_hand or computed, "computed": computed, "by_hand": bool(by_hand)})
    return {"tiers": tiers, "changes": changes, "noun": criterion.part_noun}


@researcher_required
@require_POST
def item_tier(request: HttpRequest, slug: str, key: str, position: int) -> HttpResponse:
    """Put an item into another tier than its ratings say, with a reason; or take that back."""
    criterion = get_object_or_404(Criterion.objects.select_related("study"), study__slug=slug, key=key)
    item = get_object_or_404(criterion.study.items, position=position)
    given = {name: request.POST.get(name, "") for name in ("tier", "reason")}
    turn = request.POST.get("turn", "0")
    try:
        found = set_tier(
            by=get_account(request), item=item, criterion=criterion, turn=int(turn) if turn.isdecimal() else 0, **given
        )
    except InputError as error:
        messages.error(request, f"{criterion.name}: {error.message}")
    else:
        if found.turn:
            said = _("Item {position}, {part} {turn} on {criterion}: {tier}.")
        else:
            said = _("Item {position} on {criterion}: {tier}.")
        parts = {"position": position, "part": _(criterion.part_noun), "turn": found.turn, "criterion": criterion.name}
        messages.success(request, said.format(tier=found.tier or _("tier as computed"), **parts))
    return redirect(f"{reverse('item_detail', args=[slug, position])}#scale-{key}")


def _scale(
    criterion: Criterion,
    annotations: Sequence[Annotation],
    judgments: Sequence[Judgment],
    runs: Mapping[tuple[int, int], JudgeRun],
    gold: Mapping[int, Adjudication],
) -> dict[str, object]:
    """One criterion: the marks at each step of its scale, of the item or turn by turn, and the answers one by one."""
    counting = [j for j in judgments if runs.get((j.run.judge_id, criterion.pk)) == j.run]
    rated = {*(a.turn for a in annotations), *(j.turn for j in counting), *gold}
    turns = [
        _marked(
            criterion,
            turn,
            [a for a in annotations if a.turn == turn],
            [j for j in counting if j.turn == turn],
            gold.get(turn),
        )
        for turn in (sorted(rated) if criterion.unit != Criterion.Unit.ITEM else [0])
    ]
    return {
        "criterion": criterion,
        **_placed(criterion, turns),
        "annotations": [(a, describe_answer(criterion, a.value, a.content)) for a in annotations],
        "decisions": [(one, name_label(criterion, to_label(criterion, one.value, None))) for one in gold.values()],
        "judgments": [(j, describe_answer(criterion, j.value, j.content), j in counting) for j in judgments],
    }


def _placed(criterion: Criterion, turns: Sequence[dict[str, object]]) -> dict[str, object]:
    """The marks of the item, or of each turn or response; of an open scale, whose steps differ, those of the item."""
    if criterion.unit == Criterion.Unit.ITEM:
        return dict(turns[0])
    return {"by": _(criterion.part_noun).capitalize(), "turns": [] if has_open_scale(criterion) else turns}


def _marked(
    criterion: Criterion,
    turn: int,
    annotations: Sequence[Annotation],
    counting: Sequence[Judgment],
    gold: Adjudication | None,
) -> dict[str, object]:
    """The marks at each step of the scale, and those off it, of an item or of one turn."""
    marks = [*(_persons_mark(criterion, one) for one in annotations), *_judges_marks(criterion, counting)]
    if gold is not None:
        marks.append({"mark": "gold", "name": _("gold"), "value": to_label(criterion, gold.value, None)})
    given = {str(mark["value"]) for mark in marks if mark["value"]}
    values = sort_labels(criterion, given) if has_open_scale(criterion) else criterion.values
    steps = [
        {
            "value": value,
            "label": name_label(criterion, value),
            "marks": [mark for mark in marks if mark["value"] == value],
        }
        for value in values
    ]
    return {"turn": turn, "steps": steps, "unscored": [mark for mark in marks if not mark["value"]]}


def _persons_mark(criterion: Criterion, annotation: Annotation) -> dict[str, object]:
    annotator = annotation.assignment.annotator
    return {
        "mark": "people",
        "name": str(annotator),
        "simulated": annotator is not None and annotator.is_simulated,
        "value": to_label(criterion, annotation.value, annotation.content),
        "reason": annotation.unscored_reason,
    }


def _judges_marks(criterion: Criterion, judgments: Sequence[Judgment]) -> Iterator[dict[str, object]]:
    """One mark per judge: the verdict that agreement is computed from."""
    said: dict[str, list[Judgment]] = {}
    for judgment in judgments:
        if judgment.repeat == 1:
            said.setdefault(str(judgment.run.judge), []).append(judgment)
    for name, replies in said.items():
        verdict = ratings.combine_verdicts(
            [ratings.CombinedVerdict(to_label(criterion, j.value, j.content), j.unscored_reason) for j in replies]
        )
        yield {
            "mark": "judge",
            "name": name,
            "kind": replies[0].run.judge.kind,
            "value": verdict.value,
            "reason": verdict.unscored_reason,
        }


def build_items_address(study: Study, key: str) -> Callable[..., str]:
    """What gives the address of the list of items on a criterion that a query lets through."""
    base = reverse("item_list", args=[study.slug])

    def address(**query: str) -> str:
        return f"{base}?{urlencode({'criterion': key, **query})}"

    return address


def name_run(judge: str, run: int | None) -> dict[str, str]:
    """What the address of the list of items says of a judge: its run, so that the list stays what it was."""
    return {"run": str(run)} if run else {"judge": judge}


def name_group(by: str, group: str) -> dict[str, str]:
    """What the address of the list of items says of a group."""
    return {"tier": group} if by == TIER else {"by": by, "group": group}
