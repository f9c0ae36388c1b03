"""A study: what is asked, of which items, and what a criterion asked at each time."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _, gettext_noop

from annotation.corpus.models import Dialogue, ResponsePair
from annotation.stats.orders import name_responses
from core.accounts.models.projects import InProject


class Study(InProject):
    """A set of items of one kind, rated on the same criteria."""

    class Kind(models.TextChoices):
        DIALOGUE = "dialogue", gettext_noop("dialogues")
        PAIR = "pair", gettext_noop("response pairs")

    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        OPEN = "open", _("open")
        CLOSED = "closed", _("closed")

    class ContentForm(models.TextChoices):
        RENDERED = "rendered", _("as its users saw it: Markdown, code, tables and formulas are rendered")
        PLAIN = "plain", _("as it is written")

    name = models.CharField(max_length=120, unique=True)
    slug = models.SlugField(max_length=130, unique=True)
    kind = models.CharField(max_length=16, choices=Kind)
    state = models.CharField(max_length=16, choices=State, default=State.DRAFT)
    description = models.TextField(blank=True)
    instructions = models.TextField(blank=True, help_text="Shown to annotators above the guidelines.")
    overlap = models.PositiveSmallIntegerField(default=3, help_text="How many annotators rate each item.")
    most_overlap = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="How many annotators rate an item at most; empty: as many as the overlap."
    )
    is_adaptive = models.BooleanField(
        default=False, help_text="Whether items whose tier is unclear are asked about again, up to most_overlap."
    )
    shown = models.JSONField(default=list, blank=True, help_text="Which parts of the context annotators see.")
    asks_strength = models.BooleanField(
        default=False, help_text="Of a pair: ask whether a response is much or slightly better."
    )
    content_form = models.CharField(
        max_length=16,
        choices=ContentForm,
        default=ContentForm.RENDERED,
        help_text="How annotators see texts: as their users saw them, or as they are written.",
    )
    seed = models.PositiveBigIntegerField(default=0, help_text="Of the order of items and of the order A/B.")
    clustering = models.CharField(
        max_length=60,
        blank=True,
        default="",
        help_text="What dependent items share: by default their profile, else their question; none, a grouping, or a "
        "key that their source brought along.",
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    annotators = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="studies", blank=True)
    check_every = models.PositiveSmallIntegerField(
        default=0, help_text="One item in so many has a known answer; 0 for none."
    )
    repeat_every = models.PositiveSmallIntegerField(
        default=0, help_text="One item in so many was rated by the same person before; 0 for none."
    )
    repeat_after = models.PositiveSmallIntegerField(
        default=10, help_text="Other items at least between an item and its repeat."
    )
    item_limit = models.PositiveIntegerField(
        null=True, blank=True, help_text="Items that one annotator is given at most, checks and repeats included."
    )
    pass_mark = models.FloatField(
        null=True,
        blank=True,
        help_text="Share of right answers with which a newcomer passes the qualification; none without one.",
    )
    known_for = models.OneToOneField(
        "self",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="known_store",
        help_text="The study whose material with known answers this one holds. It is never opened.",
    )

    class Meta:
        verbose_name_plural = "studies"
        constraints = [
            models.CheckConstraint(
                condition=~Q(check_every=1) & ~Q(repeat_every=1), name="study_mixes_in_less_than_all"
            ),
            models.CheckConstraint(
                condition=Q(pass_mark=None) | Q(pass_mark__gte=0, pass_mark__lte=1), name="study_pass_mark_is_a_share"
            ),
            models.CheckConstraint(
                condition=Q(item_limit=None) | Q(item_limit__gte=1), name="study_item_limit_at_least_one"
            ),
            models.CheckConstraint(
                condition=Q(known_for=None) | Q(state="draft"), name="study_of_known_answers_is_never_opened"
            ),
            models.CheckConstraint(condition=Q(overlap__gte=1), name="study_overlap_at_least_one"),
            models.CheckConstraint(
                condition=Q(most_overlap=None) | Q(most_overlap__gte=models.F("overlap")),
                name="study_most_overlap_at_least_overlap",
            ),
            models.CheckConstraint(
                condition=Q(is_adaptive=False)
                | Q(overlap__gte=2, most_overlap__isnull=False, most_overlap__gt=models.F("overlap")),
                name="study_adaptive_overlap_has_room",
            ),
            models.CheckConstraint(condition=Q(kind__in=["dialogue", "pair"]), name="study_kind_is_known"),
            models.CheckConstraint(condition=Q(state__in=["draft", "open", "closed"]), name="study_state_is_known"),
            models.CheckConstraint(
                condition=Q(content_form__in=["rendered", "plain"]), name="study_content_form_is_known"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def limit(self) -> int:
        """How many annotators rate an item at most."""
        return self.most_overlap or self.overlap

    @cached_property
    def asked(self) -> list[Criterion]:
        """The criteria that its rubric has now, in their order, read once for this object."""
        return [one for one in self.criteria.all() if one.is_asked]


class Criterion(models.Model):
    """One question asked of every item of a study, and the form of its answers. The category set belongs here."""

    class Type(models.TextChoices):
        CHOICE = "choice", _("one of several")
        NUMBER = "number", _("number")
        SEVERAL = "several", _("several of several")
        RANKING = "ranking", _("ranking of the responses")
        SPANS = "spans", _("marked spans")
        TEXT = "text", _("text")
        REWRITE = "rewrite", _("rewrite")

    class Level(models.TextChoices):
        NOMINAL = "nominal", _("nominal")
        ORDINAL = "ordinal", _("ordinal")
        INTERVAL = "interval", _("interval")
        RATIO = "ratio", _("ratio")
        SET = "set", _("set")
        RANKING = "ranking", _("ranking")
        SPANS = "spans", _("spans")
        TEXT = "text", _("text")

    class Unit(models.TextChoices):
        ITEM = "item", _("the whole item")
        ASSISTANT_TURN = "assistant_turn", _("each turn of the assistant")
        USER_TURN = "user_turn", _("each turn of the user")
        RESPONSE = "response", _("each response")

    study = models.ForeignKey(Study, models.CASCADE, related_name="criteria")
    key = models.SlugField(max_length=60)
    name = models.CharField(max_length=120)
    question = models.TextField(help_text="What is asked, in one sentence.")
    guideline = models.TextField(blank=True)
    help = models.TextField(blank=True, help_text="A line below the question, always in view.")
    examples = models.JSONField(
        default=list, blank=True, help_text='[{"good": true, "text": "…"}, …]: answers to copy, and to avoid.'
    )
    type = models.CharField(max_length=16, choices=Type, default=Type.CHOICE)
    level = models.CharField(max_length=16, choices=Level)
    categories = models.JSONField(
        blank=True, help_text='In scale order: [{"value": "1", "label": "…", "guideline": "…"}, …]'
    )
    limits = models.JSONField(default=dict, blank=True, help_text="What its type takes: bounds, step, unit, ties, ….")
    is_required = models.BooleanField(default=True, help_text="Whether an item is handed in only with an answer to it.")
    condition = models.JSONField(
        null=True, blank=True, help_text='Asked only if: {"criterion": its key, "values": its values}; null: always.'
    )
    is_asked = models.BooleanField(
        default=True, help_text="False once the rubric no longer has it: its labels stay, and nobody is asked it."
    )
    position = models.PositiveSmallIntegerField(default=0)
    guideline_version = models.PositiveSmallIntegerField(
        default=1, help_text="Of what is asked now; earlier texts are rows of GuidelineVersion."
    )
    unit = models.CharField(max_length=16, choices=Unit, default=Unit.ITEM, help_text="What one answer is about.")

    class Meta:
        verbose_name_plural = "criteria"
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["study", "key"], name="criterion_key_once_per_study"),
            models.CheckConstraint(
                condition=Q(type="choice", level__in=["nominal", "ordinal", "interval", "ratio"])
                | Q(type="number", level__in=["interval", "ratio"])
                | Q(type="several", level="set")
                | Q(type="ranking", level="ranking")
                | Q(type="spans", level="spans")
                | Q(type__in=["text", "rewrite"], level="text"),
                name="criterion_level_fits_its_type",
            ),
            models.CheckConstraint(
                condition=Q(unit__in=["item", "assistant_turn", "user_turn", "response"]),
                name="criterion_unit_is_known",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def of_turns(self) -> bool:
        """Whether it is asked of turns of a dialogue."""
        return self.unit in (self.Unit.ASSISTANT_TURN, self.Unit.USER_TURN)

    @property
    def of_responses(self) -> bool:
        """Whether it is asked of each response of an item."""
        return self.unit == self.Unit.RESPONSE

    @property
    def part_noun(self) -> str:
        """What one of its answers is of: an item, a turn or a response."""
        if self.unit == self.Unit.ITEM:
            return gettext_noop("item")
        return gettext_noop("response") if self.of_responses else gettext_noop("turn")

    @property
    def is_preference(self) -> bool:
        """Whether its categories are the responses of an item, and perhaps a tie."""
        asked = (self.type, self.level, self.unit)
        return asked == (self.Type.CHOICE, self.Level.NOMINAL, self.Unit.ITEM) and bool(name_responses(self.values))

    @property
    def compares(self) -> bool:
        """Whether it puts an item's responses beside each other, so that one response alone leaves nothing to ask."""
        return self.is_preference or self.type == self.Type.RANKING

    @property
    def can_be_known(self) -> bool:
        """Whether a right answer can be stated beforehand: a category, of an item, a turn or a response."""
        return self.type == self.Type.CHOICE

    def turns_of(self, item: Item) -> list[int]:
        """Numbers of the turns or responses that it is asked of, from 1; 0 alone where it is of the whole item."""
        if self.of_responses:
            return [int(name) for name in item.response_numbers]
        if self.compares and len(item.response_numbers) == 1:
            return []
        if not self.of_turns:
            return [0]
        role = self.unit.removesuffix("_turn")
        turns = item.dialogue.turns if item.dialogue else []
        return [number for number, turn in enumerate(turns, start=1) if turn["role"] == role]

    @property
    def values(self) -> list[str]:
        """The categories' values in scale order."""
        return [str(category["value"]) for category in self.categories]

    def label_of(self, value: str) -> str:
        """The name of a category; of a set those of its categories; any other value as it is."""
        names = {str(one["value"]): str(one["label"]) for one in self.categories}
        if self.type == self.Type.SEVERAL:
            return ", ".join(names.get(one, one) for one in value.split("|")) if value != "-" else "none of them"
        return names.get(value, value)


class Sample(models.Model):
    """One draw of items from the corpus: what it was drawn from and how. Never changed afterwards."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="samples")
    method = models.CharField(max_length=16, choices=[(m, m) for m in ("all", "simple", "stratified", "active")])
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
    def response_numbers(self) -> tuple[str, ...]:
        """Numbers of the responses that it holds, from "1"; none of a dialogue."""
        return tuple(str(one.number) for one in self.pair.responses) if self.pair else ()

    @property
    def external_id(self) -> str:
        return self.subject.external_id


class GuidelineVersion(models.Model):
    """One version of a criterion: its question, its guideline, its categories and the rest of what is asked. Never
    changed.

    The newest is also on the criterion. The first has a row once there is a second: until then nothing was edited.
    """

    criterion = models.ForeignKey(Criterion, models.CASCADE, related_name="guideline_versions")
    version = models.PositiveSmallIntegerField()
    question = models.TextField()
    guideline = models.TextField(blank=True)
    categories = models.JSONField(blank=True, help_text="As on the criterion.")
    rest = models.JSONField(
        default=dict, blank=True, help_text="Its name, help, examples, limits, condition and whether it is required."
    )
    reason = models.TextField(blank=True, help_text="Why it was edited; empty for what the study was made with.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["version"]
        constraints = [
            models.UniqueConstraint(fields=["criterion", "version"], name="guideline_version_once_per_criterion"),
            models.CheckConstraint(condition=Q(version__gte=1), name="guideline_version_from_1"),
        ]

    def __str__(self) -> str:
        return f"{self.criterion} version {self.version}"
