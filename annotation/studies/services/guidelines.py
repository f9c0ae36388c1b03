"""Guidelines: edited as new versions, also while a study is open. The scale stays once something rests on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import transaction
from django.db.models import PROTECT
from django.utils import timezone

from annotation.studies.models.studies import Criterion, GuidelineVersion
from annotation.studies.options import LONGEST_TEXT, Edit
from annotation.studies.parsing.criterion_specs import ANSWER_TYPES
from annotation.studies.queries.criteria import describe_rest
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.options.model import check_options

SCALE = ("value", "label")
"""What of a category is the scale itself; the rest is its guideline."""


@check_options(Edit)
@audited("criterion.edit", on="criterion")
def edit(
    *,
    by: User | None,
    criterion: Criterion,
    reason: str,
    question: str | None = None,
    guideline: str | None = None,
    categories: Sequence[Mapping[str, str]] | None = None,
) -> GuidelineVersion:
    """A new version of what is asked; what is not given stays as it is. Labels keep the version they were given under.

    `categories` are all of the scale in its order, each by its value with what is to be said of it. Once labels or
    judgments rest on the criterion their values and names stay. Raises InputError where nothing would change.
    """
    with transaction.atomic():
        now = Criterion.objects.select_for_update().select_related("study").get(pk=criterion.pk)
        new = {
            "question": now.question if question is None else question,
            "guideline": now.guideline if guideline is None else guideline,
            "categories": now.categories if categories is None else scale(now, categories),
        }
        if all(getattr(now, field) == text for field, text in new.items()):
            raise InputError("Nothing was changed.", field="guideline")
        keep_first(now)
        for field, text in new.items():
            setattr(now, field, text)
        now.guideline_version += 1
        now.save(update_fields=[*new, "guideline_version"])
        made = GuidelineVersion.objects.create(
            criterion=now,
            version=now.guideline_version,
            reason=reason,
            created_by=by,
            created_at=timezone.now(),
            rest=describe_rest(now),
            **new,
        )
    for field in (*new, "guideline_version"):
        setattr(criterion, field, getattr(now, field))
    return made


def keep_first(criterion: Criterion) -> None:
    """The row of the version that an edit replaces, where it was never edited before."""
    GuidelineVersion.objects.get_or_create(
        criterion=criterion,
        version=criterion.guideline_version,
        defaults={
            "question": criterion.question,
            "guideline": criterion.guideline,
            "categories": criterion.categories,
            "rest": describe_rest(criterion),
            "created_by": criterion.study.created_by,
            "created_at": criterion.study.created_at,
        },
    )


def scale(criterion: Criterion, categories: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The categories as they are stored. Raises InputError where the scale itself would change under labels."""
    known = {str(one["value"]): one for one in criterion.categories}
    new = [
        {part: str({**known.get(str(one["value"]), {}), **one}.get(part, "")).strip() for part in (*SCALE, "guideline")}
        for one in categories
    ]
    for one in new:
        if len(one["guideline"]) > LONGEST_TEXT:
            raise InputError(
                "A guideline has at most {longest_text:,} characters.", field="categories", longest_text=LONGEST_TEXT
            )
        if not one["value"] or len(one["value"]) > 64 or not one["label"]:
            raise InputError("Each category has a value of at most 64 characters and a label.", field="categories")
    needed = ANSWER_TYPES[criterion.type].n_categories
    if len({one["value"] for one in new}) < max(len(new), needed) or (new and not needed):
        raise InputError("A scale has at least two categories, and each value once.", field="categories")
    there = [{part: str(one[part]) for part in SCALE} for one in criterion.categories]
    if [{part: one[part] for part in SCALE} for one in new] != there and has_values(criterion):
        raise InputError(
            "{name} has answers on its scale already: its categories cannot change any more, only their "
            "guidelines. Make a new study for another scale.",
            field="categories",
            name=criterion.name,
        )
    return new


def has_values(criterion: Criterion) -> bool:
    """Whether something is stored in values of its scale: labels, decisions or judgments, all of which protect it."""
    protecting = [one for one in criterion._meta.related_objects if one.on_delete is PROTECT]
    accessors = [str(one.get_accessor_name()) for one in protecting]
    return any(getattr(criterion, name).exists() for name in accessors)
