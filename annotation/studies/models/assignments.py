"""Who answers for which item of a study, and in which order its responses are shown to them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _, gettext_noop

from annotation.stats.orders import MOST, list_places
from annotation.studies.models.studies import Item, Study

IS_ORDER = Q(order__in=["", "A", "AB", "BA"]) | Q(order__contains="A") & Q(order__contains="B") & Q(order__contains="C")
"""An order of responses: none, that of one or two, or one that names the first three at least."""


class Assignment(models.Model):
    """One of an item's rating slots. There are `overlap` of them, and at most `most_overlap`, as items are asked about
    again; so no item is rated too often.

    A slot is open, or held by one annotator who is leased it, skipped it for later, or submitted it. The order in
    which responses are shown is drawn when the slot is given to somebody, for them alone, and stays as they have seen
    it.

    Items that are given to one person alone are assignments of another purpose: they are made when they are handed out
    and take no slot. Their items may belong to another study, and nothing is computed from them but the quality of the
    annotator.
    """

    class Purpose(models.TextChoices):
        RATING = "rating", gettext_noop("rating")
        REPEAT = "repeat", gettext_noop("repeat")
        CHECK = "check", gettext_noop("check")
        TRAINING = "training", gettext_noop("training")
        QUALIFICATION = "qualification", gettext_noop("qualification")

    class State(models.TextChoices):
        OPEN = "open", _("open")
        LEASED = "leased", _("in work")
        SKIPPED = "skipped", _("skipped")
        SUBMITTED = "submitted", _("submitted")

    study = models.ForeignKey(Study, models.CASCADE, related_name="assignments")
    item = models.ForeignKey(Item, models.CASCADE, related_name="assignments")
    purpose = models.CharField(max_length=16, choices=Purpose, default=Purpose.RATING)
    known = models.ForeignKey(
        "KnownItem",
        models.RESTRICT,
        null=True,
        blank=True,
        related_name="assignments",
        help_text="Of a check, training or qualification: what is known of the item.",
    )
    slot = models.PositiveSmallIntegerField(help_text="1 to the study's overlap; 1 for all but ratings.")
    rank = models.PositiveIntegerField(
        help_text="Place in the queue: the item's position, or for a repeat or check that of the item before it."
    )
    round = models.PositiveSmallIntegerField(
        default=1, db_default=1, help_text="Of the qualification: which try of its annotator; 1 for all else."
    )
    number = models.PositiveIntegerField(
        null=True, blank=True, help_text="Its place among the items that its annotator was given, from 1."
    )
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="assignments"
    )
    state = models.CharField(max_length=16, choices=State, default=State.OPEN)
    order = models.CharField(
        max_length=MOST,
        blank=True,
        default="",
        help_text="Which response stands at each place: of CAB the third is first. Empty: none, or not recorded.",
    )
    leased_until = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    active_seconds = models.FloatField(null=True, blank=True, help_text="Time spent on it, without idle time.")

    is_watched = True
    """Whether a webhook may wait to hear of it. A query that knows better says so."""
    may_have_draft = True
    """Whether something may be kept as a draft for it. A query that knows better says so."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "slot"], condition=Q(purpose="rating"), name="slot_once_per_item"),
            models.UniqueConstraint(
                fields=["item", "annotator"], condition=Q(purpose="rating"), name="annotator_once_per_item"
            ),
            models.UniqueConstraint(
                fields=["study", "item", "annotator", "purpose", "round"],
                condition=~Q(purpose="rating"),
                name="repeat_or_check_once_per_annotator",
            ),
            models.UniqueConstraint(
                fields=["annotator", "study", "number"],
                condition=Q(annotator__isnull=False),
                name="assignment_number_once",
            ),
            models.CheckConstraint(
                condition=Q(purpose__in=["rating", "repeat", "check", "training", "qualification"]),
                name="assignment_purpose_is_known",
            ),
            models.CheckConstraint(
                condition=Q(purpose__in=["rating", "repeat"], known__isnull=True)
                | Q(purpose__in=["check", "training", "qualification"], known__isnull=False),
                name="assignment_known_where_it_is_checked",
            ),
            models.CheckConstraint(
                condition=Q(purpose="rating") | ~Q(state="open"), name="assignment_only_ratings_are_open"
            ),
            models.CheckConstraint(
                condition=Q(round=1) | Q(round__gt=1, purpose="qualification"),
                name="assignment_rounds_are_of_the_qualification",
            ),
            models.CheckConstraint(
                condition=Q(number__isnull=True) | Q(number__gte=1), name="assignment_number_from_one"
            ),
            models.CheckConstraint(condition=IS_ORDER, name="assignment_order_is_known"),
            models.CheckConstraint(condition=Q(slot__gte=1), name="assignment_slot_from_one"),
            models.CheckConstraint(
                condition=Q(state="open", annotator__isnull=True)
                | Q(state__in=["leased", "skipped", "submitted"], annotator__isnull=False),
                name="assignment_open_or_held",
            ),
            models.CheckConstraint(
                condition=Q(state="leased", leased_until__isnull=False)
                | Q(state__in=["open", "skipped", "submitted"], leased_until__isnull=True),
                name="assignment_leased_until_only_while_leased",
            ),
            models.CheckConstraint(
                condition=Q(state="submitted", submitted_at__isnull=False)
                | Q(state__in=["open", "leased", "skipped"], submitted_at__isnull=True),
                name="assignment_submitted_at_only_when_submitted",
            ),
        ]
        indexes = [
            models.Index(fields=["study", "state", "rank", "slot"], name="assignment_queue"),
            # What was handed in, for counting: how many ratings each item has, and each annotator.
            models.Index(
                fields=["study", "item", "annotator"],
                name="assignment_rated",
                condition=Q(state="submitted", purpose="rating"),
            ),
            # What one annotator holds: counted, and walked by time of submission. The place that they last took in the
            # queue is found by its number. Open slots are in neither, so that opening a study does not pay for them.
            models.Index(
                fields=["annotator", "study", "state", "submitted_at"],
                name="assignment_mine",
                condition=Q(annotator__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item} slot {self.slot}"

    @property
    def position(self) -> int | None:
        """That of its item in the study; None of a known item that is kept beside the study."""
        return self.item.position if self.item.study_id == self.study_id else None

    @property
    def is_work(self) -> bool:
        """Whether it is part of the study's work, and not of what comes before it."""
        return self.purpose in WORK

    @property
    def sides(self) -> dict[str, str]:
        """By the places on the screen in their order, the response shown there; none where that is not recorded."""
        return list_places(self.order)

    def build_shown_responses(self) -> dict[str, object]:
        """Texts of the responses by the place they are shown at."""
        pair = self.item.pair
        if pair is None:
            raise ValueError("a dialogue has no responses")
        texts = {str(one.number): one.text for one in pair.responses}
        return {side: texts[number] for side, number in self.sides.items() if number in texts}


WORK = (Assignment.Purpose.RATING, Assignment.Purpose.REPEAT, Assignment.Purpose.CHECK)
"""What an annotator sees as the items of a study, without a difference."""
