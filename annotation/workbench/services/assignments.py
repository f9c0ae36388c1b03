"""The queue: hands each annotator the next item, so that no item is rated by more than the overlap.

A slot is claimed by one statement that finds the first open one and takes it; if it changed no row, somebody else got
there first. Where the database can skip rows that others have locked, it does, so that people who press "next" at once
do not wait for each other. The constraint of one slot per item and annotator is the last guard.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.quality.services import qualification
from annotation.stats.orders import MOST
from annotation.stats.queueing import draw_order, lot
from annotation.studies.models.assignments import WORK, Assignment
from annotation.studies.models.studies import Item, Study
from annotation.workbench.queries import work
from annotation.workbench.queries.queue_position import Last, QueuePosition, load_last_taken, load_queue_position
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.statements import Columns, load

LEASE = timedelta(minutes=15)
FRESH = timedelta(minutes=1)
CANDIDATES = 5  # skipped slots that are read at once
ATTEMPTS = 20
COLUMNS = Columns(Assignment)
OPEN, LEASED, SKIPPED = Assignment.State.OPEN, Assignment.State.LEASED, Assignment.State.SKIPPED
RATING = Assignment.Purpose.RATING
FREED: dict[str, object] = {"state": OPEN, "annotator": None, "leased_until": None, "started_at": None, "number": None}


class ConsentNeededError(InputError):
    """They have not agreed to the text that the study asks people to agree to."""


@audited("study.add_annotators", on="study", says=("annotators",))
def add_annotators(*, by: User | None, study: Study, annotators: Iterable[User]) -> None:  # noqa: ARG001
    """Let these people rate the study's items. Those who already do are left as they are."""
    study.annotators.add(*annotators)


def lease_next(*, by: User, study: Study, holding: Collection[int] = ()) -> Assignment | None:
    """The slot that `by` should rate now, leased for a quarter of an hour; None when nothing is left for them.

    In this order: training and qualification where they are asked for and not passed; what they have in work (also
    past its lease); a check or a repeat where one is due; the first open slot of an item they do not hold; a slot whose
    lease another let expire; and what they skipped, the longest ago first. `holding` are the ids of slots that their
    page shows or keeps ready already: not those again.
    """
    here = check(by, study, load_queue_position(by, study, holding))
    if study.pass_mark is not None and not qualification.is_open_for(by, study):
        return qualification.assign_next(by, study, lease=LEASE)
    found = resume_own(by, study, here)
    if found or has_reached_limit(by, study):
        return found or reopen_skipped(by, study)
    return (
        insert_check(by, study, here.last)
        or claim_open(by, study, here.last)
        or claim_expired(by, study, here.last)
        or reopen_skipped(by, study)
    )


def put_back(*, by: User, assignment: Assignment) -> bool:
    """Free a slot that was kept ready and never worked on. False if there is work on it, or it is not theirs."""
    untouched = Q(~Exists(work.drafts(by).filter(assignment=OuterRef("pk"))), active_seconds=None)
    theirs = Assignment.objects.filter(untouched, pk=assignment.pk, annotator=by, state=LEASED)
    if assignment.purpose != RATING:  # made for them alone: made again when it is due again
        return bool(theirs.delete()[0])
    return bool(theirs.update(**FREED))


def skip(*, by: User, assignment: Assignment) -> None:
    """Put it off: it stays theirs and comes back when nothing else is left."""
    mine = Assignment.objects.filter(pk=assignment.pk, annotator=by, state=LEASED, purpose__in=WORK)
    if not mine.update(state=SKIPPED, leased_until=None):
        raise InputError("Only an item in work can be skipped.", field="assignment")


def renew(*, by: User, assignment: Assignment) -> bool:
    """Start the lease anew while they look at it. False if the slot is not in their work."""
    return bool(
        Assignment.objects.filter(pk=assignment.pk, annotator=by, state=LEASED).update(
            leased_until=timezone.now() + LEASE
        )
    )


def is_running_out(assignment: Assignment) -> bool:
    """Whether more than a minute of its lease is used: until then nobody needs to renew it."""
    return assignment.leased_until is None or assignment.leased_until < timezone.now() + LEASE - FRESH


def renew_all(*, by: User, study: Study) -> int:
    """Start all their leases in a study anew: what they look at, and what is kept ready. Returns how many."""
    return study.assignments.filter(annotator=by, state=LEASED).update(leased_until=timezone.now() + LEASE)


@audited("annotator.release", on="annotator")
def release(*, by: User | None, study: Study, annotator: User) -> int:  # noqa: ARG001
    """Give what an annotator has in work or skipped to the others. Returns how many slots that were.

    Checks and repeats stay: they are for nobody else.
    """
    return study.assignments.filter(annotator=annotator, state__in=[LEASED, SKIPPED], purpose=RATING).update(**FREED)


def check(by: User, study: Study, here: QueuePosition | None) -> QueuePosition:
    """Where they stand, if they may be given items. Raises InputError otherwise."""
    if study.state != Study.State.OPEN:
        raise InputError(
            "{study} is {state}: no items are handed out.",
            field="study",
            study=study,
            state=study.get_state_display(),
        )
    if here is None:
        raise InputError("{by} is not an annotator of {study}.", field="annotator", by=by, study=study)
    if here.owes_consent:
        raise ConsentNeededError("{by} has not agreed to take part in {study}.", field="consent", by=by, study=study)
    if here.is_excluded:
        raise InputError(
            "No more items of {study} are handed out to {by}. Ask who runs the study.",
            field="annotator",
            study=study,
            by=by,
        )
    return here


def has_reached_limit(by: User, study: Study) -> bool:
    """Whether they have been given as many items as one person may rate."""
    if study.item_limit is None:
        return False
    return study.assignments.filter(annotator=by, purpose__in=WORK)[: study.item_limit].count() >= study.item_limit


def resume_own(by: User, study: Study, here: QueuePosition) -> Assignment | None:
    """What they have in work the longest, with a new lease."""
    found = study.assignments.filter(annotator=by, pk=here.in_work).first() if here.in_work else None
    return found if found and renew(by=by, assignment=found) else None


def insert_check(by: User, study: Study, last: Last) -> Assignment | None:
    """A check or a repeat, if one is due for them now and there is one, as long as items to be rated are left."""
    if not study.check_every and not study.repeat_every:
        return None
    due = work.load_mixing(by, study).due(last.number + 1)
    if due is None or not list_open_assignments(by, study).exists():
        return None
    made = a_check(by, study) if due == "check" else a_repeat(by, study, last)
    return create_for_annotator(made, by, last) if made else None


def a_check(by: User, study: Study) -> Assignment | None:
    """One of the checks that they have not seen, by lot."""
    unseen = work.unseen_checks(by, [study]).values_list("position", "pk", "item")
    drawn = min(unseen, key=lambda one: lot(study.seed, by.username, one[0]), default=None)
    if drawn is None:
        return None
    return Assignment(study=study, item_id=drawn[2], known_id=drawn[1], purpose=Assignment.Purpose.CHECK)


def a_repeat(by: User, study: Study, last: Last) -> Assignment | None:
    """An item that they rated, with enough others since, by lot: the first one from a place that is drawn."""
    newest = last.number - study.repeat_after
    again = Assignment.objects.filter(annotator=by, item=OuterRef("item"), purpose=Assignment.Purpose.REPEAT)
    rated = study.assignments.filter(
        ~Exists(again), annotator=by, state=Assignment.State.SUBMITTED, purpose=RATING, number__lte=newest
    )
    start = lot(study.seed, by.username, "repeat of", last.number) % newest + 1 if newest > 0 else 0
    found = rated.filter(number__gte=start).order_by("number").first()
    found = found or rated.filter(number__lt=start).order_by("-number").first()
    return Assignment(study=study, item_id=found.item_id, purpose=Assignment.Purpose.REPEAT) if found else None


def create_for_annotator(made: Assignment, by: User, last: Last) -> Assignment | None:
    """Store an assignment made for one person as their next. None if in another window they got one just now."""
    now = timezone.now()
    made.annotator, made.state, made.started_at, made.leased_until = by, LEASED, now, now + LEASE
    made.slot, made.rank, made.number = 1, last.rank, last.number + 1
    made.order = choose_order(by, made.study, made.number, made.item)
    try:
        with transaction.atomic():
            made.save(force_insert=True)
    except IntegrityError:
        return None
    return made


def choose_order(by: User, study: Study, number: int, item: Item) -> str:
    """In which order they see the responses of their item of this number; none where it is a dialogue."""
    if study.kind != Study.Kind.PAIR or item.pair is None:
        return ""
    return draw_order(study.seed, by.username, number, n=item.pair.n_responses)


def draw_orders(by: User, study: Study, number: int) -> str:
    """The orders of items of one response, of two, of three, …, one behind the other: which is needed is known once the
    item is."""
    if study.kind != Study.Kind.PAIR:
        return ""
    return "".join(draw_order(study.seed, by.username, number, n=n) for n in range(1, MOST + 1))


def claim_open(by: User, study: Study, last: Last) -> Assignment | None:
    """The first open slot after the place where they last took one; from the beginning when none is left there.

    Going on from their own place keeps the search from walking past the thousands of items that they hold already.
    """
    return claim_first_open(by, study, last, after=last.rank) or (
        claim_first_open(by, study, last, after=0) if last.rank else None
    )


def claim_first_open(by: User, study: Study, last: Last, *, after: int) -> Assignment | None:
    """The first slot behind this place that nobody else gets hold of at the same moment: found and taken at once."""
    for _attempt in range(ATTEMPTS):
        try:
            with open_savepoint():
                found = claim_first(by, study, number=last.number + 1, after=after)
        except IntegrityError:  # in another window they got another slot of the same item, or this number
            if has_reached_limit(by, study):
                return None
            last = load_last_taken(by, study)
            if due := insert_check(by, study, last):  # what was asked before was the number that is taken now
                return due
            continue
        if found or not list_open_assignments(by, study).filter(rank__gt=after).exists():
            return found
    return None


CLAIM = """
UPDATE annotation_assignment
SET annotator_id = %(me)s, state = 'leased', number = %(number)s, started_at = %(now)s, leased_until = %(until)s,
    "order" = coalesce((
        SELECT draft."order" FROM annotation_draft AS draft
        WHERE draft.assignment_id = annotation_assignment.id AND draft.annotator_id = %(me)s AND draft."order" <> ''
    ), (
        SELECT substr(CAST(%(orders)s AS text), pair.n_responses * (pair.n_responses - 1) / 2 + 1, pair.n_responses)
        FROM annotation_item AS item JOIN annotation_responsepair AS pair ON pair.id = item.pair_id
        WHERE item.id = annotation_assignment.item_id
    ), '')
WHERE state = 'open' AND EXISTS (
    SELECT 1 FROM annotation_study_annotators AS part
    WHERE part.study_id = %(study)s AND part.user_id = %(me)s STAYS
) AND id = (
    SELECT slot.id FROM annotation_assignment AS slot
    WHERE slot.study_id = %(study)s AND slot.state = 'open' AND slot.rank > %(after)s
        AND NOT EXISTS (
            SELECT 1 FROM annotation_assignment AS mine
            WHERE mine.item_id = slot.item_id AND mine.annotator_id = %(me)s
        )
    ORDER BY slot.rank, slot.slot LIMIT 1 LOCKED
)
RETURNING EXISTS (
    SELECT 1 FROM annotation_draft AS draft
    WHERE draft.assignment_id = annotation_assignment.id AND draft.annotator_id = %(me)s AND draft.decided_at IS NULL
), COLUMNS
""".replace("COLUMNS", COLUMNS.render("annotation_assignment"))  # nosec B608 # names of columns

CLAIM_SKIPPING = CLAIM.replace("LOCKED", "FOR UPDATE OF slot SKIP LOCKED").replace("STAYS", "FOR KEY SHARE")
CLAIM_PLAIN = CLAIM.replace("LOCKED", "").replace("STAYS", "")


def claim_first(by: User, study: Study, *, number: int, after: int) -> Assignment | None:
    """Take the first open slot behind a place, by one statement that gives it back. None if there is none, or if
    somebody was faster. Raises IntegrityError if they took something else meanwhile.

    Who withdraws at this moment is given nothing: their part in the study stays as it is until they have the slot. Who
    has a draft of it sees the sides as they were then.
    """
    now = timezone.now()
    given = {
        "me": by.pk,
        "study": study.pk,
        "number": number,
        "orders": draw_orders(by, study, number),
        "after": after,
        "now": now,
        "until": now + LEASE,
    }
    claim = CLAIM_SKIPPING if connection.features.has_select_for_update_skip_locked else CLAIM_PLAIN
    found = load(claim, given, COLUMNS)
    if found is None:
        return None
    slot: Assignment
    has_draft, slot = found
    slot.may_have_draft = bool(has_draft)
    return slot


def build_lease_columns(by: User, number: int) -> dict[str, object]:
    """What becomes of a slot that is leased to somebody as their item of this number."""
    now = timezone.now()
    return {"annotator": by, "state": LEASED, "started_at": now, "leased_until": now + LEASE, "number": number}


def open_savepoint() -> AbstractContextManager[object]:
    """Guard one statement that may fail: elsewhere a statement is a transaction of its own."""
    return transaction.atomic() if connection.in_atomic_block else nullcontext()


def list_open_assignments(by: User, study: Study) -> QuerySet[Assignment]:
    """Open slots of items that they hold no slot of, in the order of the queue."""
    return study.assignments.filter(work.exclude_held(by), state=OPEN).order_by("rank", "slot")


def claim(by: User, slot: Assignment, *, order: str) -> bool:
    """Take this very slot, if it is open, with the sides as they have seen them. False if somebody was faster."""
    new = {**build_lease_columns(by, load_last_taken(by, slot.study).number + 1), "order": order}
    try:
        with open_savepoint():
            return lease(slot, Q(state=OPEN, annotator=None), new)
    except IntegrityError:  # in another window they got another slot of the same item
        return False


def lease(slot: Assignment, as_read: Q, new: Mapping[str, object]) -> bool:
    """Give the slot to somebody if it is still as it was read."""
    if not Assignment.objects.filter(as_read, pk=slot.pk).update(**new):
        return False
    for field, value in new.items():
        setattr(slot, field, value)
    return True


def claim_expired(by: User, study: Study, last: Last) -> Assignment | None:
    """Open the slots whose lease ran out, and claim one. Only now, so that a pause costs nobody their work."""
    expired = study.assignments.filter(
        work.exclude_held(by), state=LEASED, leased_until__lt=timezone.now(), purpose=RATING
    )
    released = expired.update(**FREED)
    return claim_open(by, study, last) if released else None


def reopen_skipped(by: User, study: Study) -> Assignment | None:
    skipped = study.assignments.filter(annotator=by, state=SKIPPED)
    for slot in skipped.order_by("started_at", "rank")[:CANDIDATES]:
        now = timezone.now()
        again = {"state": LEASED, "started_at": now, "leased_until": now + LEASE}
        if lease(slot, Q(state=SKIPPED, annotator=by), again):
            return slot
    return None
