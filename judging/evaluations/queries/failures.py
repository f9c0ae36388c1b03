"""The wrong answers of an evaluation as a list that narrows, with what people said of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from django.db.models import Exists, OuterRef, Q, QuerySet

from judging.evaluations.queries import evaluations
from judging.judges.evaluation_settings import Setting
from judging.runs.models.evaluations import Evaluation, FailureTag
from judging.runs.models.runs import Judgment

ANY, NOBODY = "any", "none"
"""In place of a tag: tagged by somebody, or by nobody yet."""


@dataclass(frozen=True)
class FailureFilter:
    """What the answers on the list have in common, in the words of the page's address. Empty means any.

    Attributes
    ----------
    run
        Of one judge in one setting.
    tier, kind
        Of the case.
    tag
        A tag, any or none.
    text
        In the question, a response or the explanation.
    case
        Position of one case.
    """

    run: str = ""
    tier: str = ""
    kind: str = ""
    tag: str = ""
    text: str = ""
    case: str = ""

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> FailureFilter:
        """Read the query of an address."""
        return cls(**{field.name: query.get(field.name, "").strip() for field in fields(cls)})

    def to_query(self) -> dict[str, str]:
        """Return what of it is given, for an address."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name))}


def filter_failures(evaluation: Evaluation, wanted: FailureFilter) -> QuerySet[Judgment]:
    """Find the wrong answers that the filter lets through, case by case."""
    found = evaluations.wrong(evaluation)
    if wanted.run.isdecimal():
        found = found.filter(run=int(wanted.run))
    if wanted.case.isdecimal():
        found = found.filter(item__position=int(wanted.case))
    for name in ("tier", "kind"):
        if value := getattr(wanted, name):
            found = found.filter(**{name: value})
    if wanted.tag:
        tags = FailureTag.objects.filter(judgment=OuterRef("pk"))
        chosen = Exists(tags if wanted.tag in (ANY, NOBODY) else tags.filter(tag=wanted.tag))
        found = found.filter(~chosen if wanted.tag == NOBODY else chosen)
    if wanted.text:
        found = found.filter(
            Q(item__pair__question__icontains=wanted.text)
            | Q(item__pair__response_1__icontains=wanted.text)
            | Q(item__pair__response_2__icontains=wanted.text)
            | Q(explanation__icontains=wanted.text)
        )
    related = ("run__judge", "item__pair__profile")
    return found.select_related(*related).order_by("item__position", "run__judge__name", "run", "order")


def build_shown(answers: Sequence[Judgment], mine: int | None) -> list[dict[str, object]]:
    """Build what the page shows of each answer and its tags: whose, and which are one's own. One query."""
    tags = load_answers(answers)
    return [
        {
            "judgment": one,
            "setting": setting.name if (setting := Setting.from_stored(one.run.setting)) else "",
            "chosen": find_text(one, one.value),
            "preferred": find_text(one, str(vars(one)["gold"])),
            "retrieved": one.details.get("retrieved", []),
            "summary": one.details.get("summary", ""),
            "persona": one.item.pair.profile if one.item.pair else None,
            "tags": tags[one.pk],
            "mine": {row.tag for row in tags[one.pk] if row.tagged_by_id == mine},
            "note": next((row.note for row in tags[one.pk] if row.tagged_by_id == mine), ""),
        }
        for one in answers
    ]


def find_text(judgment: Judgment, response: str) -> str:
    pair = judgment.item.pair
    return "" if pair is None else {"1": pair.response_1, "2": pair.response_2}.get(response, "")


def load_answers(answers: Iterable[Judgment]) -> dict[int, list[FailureTag]]:
    """Load by answer its tags in the order of the people who gave them."""
    found: dict[int, list[FailureTag]] = defaultdict(list)
    rows = FailureTag.objects.filter(judgment__in=[one.pk for one in answers]).select_related("tagged_by")
    for row in rows.order_by("tagged_by__username", "tag"):
        found[row.judgment_id].append(row)
    return found
