"""A study: what is asked, of which items, and who answers."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.corpus import Dialogue, ResponsePair


class Study(models.Model):
    """A set of items of one kind, rated on the same criteria."""

    class Kind(models.TextChoices):
        DIALOGUE = "dialogue", "dialogues"
        PAIR = "pair", "response pairs"

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        OPEN = "open", "open"
        CLOSED = "closed", "closed"

    name = models.CharField(max_length=120, unique=True)
    slug = models.SlugField(max_length=130, unique=True)
    kind = models.CharField(max_length=16, choices=Kind)
    state = models.CharField(max_length=16, choices=State, default=State.DRAFT)
    description = models.TextField(blank=True)
    instructions = models.TextField(blank=True, help_text="Shown to annotators above the guidelines.")
    overlap = models.PositiveSmallIntegerField(default=3, help_text="How many annotators rate each item.")
    shown = models.JSONField(default=list, blank=True, help_text="Which parts of the context annotators see.")
    asks_strength = models.BooleanField(
        default=False, help_text="Of a pair: ask whether a response is much or slightly better."
    )
    seed = models.PositiveBigIntegerField(default=0, help_text="Of the order of items and of the order A/B.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    annotators = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="studies", blank=True)

    class Meta:
        verbose_name_plural = "studies"
        constraints = [
            models.CheckConstraint(condition=Q(overlap__gte=1), name="study_overlap_at_least_one"),
            models.CheckConstraint(condition=Q(kind__in=["dialogue", "pair"]), name="study_kind_is_known"),
            models.CheckConstraint(condition=Q(state__in=["draft", "open", "closed"]), name="study_state_is_known"),
        ]

    def __str__(self) -> str:
        return self.name


class Criterion(models.Model):
    """One question asked of every item of a study, with its scale. The category set belongs here."""

    class Level(models.TextChoices):
        NOMINAL = "nominal", "nominal"
        ORDINAL = "ordinal", "ordinal"
        INTERVAL = "interval", "interval"
        RATIO = "ratio", "ratio"

    study = models.ForeignKey(Study, models.CASCADE, related_name="criteria")
    key = models.SlugField(max_length=60)
    name = models.CharField(max_length=120)
    question = models.TextField(help_text="What is asked, in one sentence.")
    guideline = models.TextField(blank=True)
    level = models.CharField(max_length=16, choices=Level)
    categories = models.JSONField(help_text='In scale order: [{"value": "1", "label": "…", "guideline": "…"}, …]')
    position = models.PositiveSmallIntegerField(default=0)
    guideline_version = models.PositiveSmallIntegerField(default=1)

    class Meta:
        verbose_name_plural = "criteria"
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["study", "key"], name="criterion_key_once_per_study"),
            models.CheckConstraint(
                condition=Q(level__in=["nominal", "ordinal", "interval", "ratio"]), name="criterion_level_is_known"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def values(self) -> list[str]:
        """The categories' values in scale order."""
        return [str(category["value"]) for category in self.categories]

    def label_of(self, value: str) -> str:
        return next((str(c["label"]) for c in self.categories if str(c["value"]) == value), value)


class Sample(models.Model):
    """One draw of items from the corpus: what it was drawn from and how. Never changed afterwards."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="samples")
    method = models.CharField(max_length=16, choices=[(m, m) for m in ("all", "simple", "stratified")])
    strata = models.JSONField(default=list, blank=True, help_text="The fields it was stratified by.")
    filters = models.JSONField(default=dict, blank=True, help_text="What of the corpus was eligible.")
    frame_size = models.PositiveIntegerField(help_text="How many items were eligible.")
    size = models.PositiveIntegerField()
    seed = models.PositiveBigIntegerField(default=0)
    input_hash = models.CharField(max_length=64, help_text="Of the eligible ids, in order.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(size__lte=models.F("frame_size")), name="sample_not_larger_than_its_frame"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.method} {self.size} of {self.frame_size}"


class Item(models.Model):
    """The unit that is rated: a dialogue, or a response pair."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="items")
    sample = models.ForeignKey(Sample, models.CASCADE, related_name="items")
    dialogue = models.ForeignKey(Dialogue, models.PROTECT, null=True, blank=True, related_name="items")
    pair = models.ForeignKey(ResponsePair, models.PROTECT, null=True, blank=True, related_name="items")
    position = models.PositiveIntegerField(help_text="Place in the study's seeded order, from 1.")
    stratum = models.CharField(max_length=200, blank=True)
    inclusion_probability = models.FloatField(help_text="Chance that the draw had of taking this item.")
    content_hash = models.CharField(max_length=64, help_text="Of the dialogue or pair when it was drawn.")

    class Meta:
        ordering = ["position"]
        constraints = [
            models.CheckConstraint(
                condition=Q(dialogue__isnull=False, pair__isnull=True) | Q(dialogue__isnull=True, pair__isnull=False),
                name="item_is_a_dialogue_or_a_pair",
            ),
            models.CheckConstraint(
                condition=Q(inclusion_probability__gt=0, inclusion_probability__lte=1),
                name="item_inclusion_probability_in_range",
            ),
            models.UniqueConstraint(fields=["study", "position"], name="item_position_once_per_study"),
            models.UniqueConstraint(fields=["study", "dialogue"], name="dialogue_once_per_study"),
            models.UniqueConstraint(fields=["study", "pair"], name="pair_once_per_study"),
        ]

    def __str__(self) -> str:
        return f"{self.study} #{self.position}"

    @property
    def subject(self) -> Dialogue | ResponsePair:
        subject = self.dialogue or self.pair
        if subject is None:  # the database forbids it
            raise ValueError(f"item {self.pk} has neither dialogue nor pair")
        return subject

    @property
    def external_id(self) -> str:
        return self.subject.external_id


class Assignment(models.Model):
    """One of an item's rating slots. There are exactly `overlap` of them, so no item is rated too often.

    A slot is open, or held by one annotator who is leased it, skipped it for later, or submitted it. The order in
    which a pair is shown is drawn with the slot and never changes.
    """

    class State(models.TextChoices):
        OPEN = "open", "open"
        LEASED = "leased", "in work"
        SKIPPED = "skipped", "skipped"
        SUBMITTED = "submitted", "submitted"

    class Order(models.TextChoices):
        NONE = "", "not recorded"
        AB = "AB", "response 1 as A"
        BA = "BA", "response 2 as A"

    study = models.ForeignKey(Study, models.CASCADE, related_name="assignments")
    item = models.ForeignKey(Item, models.CASCADE, related_name="assignments")
    slot = models.PositiveSmallIntegerField(help_text="1 to the study's overlap.")
    rank = models.PositiveIntegerField(help_text="Place in the queue: the item's position.")
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="assignments"
    )
    state = models.CharField(max_length=16, choices=State, default=State.OPEN)
    order = models.CharField(max_length=2, choices=Order, blank=True, default=Order.NONE)
    leased_until = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    active_seconds = models.FloatField(null=True, blank=True, help_text="Time spent on it, without idle time.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "slot"], name="slot_once_per_item"),
            models.UniqueConstraint(fields=["item", "annotator"], name="annotator_once_per_item"),
            models.CheckConstraint(condition=Q(order__in=["", "AB", "BA"]), name="assignment_order_is_known"),
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
            # What one annotator holds: counted, walked by time of submission, and the place they last took in the
            # queue. Open slots are not in these, so that opening a study does not pay for them.
            models.Index(
                fields=["annotator", "study", "state", "submitted_at"],
                name="assignment_mine",
                condition=Q(annotator__isnull=False),
            ),
            models.Index(
                fields=["annotator", "study", "started_at"],
                name="assignment_recent",
                condition=Q(annotator__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item} slot {self.slot}"

    def response_for(self, side: str) -> str:
        """The response ("1" or "2") that was shown on `side` ("A" or "B")."""
        return {"AB": {"A": "1", "B": "2"}, "BA": {"A": "2", "B": "1"}}[self.order][side]

    def shown_pair(self) -> dict[str, Any]:
        """Texts of the pair by the side they are shown on."""
        pair = self.item.pair
        if pair is None:
            raise ValueError("only a pair has sides")
        texts = {"1": pair.response_1, "2": pair.response_2}
        return {side: texts[self.response_for(side)] for side in ("A", "B")}
