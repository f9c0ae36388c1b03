"""What an annotator's pages say: their studies, and how far they have come."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, Exists, Max, Model, OuterRef, Q, QuerySet

from annotation.quality.models import KnownItem
from annotation.stats.queueing import Mixing
from annotation.studies.models.assignments import WORK, Assignment
from annotation.studies.models.labels import Draft
from annotation.studies.models.studies import Item, Study
from annotation.workbench.queries.queue_position import LOOK_AHEAD, counts
from core.accounts.models.users import User

SUBMITTED = Assignment.State.SUBMITTED
MOST_COUNTED = 2000
"""Open slots that are enough for everybody, however many they are."""
FAR_BACK = 2 * LOOK_AHEAD
"""Items before the last that are looked at for some to repeat: enough for all repeats that are counted."""

STRETCH, ENOUGH = 20, 5  # items that an annotator's pace is told from, at most and at least


@dataclass(frozen=True)
class Progress:
    """How many items of a study one annotator has rated, and how many are left for them."""

    study: Study
    rated: int
    left: int
    more: bool = False  # there are more than `left`; counting them all would not help anybody

    @property
    def full(self) -> bool:
        """Whether they have rated as many items as one person may."""
        return self.study.item_limit is not None and self.rated >= self.study.item_limit

    @property
    def total(self) -> int:
        return self.rated + self.left


def my_studies(annotator: User) -> list[Progress]:
    """The open studies that they rate in, with their progress, in four queries."""
    return progress(annotator, annotator.studies.filter(state=Study.State.OPEN).order_by("name"))


def my_progress(annotator: User, study: Study) -> Progress:
    """How far they have come; what is left is counted up to a number that is far enough to look ahead.

    The cost does not depend on the size of the study. What is held and what is free is counted by one statement: a
    slot that is taken meanwhile is in one of the two, whichever. The statements after it leave out what they are given
    meanwhile: their page keeps the next items ready while it saves the last.
    """
    found = counts(annotator, study)
    seen = range(found.number - study.repeat_after - FAR_BACK, found.number + 1)
    return count_progress(
        annotator,
        study,
        number=found.number,
        rated=found.rated,
        unfinished=found.unfinished,
        free=found.free,
        checks=unseen_checks(annotator, [study], seen=seen).count() if study.check_every else 0,
        repeatable=list_repeatable(annotator, [study], seen=seen).get(study.pk, []),
        bound=LOOK_AHEAD,
    )


def count_progress(
    annotator: User,
    study: Study,
    *,
    number: int,
    rated: int,
    unfinished: int,
    free: int,
    checks: int,
    repeatable: list[int],
    bound: int | None = None,
) -> Progress:
    """Progress with the checks and repeats that come among the free items, and no more than one person may rate.

    `number` is how many items they have been given, `checks` how many known items are left for them, `repeatable` the
    numbers of the items that they rated once.
    """
    more = bound is not None and free >= bound
    free = free if bound is None else min(free, bound)
    free += load_mixing(annotator, study).count_ahead(number + 1, free, checks, repeatable)
    if study.item_limit is not None:
        room = max(0, study.item_limit - rated - unfinished)
        free, more = min(free, room), more and free < room
    return Progress(study, rated, unfinished + free, more=more)


def load_mixing(annotator: User, study: Study) -> Mixing:
    """Where checks and repeats come among their items."""
    return Mixing(study.seed, annotator.username, study.check_every, study.repeat_every, study.repeat_after)


EVERYTHING = range(2**31 - 1)


def list_repeatable(annotator: User, studies: Collection[Study], *, seen: range = EVERYTHING) -> dict[int, list[int]]:
    """The numbers, of those in `seen`, of the items that they were given once and have not skipped, in each study that
    repeats some."""
    repeating = [study for study in studies if study.repeat_every]
    found: dict[int, list[int]] = {study.pk: [] for study in repeating}
    if repeating:
        given = Assignment.objects.filter(annotator=annotator, study__in=repeating, number__lt=seen.stop)
        repeats = Assignment.objects.filter(annotator=annotator, purpose=Assignment.Purpose.REPEAT)
        again = repeats.filter(item=OuterRef("item")).exclude(number__gte=seen.stop)
        once = given.filter(~Exists(again), purpose=Assignment.Purpose.RATING, number__gte=seen.start)
        for study, number in once.exclude(state=Assignment.State.SKIPPED).values_list("study", "number"):
            found[study].append(number or 0)  # of those in `seen` none is without
    return found


def unseen_checks(annotator: User, studies: Collection[Study], *, seen: range = EVERYTHING) -> QuerySet[KnownItem]:
    """The studies' checks whose dialogue or pair they have not been given before, for whatever purpose or study.

    Items of these studies with a number behind `seen` do not count as given.
    """
    theirs = Assignment.objects.filter(
        Q(item__dialogue=OuterRef("item__dialogue")) | Q(item__pair=OuterRef("item__pair")),
        ~Q(study__in=studies, number__gte=seen.stop),
        annotator=annotator,
    )
    checks = KnownItem.objects.filter(study__in=studies, purpose=KnownItem.Purpose.CHECK, retired_at=None)
    return checks.filter(~Exists(theirs))


def exclude_held(annotator: User) -> Q:
    """Exclude assignments of items of which the annotator holds one."""
    return Q(~Exists(Assignment.objects.filter(item=OuterRef("item"), annotator=annotator)))


def drafts(annotator: User) -> QuerySet[Draft]:
    """What they entered and have not handed in."""
    return Draft.objects.filter(annotator=annotator, state=Draft.State.DRAFT)


def progress(annotator: User, studies: QuerySet[Study]) -> list[Progress]:
    found = list(studies)
    held = {
        study: {"rated": rated, "unfinished": unfinished, "number": number or 0}
        for study, rated, unfinished, number in Assignment.objects.filter(
            annotator=annotator, study__in=found, purpose__in=WORK
        )
        .order_by()
        .values_list("study")
        .annotate(
            rated=Count("pk", filter=Q(state=SUBMITTED)),
            unfinished=Count("pk", filter=~Q(state=SUBMITTED)),
            last=Max("number"),
        )
    }
    free = count_by_study(free_items(annotator, found))
    checks = count_by_study(unseen_checks(annotator, [study for study in found if study.check_every]))
    repeatable = list_repeatable(annotator, found)
    nothing = {"rated": 0, "unfinished": 0, "number": 0}
    return [
        count_progress(
            annotator,
            study,
            **held.get(study.pk, nothing),
            free=free.get(study.pk, 0),
            checks=checks.get(study.pk, 0),
            repeatable=repeatable.get(study.pk, []),
        )
        for study in found
    ]


def count_by_study(rows: QuerySet[Model]) -> dict[int, int]:
    """How many of the rows belong to each study."""
    return dict(rows.order_by().values_list("study").annotate(n=Count("pk")))


def has_plenty(study: Study, each: int) -> bool:
    """Whether more slots are open than `each` for all others: else who holds some ready keeps them from somebody."""
    enough = min(each * (study.annotators.count() - 1), MOST_COUNTED)
    return study.assignments.filter(state=Assignment.State.OPEN)[: enough + 1].count() > enough


def holds_more(user: User, study: Study, holding: Collection[int]) -> bool:
    """Whether they hold an item besides these ids: of a page that they have left."""
    mine = study.assignments.filter(annotator=user, state=Assignment.State.LEASED)
    return mine.exclude(pk__in=holding).exists()


def free_items(annotator: User, studies: list[Study]) -> QuerySet[Item]:
    """Items with an open slot of which they hold none."""
    slots = Assignment.objects.filter(item=OuterRef("pk"))
    return Item.objects.filter(
        Exists(slots.filter(state=Assignment.State.OPEN)), ~Exists(slots.filter(annotator=annotator)), study__in=studies
    )


def select_subject(slots: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Slots with all that the rating page shows of their item, in the same query."""
    return slots.select_related(
        "study", "item__dialogue__scenario__profile", "item__dialogue__scenario__task", "item__pair__profile"
    )


def list_mine(annotator: User) -> QuerySet[Assignment]:
    """What they hold or have submitted, in whatever study."""
    return select_subject(Assignment.objects.filter(annotator=annotator))


def list_submitted(annotator: User, study: Study) -> QuerySet[Assignment]:
    """What they submitted in a study, first to last."""
    return annotator.assignments.filter(study=study, state=SUBMITTED, purpose__in=WORK).order_by("submitted_at", "pk")


def recent_seconds(annotator: User, study: Study) -> list[float]:
    """Times of the last items that they submitted, the newest last, without idle time: what their pace is told from."""
    timed = list_submitted(annotator, study).filter(active_seconds__gt=0).order_by("-submitted_at", "-pk")
    return [seconds or 0.0 for seconds in timed.values_list("active_seconds", flat=True)[:STRETCH]][::-1]


def an_hour(seconds: list[float]) -> int | None:
    """Items an hour at the pace of these times; None while there are too few to say."""
    return round(3600 * len(seconds) / sum(seconds)) if len(seconds) >= ENOUGH else None


def find_previous(slot: Assignment, annotator: User) -> Assignment | None:
    """What they submitted last before a submitted slot, or at all while the slot is in work."""
    submitted = list_submitted(annotator, slot.study)
    if slot.submitted_at:
        submitted = submitted.filter(
            Q(submitted_at__lt=slot.submitted_at) | Q(submitted_at=slot.submitted_at, pk__lt=slot.pk)
        )
    return submitted.last()


def find_next(slot: Assignment, annotator: User) -> Assignment | None:
    """What they submitted next after a submitted slot."""
    if not slot.submitted_at:
        return None
    later = Q(submitted_at__gt=slot.submitted_at) | Q(submitted_at=slot.submitted_at, pk__gt=slot.pk)
    return list_submitted(annotator, slot.study).filter(later).first()


def place(slot: Assignment, annotator: User, progress: Progress) -> int:
    """A slot's place among their items: by time of submission, or the one after all submitted ones."""
    if not slot.submitted_at:
        return min(progress.rated + 1, progress.total)
    return list_submitted(annotator, slot.study).filter(submitted_at__lte=slot.submitted_at).count()
