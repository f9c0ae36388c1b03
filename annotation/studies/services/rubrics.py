"""The rubric of a study as a whole: replaced at once, so that nothing in between is ever asked.

Nothing that labels rest on is lost. A criterion whose texts change gets a new version; one whose scale changes once
answers rest on it stays for its labels and is asked no more, and the new one is asked under a key of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from annotation.studies.models.studies import Criterion, GuidelineVersion, Study
from annotation.studies.options import RubricChange
from annotation.studies.parsing.criterion_specs import CriterionSpec
from annotation.studies.parsing.rubrics import Rubric, check_kind, parse_rubric
from annotation.studies.queries.criteria import describe_rest
from annotation.studies.services.guidelines import has_values, keep_first
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.options.model import check_options

SCALE_LIMITS = ("ranking", "spans")
"""Types whose limits decide what an answer means, so that another limit is another scale."""

TEXTS = ("question", "guideline", "categories")


@dataclass(frozen=True)
class RubricChanges:
    """What a new rubric did, by the keys of criteria."""

    added: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    """Keys of the rubric, and the keys under which they are asked as the old ones hold labels on another scale."""


@check_options(RubricChange)
@audited("rubric.change", on="study", says=("reason",))
def change(*, by: User | None, study: Study, rubric: Mapping[str, object], reason: str = "") -> RubricChanges:
    """Ask these criteria from now on, in this order. Labels that there are keep what they were given under.

    Raises InputError with the field that is wrong; at `reason` where labels rest on the rubric and no reason is given.
    """
    new = read_rubric_for(study.kind, rubric)
    with transaction.atomic():
        locked = Study.objects.select_for_update().get(pk=study.pk)
        there = {one.key: one for one in Criterion.objects.filter(study=locked).select_related("study__created_by")}
        if not reason and any(map(has_values, there.values())):
            raise InputError("Labels rest on this rubric: say why it changes.", field="reason")
        done = Replacement(by, locked, reason, there).apply(new)
    study.__dict__.pop("asked", None)
    return done


def read_rubric_for(kind: str, document: Mapping[str, object]) -> Rubric:
    """A checked rubric for items of a kind."""
    rubric = parse_rubric(document)
    if rubric.kind not in (None, kind):
        raise InputError(
            "This rubric is for {kind}s, and the study has {wanted}s.", field="kind", kind=rubric.kind, wanted=kind
        )
    for one in rubric.criteria:
        check_kind(one, kind)
    return rubric


class Replacement:
    """One rubric in place of another, in one transaction."""

    def __init__(self, by: User | None, study: Study, reason: str, there: Mapping[str, Criterion]) -> None:
        self.by, self.study, self.reason, self.there = by, study, reason, dict(there)
        self.added: list[str] = []
        self.edited: list[str] = []
        self.retired: list[str] = []
        self.removed: list[str] = []
        self.renamed: dict[str, str] = {}

    def apply(self, rubric: Rubric) -> RubricChanges:
        asked = [self.place(one, position) for position, one in enumerate(rubric.criteria, start=1)]
        self.leave_out({one.pk for one in asked}, position=len(asked) + 1)
        return RubricChanges(
            added=tuple(self.added),
            edited=tuple(self.edited),
            retired=tuple(self.retired),
            removed=tuple(self.removed),
            renamed=tuple(self.renamed.items()),
        )

    def place(self, one: CriterionSpec, position: int) -> Criterion:
        """The row that asks it: the one of its key, changed where it may be, or a new one."""
        fields = one.to_fields()
        if one.condition and one.condition.criterion in self.renamed:
            condition = one.condition.model_dump(mode="json")
            fields["condition"] = condition | {"criterion": self.renamed[one.condition.criterion]}
        row = self.there.get(one.key)
        if row is None:
            return self.add(fields, position)
        if is_other_scale(row, one) and has_values(row):
            key = self.find_free_key(one.key)
            self.renamed[one.key] = key
            self.date_name(row)
            return self.add({**fields, "key": key}, position)
        return self.edit(row, fields, position)

    def date_name(self, row: Criterion) -> None:
        """Say in its name until when it was asked: results show it beside the one that follows it."""
        if row.is_asked:
            row.name = f"{row.name[:95]} (until {timezone.now():%Y-%m-%d %H:%M})"
            row.save(update_fields=["name"])

    def add(self, fields: Mapping[str, object], position: int) -> Criterion:
        row = Criterion.objects.create(study=self.study, position=position, **fields)
        self.there[row.key] = row
        self.added.append(row.key)
        return row

    def edit(self, row: Criterion, fields: Mapping[str, object], position: int) -> Criterion:
        is_changed = not row.is_asked or any(getattr(row, name) != value for name, value in fields.items())
        if is_changed:
            self.edited.append(row.key)
            self.write_version(row, fields)
        if is_changed or row.position != position:
            row.position, row.is_asked = position, True
            row.save()
        return row

    def write_version(self, row: Criterion, fields: Mapping[str, object]) -> None:
        """Set the fields; a new version where somebody has answered or may be answering the old one."""
        is_versioned = self.study.state != Study.State.DRAFT or has_values(row)
        if is_versioned:
            keep_first(row)
            row.guideline_version += 1
        for name, value in fields.items():
            setattr(row, name, value)
        if is_versioned:
            texts = {name: getattr(row, name) for name in TEXTS}
            made = {"reason": self.reason, "created_by": self.by, "created_at": timezone.now()}
            GuidelineVersion.objects.create(
                criterion=row, version=row.guideline_version, rest=describe_rest(row), **texts, **made
            )

    def find_free_key(self, key: str) -> str:
        numbered = (f"{key[:56]}-{number}" for number in range(2, len(self.there) + 3))
        return next(name for name in numbered if name not in self.there)

    def leave_out(self, asked: set[int], position: int) -> None:
        """Criteria that the rubric has no more: gone, or kept for their labels behind the others."""
        others = [one for one in self.there.values() if one.pk not in asked]
        for place, row in enumerate(sorted(others, key=lambda one: one.position), start=position):
            if not has_values(row):
                self.removed.append(row.key)
                row.delete()
                continue
            if row.is_asked:
                self.retired.append(row.key)
            Criterion.objects.filter(pk=row.pk).update(is_asked=False, position=place)


def is_other_scale(row: Criterion, one: CriterionSpec) -> bool:
    """Whether answers to one would mean something else as answers to the other."""
    same = all(getattr(row, name) == getattr(one, name) for name in ("type", "level", "unit"))
    then = [(str(category["value"]), str(category["label"])) for category in row.categories]
    now = [(category.value, category.label) for category in one.categories]
    return not same or then != now or (row.type in SCALE_LIMITS and row.limits != one.read_limits().to_json())
