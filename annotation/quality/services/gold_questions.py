"""Naming items with known answers, as checks, training or qualification, and setting how the queue uses them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext_noop

from annotation.quality import parsing as quality_parsing
from annotation.quality.models import KnownAnswer, KnownItem, QueueRules
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Adjudication
from annotation.studies.models.studies import Criterion, Item, Sample, Study
from annotation.studies.queries.asks import Ask
from annotation.studies.queries.sampling_frame import Record, list_records
from annotation.studies.services import studies
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.hashing import content_hash

PASS_MARK = 0.8
"""Defaults of a study that gets its first qualification or training item."""

LONGEST_TEXT = 20_000
MOST = 10_000
"""Of items between repeats or checks, and of a limit's smallest unit: what nobody means to exceed."""


@dataclass(frozen=True)
class GoldAnswer:
    """The right value of a criterion, further ones that are right as well, and why."""

    value: str
    also: tuple[str, ...] = ()
    explanation: str = ""


@dataclass(frozen=True)
class GoldEntry:
    """An item that is to be named: the id of the dialogue or pair (also as source:id), and answers by what they answer.

    That is a criterion's key, with the number of the turn or response behind a full stop where it is asked of these.
    """

    item: str
    answers: Mapping[str, GoldAnswer]
    line: int | None = None


@audited("known_items.add", on="study", says=("purpose", "origin", "number"))
def add(
    *, by: User | None, study: Study, purpose: str, entries: Sequence[GoldEntry], origin: str, number: int = 1
) -> list[KnownItem]:
    """Name these items of the material, all of them or none. What was named so before stays as it is.

    `number` is the round that they are asked in: another than the first only of the qualification. A dialogue or pair
    that the study itself has rated can be a check only when its ratings are complete: otherwise those who get it as a
    check could not rate it. Raises InputError, naming line and field.
    """
    check_purpose(study, purpose)
    check_round(purpose, number)
    criteria = {criterion.key: criterion for criterion in study.criteria.all()}
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)
        made = [name_item(by, study, purpose, number, entry, criteria, origin) for entry in entries]
        if purpose != KnownItem.Purpose.CHECK and study.pass_mark is None and made:
            set_rules(by=by, study=study, pass_mark=PASS_MARK)
    return made


@audited("known_items.add", on="study", says=("purpose", "source", "number"))
def add_decided(*, by: User | None, study: Study, purpose: str, source: Study, number: int = 1) -> list[KnownItem]:
    """Name the items of a study on which somebody decided, with those answers; the reason is the explanation."""
    if source.kind != study.kind:
        raise InputError(
            "{source} has {kind}, not {wanted}.",
            field="source",
            source=source,
            kind=source.get_kind_display(),
            wanted=study.get_kind_display(),
        )
    units = {criterion.key: criterion.unit for criterion in study.criteria.all() if criterion.can_be_known}
    decided = Adjudication.objects.filter(item__study=source, criterion__key__in=units)
    decided = decided.order_by("created_at", "pk")
    found: dict[Item, dict[str, GoldAnswer]] = {}
    for one in decided.select_related("criterion", "item__dialogue", "item__pair"):
        if one.criterion.unit == units[one.criterion.key]:
            found.setdefault(one.item, {})[Ask(one.criterion, one.turn).name] = GoldAnswer(
                one.value, explanation=one.reason
            )
    if not found:
        raise InputError(
            "Nothing is decided in {source} on a criterion that {study} asks.",
            field="source",
            source=source,
            study=study,
        )
    entries = [
        GoldEntry(f"{item.subject.source}:{item.external_id}", answers)
        for item, answers in sorted(found.items(), key=lambda one: one[0].position)
    ]
    return add(
        by=by, study=study, purpose=purpose, entries=entries, origin=f"decided in {source.name}"[:200], number=number
    )


@audited("known_items.add", on="study", says=("purpose", "name", "number"))
def add_file(
    *, by: User | None, study: Study, purpose: str, path: Path, name: str | None = None, number: int = 1
) -> list[KnownItem]:
    """Name the items of a file (see `parsing.known_files`), which its giver knows as `name`."""
    found: dict[str, dict[str, GoldAnswer]] = {}
    lines: dict[str, int] = {}
    for row in quality_parsing.read(path, name):
        lines.setdefault(row.item, row.line)
        answers = found.setdefault(row.item, {})
        answers[row.ask] = GoldAnswer(row.values[0], row.values[1:], row.explanation)
    entries = [GoldEntry(item, answers, lines[item]) for item, answers in found.items()]
    try:
        return add(
            by=by,
            study=study,
            purpose=purpose,
            entries=entries,
            origin=f"file {name or path.name}"[:200],
            number=number,
        )
    except InputError as error:
        raise InputError(error.message, file=name or str(path), line=error.line, field=error.field) from error


@audited("known_item.retire", on="known")
def retire(*, by: User | None, known: KnownItem) -> None:
    """Hand it out no more, and count answers to it no more."""
    if not KnownItem.objects.filter(pk=known.pk, retired_at=None).update(retired_at=timezone.now(), retired_by=by):
        raise InputError("This was retired already.", field="known")


@audited("queue.set", on="study", says=("rules",))
def set_rules(*, by: User | None, study: Study, **rules: float | None) -> QueueRules:
    """Change check_every, repeat_every, repeat_after, item_limit or pass_mark; what is not named stays. On record."""
    for name, value in rules.items():
        check_rule(name, value)
        setattr(study, name, value)
    with transaction.atomic():
        study.save(update_fields=list(rules))
        now = {name: getattr(study, name) for name in RULES}
        return QueueRules.objects.create(study=study, rules={**now, "seed": study.seed}, decided_by=by)


RULES: dict[str, tuple[float, float, bool, str]] = {
    "check_every": (2, MOST, True, gettext_noop("One item in so many is a check: from 2 to 10,000, or 0 for none.")),
    "repeat_every": (2, MOST, True, gettext_noop("One item in so many is a repeat: from 2 to 10,000, or 0 for none.")),
    "repeat_after": (1, MOST, False, gettext_noop("From 1 to 10,000 other items lie between an item and its repeat.")),
    "item_limit": (1, 2**31 - 1, True, gettext_noop("Items that one person may rate: 1 or more.")),
    "pass_mark": (0, 1, True, gettext_noop("The pass mark is a share from 0 to 1.")),
}
"""Lowest and highest value, whether it may be without one (0 of what is mixed in), and what to say otherwise."""


def parse_optional_number(text: str, number: Callable[[str], float], field: str) -> float | None:
    """A number as somebody wrote it, or None for "none"."""
    try:
        return None if text == "none" else number(text)
    except ValueError as error:
        raise InputError("{text!r} is neither a number nor none.", field=field, text=text) from error


def check_rule(name: str, value: float | None) -> None:
    lowest, highest, may_lack, says = RULES[name]
    if may_lack and value == (0 if name.endswith("_every") else None):
        return
    if value is None or not lowest <= value <= highest:
        raise InputError(says, field=name)


def check_purpose(study: Study, purpose: str) -> None:
    if purpose not in KnownItem.Purpose.values:
        raise InputError(
            "{purpose!r} is not one of {values}.",
            field="purpose",
            purpose=purpose,
            values=", ".join(KnownItem.Purpose.values),
        )
    if study.known_for_id:
        raise InputError("{study} only holds known answers.", field="study", study=study)


def check_round(purpose: str, number: int) -> None:
    if not 1 <= number <= MOST or (number > 1 and purpose != KnownItem.Purpose.QUALIFICATION):
        raise InputError("Only the qualification has rounds; they count from 1.", field="round")


def name_item(
    by: User | None,
    study: Study,
    purpose: str,
    number: int,
    entry: GoldEntry,
    criteria: Mapping[str, Criterion],
    origin: str,
) -> KnownItem:
    answers = check_answers(entry, criteria)
    item = find_or_create_item(study, entry)
    check_turns(entry, item, answers)
    if there := study.known_items.filter(item=item, purpose=purpose, retired_at=None).first():
        if there.round != number:
            raise InputError(
                "{item} is asked in round {round}; retire it there first.",
                field="item",
                line=entry.line,
                item=entry.item,
                round=there.round,
            )
        if is_same_answer(there, answers):
            return there
        raise InputError(
            "{item} is named with other answers already; retire it first.",
            field="item",
            line=entry.line,
            item=entry.item,
        )
    last = study.known_items.aggregate(last=Max("position"))["last"] or 0
    made = KnownItem.objects.create(
        study=study, item=item, purpose=purpose, round=number, position=last + 1, origin=origin, created_by=by
    )
    KnownAnswer.objects.bulk_create(
        KnownAnswer(
            known=made,
            criterion=ask.criterion,
            turn=ask.turn,
            value=one.value,
            also=list(one.also),
            explanation=one.explanation,
        )
        for ask, one in answers.items()
    )
    return made


def is_same_answer(there: KnownItem, answers: Mapping[Ask, GoldAnswer]) -> bool:
    stored = there.answers.select_related("criterion")
    return {
        Ask(one.criterion, one.turn): GoldAnswer(one.value, tuple(one.also), one.explanation) for one in stored
    } == answers


def check_answers(entry: GoldEntry, criteria: Mapping[str, Criterion]) -> dict[Ask, GoldAnswer]:
    if not entry.answers:
        raise InputError("{item} has no answer to any criterion.", field="value", line=entry.line, item=entry.item)
    found = {}
    for name, answer in entry.answers.items():
        key, _, turn = name.partition(".")
        if key not in criteria:
            raise InputError("The study asks no criterion {key!r}.", field="criterion", line=entry.line, key=key)
        criterion = criteria[key]
        if not criterion.can_be_known:
            raise InputError(
                "{name} is not a choice: answers are known beforehand to choices.",
                field=key,
                line=entry.line,
                name=criterion.name,
            )
        if (criterion.unit != Criterion.Unit.ITEM) != bool(turn):
            says = gettext_noop("{name} is asked of {noun}s: name the {noun}.")
            if turn:
                says = gettext_noop("{name} is asked of the whole item, not of a part of it.")
            raise InputError(says, field="turn", line=entry.line, name=criterion.name, noun=criterion.part_noun)
        for value in (answer.value, *answer.also):
            if value not in criterion.values:
                raise InputError(
                    "{value!r} is not on the scale of {name}.",
                    field=key,
                    line=entry.line,
                    value=value,
                    name=criterion.name,
                )
        if len(answer.explanation) > LONGEST_TEXT or "\0" in answer.explanation:
            raise InputError(
                "An explanation has at most {longest_text:,} characters.",
                field="explanation",
                line=entry.line,
                longest_text=LONGEST_TEXT,
            )
        found[Ask(criterion, quality_parsing.parse_turn(turn, entry.line) if turn else 0)] = answer
    return found


def check_turns(entry: GoldEntry, item: Item, answers: Mapping[Ask, GoldAnswer]) -> None:
    """Raise InputError where the item has no such turn or response, or the turn is the other's."""
    for ask in answers:
        if ask.turn and ask.turn not in ask.criterion.turns_of(item):
            raise InputError(
                "{name} is not asked of {noun} {turn} of {item}.",
                field="turn",
                line=entry.line,
                name=ask.criterion.name,
                noun=ask.criterion.part_noun,
                turn=ask.turn,
                item=entry.item,
            )


def find_or_create_item(study: Study, entry: GoldEntry) -> Item:
    """The study's own item, if its ratings are complete; otherwise one that is kept beside the study."""
    subject = subject_called(study.kind, entry)
    own = study.items.filter(**{study.kind: subject}).first()
    if own is None:
        return create_draft_item(study, subject)
    ratings = own.assignments.filter(purpose=Assignment.Purpose.RATING)
    if not ratings.exists() or ratings.exclude(state=Assignment.State.SUBMITTED).exists():
        raise InputError(
            "{item} is still to be rated in this study. It can be named once its ratings are complete.",
            field="item",
            line=entry.line,
            item=entry.item,
        )
    return own


def subject_called(kind: str, entry: GoldEntry) -> Record:
    """The dialogue or pair of this id, also written source:id."""
    name = entry.item.strip()
    rows = list_records(kind)
    found = list(rows.filter(external_id=name)[:2])
    source, colon, rest = name.partition(":")
    if not found and colon:
        found = list(rows.filter(source=source, external_id=rest)[:2])
    if len(found) == 1:
        return found[0]
    says = gettext_noop("There is no {kind} called {name!r}.")
    if found:
        says = gettext_noop("There are several called {name!r}: write source:id.")
    raise InputError(says, field="item", line=entry.line, kind=kind, name=name)


def create_draft_item(study: Study, subject: Record) -> Item:
    """The item of the draft that holds the study's material with known answers; both are made when they are needed."""
    store = Study.objects.filter(known_for=study).first() or new_store(study)
    if found := store.items.filter(**{study.kind: subject}).first():
        return found
    position = (store.items.aggregate(last=Max("position"))["last"] or 0) + 1
    key = [subject.source, subject.external_id]
    sample = Sample.objects.create(
        study=store, method="all", filters={"key": key}, frame_size=1, size=1, input_hash=content_hash([key])
    )
    return Item.objects.create(
        study=store,
        sample=sample,
        position=position,
        inclusion_probability=1.0,
        content_hash=subject.content_hash,
        **{study.kind: subject},
    )


def new_store(study: Study) -> Study:
    name = f"{study.name[:100]}: known answers"
    store = Study(
        project_id=study.project_id,
        name=name,
        slug=studies.free_slug(name),
        kind=study.kind,
        overlap=1,
        known_for=study,
    )
    try:
        studies.save_new(store)
    except (IntegrityError, InputError) as error:
        raise InputError("There is a study called {name!r}: rename it first.", field="study", name=name) from error
    return store
