"""What an annotator's pages say: their studies, and how far they have come."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, prefetch_related_objects

from annotation.models import Assignment, Draft, Item, Study, User

SUBMITTED = Assignment.State.SUBMITTED
LOOK_AHEAD = 200  # items left that are counted at most


@dataclass(frozen=True)
class Progress:
    """How many items of a study one annotator has rated, and how many are left for them."""

    study: Study
    rated: int
    left: int
    more: bool = False  # there are more than `left`; counting them all would not help anybody

    @property
    def total(self) -> int:
        return self.rated + self.left


def my_studies(annotator: User) -> list[Progress]:
    """The open studies that they rate in, with their progress, in three queries."""
    return progress(annotator, annotator.studies.filter(state=Study.State.OPEN).order_by("name"))


def my_progress(annotator: User, study: Study) -> Progress:
    """How far they have come; what is left is counted up to a number that is far enough to look ahead.

    The cost does not depend on the size of the study: four queries that each read an index up to a bound.
    """
    mine = annotator.assignments.filter(study=study)
    held = dict(mine.order_by().values_list("state").annotate(n=Count("pk")))
    rated = held.pop(SUBMITTED, 0)
    place = last_taken(annotator, study)
    free = min(LOOK_AHEAD, free_ranks(annotator, study, rank__gt=place).count())
    if place and free < LOOK_AHEAD:
        free += free_ranks(annotator, study, rank__lte=place).count()
    return Progress(study, rated, sum(held.values()) + min(free, LOOK_AHEAD), more=free >= LOOK_AHEAD)


def free_ranks(annotator: User, study: Study, **where: int) -> QuerySet[Assignment, int]:
    """Places of the items that they could still be given, no more than are counted."""
    slots = study.assignments.filter(not_held(annotator), state=Assignment.State.OPEN, **where)
    return slots.order_by("rank").values_list("rank", flat=True).distinct()[:LOOK_AHEAD]


def not_held(annotator: User) -> Q:
    """Of slots: those of items that they hold no slot of."""
    return Q(~Exists(Assignment.objects.filter(item=OuterRef("item"), annotator=annotator)))


def last_taken(annotator: User, study: Study) -> int:
    """The place in the queue of the slot that they took last; 0 before the first."""
    latest = annotator.assignments.filter(study=study, started_at__isnull=False).order_by("-started_at", "-rank")
    return latest.values_list("rank", flat=True).first() or 0


def drafts(annotator: User) -> QuerySet[Draft]:
    """What they entered and have not handed in."""
    return Draft.objects.filter(annotator=annotator, state=Draft.State.DRAFT)


def progress(annotator: User, studies: QuerySet[Study]) -> list[Progress]:
    found = list(studies)
    held = {
        study: (rated, unfinished)
        for study, rated, unfinished in Assignment.objects.filter(annotator=annotator, study__in=found)
        .order_by()
        .values_list("study")
        .annotate(rated=Count("pk", filter=Q(state=SUBMITTED)), unfinished=Count("pk", filter=~Q(state=SUBMITTED)))
    }
    free = dict(free_items(annotator, found).order_by().values_list("study").annotate(n=Count("pk")))
    return [
        Progress(study, held.get(study.pk, (0, 0))[0], held.get(study.pk, (0, 0))[1] + free.get(study.pk, 0))
        for study in found
    ]


def free_items(annotator: User, studies: list[Study]) -> QuerySet[Item]:
    """Items with an open slot of which they hold none."""
    slots = Assignment.objects.filter(item=OuterRef("pk"))
    return Item.objects.filter(
        Exists(slots.filter(state=Assignment.State.OPEN)), ~Exists(slots.filter(annotator=annotator)), study__in=studies
    )


def with_subject(slots: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Slots with all that the rating page shows of their item, in the same query."""
    return slots.select_related(
        "study", "item__dialogue__scenario__profile", "item__dialogue__scenario__task", "item__pair__profile"
    )


def with_texts(slot: Assignment) -> Assignment:
    """The slot with all that the page shows of its item, in one query; only what its kind of item has is joined."""
    paths = {
        Study.Kind.DIALOGUE: ("dialogue__scenario__profile", "dialogue__scenario__task"),
        Study.Kind.PAIR: ("pair__profile",),
    }[Study.Kind(slot.study.kind)]
    slot.item = Item.objects.select_related(*paths).get(pk=slot.item_id)
    return slot


def held(annotator: User, pk: int) -> Assignment | None:
    """A slot that they hold or have submitted, with its study and what that asks, but without the item's texts."""
    found = annotator.assignments.select_related("study").filter(pk=pk).first()
    if found:
        prefetch_related_objects([found.study], "criteria")
    return found


def mine(annotator: User) -> QuerySet[Assignment]:
    """What they hold or have submitted, in whatever study."""
    return with_subject(Assignment.objects.filter(annotator=annotator))


def sent(annotator: User, study: Study) -> QuerySet[Assignment]:
    """What they submitted in a study, first to last."""
    return annotator.assignments.filter(study=study, state=SUBMITTED).order_by("submitted_at", "pk")


def before(slot: Assignment, annotator: User) -> Assignment | None:
    """What they submitted last before a submitted slot, or at all while the slot is in work."""
    submitted = sent(annotator, slot.study)
    if slot.submitted_at:
        submitted = submitted.filter(
            Q(submitted_at__lt=slot.submitted_at) | Q(submitted_at=slot.submitted_at, pk__lt=slot.pk)
        )
    return submitted.last()


def after(slot: Assignment, annotator: User) -> Assignment | None:
    """What they submitted next after a submitted slot."""
    if not slot.submitted_at:
        return None
    later = Q(submitted_at__gt=slot.submitted_at) | Q(submitted_at=slot.submitted_at, pk__gt=slot.pk)
    return sent(annotator, slot.study).filter(later).first()


def place(slot: Assignment, annotator: User, progress: Progress) -> int:
    """The how-manieth of their items a slot is: by time of submission, or the one after all submitted ones."""
    if not slot.submitted_at:
        return min(progress.rated + 1, progress.total)
    return sent(annotator, slot.study).filter(submitted_at__lte=slot.submitted_at).count()
