"""Studies that come with their labels: items named one by one, annotators known only by name, slots submitted.

Nothing here is drawn or leased. Every row is made once; labels that are there already are compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext_noop

from annotation.corpus.models import Dialogue, ResponsePair
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion, Item, Sample, Study
from annotation.studies.queries.context import PARTS
from annotation.studies.services import studies
from core.accounts.models.projects import Project, check_project, choose_project
from core.accounts.models.users import User
from core.accounts.permissions import unless_taken
from core.audit.log import audited
from core.errors import InputError
from core.files.outcome import Outcome
from core.hashing import content_hash
from core.names import check_line
from core.statements import update_alike

BATCH = 2000
RATING = Assignment.Purpose.RATING
LONGEST_USERNAME = 150
ITEM_COLUMNS = ("source", "external_id", "content_hash", "inclusion_probability")
"""What of the material an item is made from."""


@dataclass(frozen=True, slots=True)
class ImportedLabel:
    """One person's answer: a value, or the reason why there is none. `order` is AB, BA or not recorded.

    `turn` is the turn of the dialogue that was rated, 0 for the whole item. `beside` are further columns of the
    annotation as they are: note, strength, evidence. Time and seconds are the slot's; its first label tells them.
    """

    item: int
    annotator: str
    criterion: int
    value: str
    unscored_reason: str = ""
    order: str = ""
    turn: int = 0
    content: object = None
    beside: Mapping[str, object] = field(default_factory=dict)
    submitted_at: datetime | None = None
    active_seconds: float | None = None


@dataclass(slots=True)
class ItemLabels:
    """The labels of one annotator for one item."""

    assignment: Assignment
    labels: list[ImportedLabel]


def find_or_create_study(
    *,
    by: User | None,
    name: str,
    kind: str,
    criteria: Sequence[Mapping[str, object]],
    description: str = "",
    project: Project | None = None,
) -> Study:
    """The study of that name; one made of `criteria` (fields of `Criterion`) where there is none."""
    study = unless_taken(by, Study.objects.filter(name=name).first(), field="study")
    if study is None:
        return create_study(by=by, name=name, kind=kind, criteria=criteria, description=description, project=project)
    check_project(study, project)
    keys = set(study.criteria.values_list("key", flat=True))
    missing = [str(fields["key"]) for fields in criteria if fields["key"] not in keys]
    if study.kind != kind or missing:
        says = gettext_noop("there is another study called {name!r}, which is about {kind}")
        if missing:
            says = gettext_noop("there is another study called {name!r}, which lacks the criterion {criterion}")
        lacking = missing[0] if missing else ""
        raise InputError(says, field="study", name=name, kind=study.get_kind_display(), criterion=lacking)
    return study


@audited("study.create", says=("kind",))
def create_study(
    *,
    by: User | None,
    name: str,
    kind: str,
    criteria: Sequence[Mapping[str, object]],
    description: str,
    project: Project | None = None,
) -> Study:
    """A closed study: its labels were given elsewhere. It can be opened for more."""
    with transaction.atomic():
        study = Study.objects.create(
            project=choose_project(by, project),
            name=studies.clean_name(name),
            slug=studies.free_slug(name),
            kind=kind,
            shown=list(PARTS[kind]),
            state=Study.State.CLOSED,
            description=description,
            overlap=1,
            created_by=by,
        )
        Criterion.objects.bulk_create(
            Criterion(study=study, position=position, **fields) for position, fields in enumerate(criteria, start=1)
        )
    return study


def add_items(*, by: User | None, study: Study, material: Iterable[Dialogue | ResponsePair]) -> dict[int, int]:
    """Make an item of each of the material that is none yet; the items' ids by the material's."""
    column = f"{study.kind}_id"
    there: dict[int, int] = dict(study.items.values_list(column, "pk"))
    new = [one for one in material if one.pk not in there]
    if new:
        sample = Sample.objects.create(
            study=study,
            method="all",
            frame_size=len(new),
            size=len(new),
            input_hash=content_hash([[one.source, one.external_id] for one in new]),
            created_by=by,
        )
        last = study.items.aggregate(last=Max("position"))["last"] or 0
        items = [
            Item(
                study=study,
                sample=sample,
                position=position,
                inclusion_probability=one.inclusion_probability,
                content_hash=one.content_hash,
                **{column: one.pk},
            )
            for position, one in enumerate(new, start=last + 1)
        ]
        Item.objects.bulk_create(items, batch_size=BATCH)
        there |= dict(study.items.filter(position__gt=last).values_list(column, "pk"))
    return there


def add_annotators(*, study: Study, names: Iterable[str], outcome: Outcome) -> dict[str, User]:
    """An account that cannot sign in for each name, `<name>@<study>`, taking part in the study."""
    wanted = {f"{name}@{study.slug}": name for name in names}
    for username, name in wanted.items():
        check_line(name, field="rater")
        if len(username) > LONGEST_USERNAME:
            raise InputError(
                "the name {name!r} is too long for an account {username!r}", field="rater", name=name, username=username
            )
    accounts = User.objects.in_bulk(list(wanted), field_name="username")
    new = [
        User(username=username, display_name=name, kind=User.Kind.IMPORTED, password=make_password(None))
        for username, name in wanted.items()
        if username not in accounts
    ]
    for username, account in accounts.items():
        if account.kind != User.Kind.IMPORTED:
            raise InputError(
                "the account {username} is not one of an imported annotator", field="rater", username=username
            )
    User.objects.bulk_create(new)
    outcome.add("annotators", created=len(new), unchanged=len(accounts))
    accounts |= User.objects.in_bulk([user.username for user in new], field_name="username")
    study.annotators.add(*accounts.values())
    return {name: accounts[username] for username, name in wanted.items()}


def save_labels(*, study: Study, labels: Iterable[ImportedLabel], outcome: Outcome) -> None:
    """Submit the labels in slots of their items: open ones first, further ones where these do not suffice."""
    labels = list(labels)
    with transaction.atomic():
        accounts = add_annotators(
            study=study, names=dict.fromkeys(label.annotator for label in labels), outcome=outcome
        )
        held = create_assignments(study, labels, accounts)
        save_annotations(study, held, outcome)
        most = study.assignments.filter(purpose=RATING).aggregate(most=Max("slot"))["most"] or 1
        Study.objects.filter(pk=study.pk, most_overlap__lt=most).update(most_overlap=most)
        Study.objects.filter(pk=study.pk, overlap__lt=most).update(overlap=most)


def create_assignments(study: Study, labels: Sequence[ImportedLabel], accounts: Mapping[str, User]) -> list[ItemLabels]:
    """A submitted slot for each annotator of each item."""
    grouped: dict[tuple[int, int], list[ImportedLabel]] = defaultdict(list)
    for label in labels:
        grouped[label.item, accounts[label.annotator].pk].append(label)
    slots: dict[int, list[Assignment]] = defaultdict(list)
    for assignment in study.assignments.filter(purpose=RATING).order_by("slot"):
        slots[assignment.item_id].append(assignment)
    ranks = dict(study.items.values_list("pk", "position"))
    held = [
        ItemLabels(find_or_create_assignment(study, item, ranks[item], annotator, slots[item]), group)
        for (item, annotator), group in grouped.items()
    ]
    submit(held)
    return held


def find_or_create_assignment(
    study: Study, item: int, rank: int, annotator: int, slots: list[Assignment]
) -> Assignment:
    """The annotator's slot of an item, else an open one, else a further one; `slots` are the item's."""
    own = [slot for slot in slots if slot.annotator_id == annotator]
    free = own or [slot for slot in slots if slot.annotator_id is None]
    if free:
        slot = free[0]
    else:
        number = max((slot.slot for slot in slots), default=0) + 1
        slot = Assignment(study=study, item_id=item, slot=number, rank=rank)
        slots.append(slot)
    slot.annotator_id = annotator
    return slot


def submit(held: Sequence[ItemLabels]) -> None:
    """Save the slots that are not submitted yet."""
    now = timezone.now()
    fresh = [one for one in held if one.assignment.state != Assignment.State.SUBMITTED]
    for one in fresh:
        one.assignment.state, one.assignment.order = Assignment.State.SUBMITTED, one.labels[0].order
        one.assignment.submitted_at, one.assignment.leased_until = one.labels[0].submitted_at or now, None
        one.assignment.active_seconds = one.labels[0].active_seconds
    new = [one.assignment for one in fresh if one.assignment.pk is None]
    taken = [one.assignment for one in fresh if one.assignment.pk is not None]
    Assignment.objects.bulk_create(new, batch_size=BATCH)
    update_alike(taken, ["annotator_id", "state", "order", "submitted_at", "leased_until", "active_seconds"])


def save_annotations(study: Study, held: Sequence[ItemLabels], outcome: Outcome) -> None:
    """Insert the labels that are new, update those that changed."""
    versions = dict(study.criteria.values_list("pk", "guideline_version"))
    stored = {
        (annotation.assignment_id, annotation.criterion_id, annotation.turn): annotation
        for annotation in Annotation.objects.filter(assignment__study=study)
    }
    new: list[Annotation] = []
    changed: list[Annotation] = []
    same = 0
    now = timezone.now()
    for one in held:
        for label in one.labels:
            annotation = stored.get((one.assignment.pk, label.criterion, label.turn))
            if annotation is None:
                annotation = Annotation(assignment=one.assignment, criterion_id=label.criterion, turn=label.turn)
                annotation.guideline_version = versions[label.criterion]
                for name, value in label.beside.items():
                    setattr(annotation, name, value)
                new.append(annotation)
            elif read_answer(annotation) == read_answer(label):
                same += 1
                continue
            else:
                changed.append(annotation)
            annotation.value, annotation.unscored_reason = label.value, label.unscored_reason
            annotation.content = label.content
            annotation.updated_at = now
    Annotation.objects.bulk_create(new, batch_size=BATCH)
    Annotation.objects.bulk_update(changed, ["value", "content", "unscored_reason", "updated_at"], batch_size=200)
    outcome.add("annotations", created=len(new), updated=len(changed), unchanged=same)


def read_answer(one: Annotation | ImportedLabel) -> tuple[str, str, object]:
    """What somebody said."""
    return one.value, one.unscored_reason, one.content
