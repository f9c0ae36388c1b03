"""Judge runs and their judgments. The database, not the broker, knows what is done and what is left."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy as _

from annotation.stats.orders import MOST
from annotation.studies.models.assignments import IS_ORDER
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.parsing.answers import LONGEST_VALUE
from core.jobs.models import LeasedRow
from judging.judges.models import IMPORTED, Judge, Worker
from judging.runs.models.evaluations import Evaluation


class JudgeRunQuerySet(models.QuerySet["JudgeRun"]):
    """Runs, asked about as a whole."""

    def ordinary(self) -> JudgeRunQuerySet:
        """Those through which a judge speaks beside people: neither probe runs nor runs of an evaluation."""
        return self.filter(kind=JudgeRun.Kind.ORDINARY)

    def running(self) -> JudgeRunQuerySet:
        """Those that have neither ended nor been stopped."""
        return self.filter(finished_at=None, stopped_at=None)

    def probes(self) -> JudgeRunQuerySet:
        """Those on altered items."""
        return self.filter(kind=JudgeRun.Kind.PROBE)


class JudgeRun(models.Model):
    """One judge over the items of one study. Parameters never change; progress is counted from the judgments.

    A *probe* run asks about some items as they are and about altered copies of them. What it says is for audits alone.
    A run of an *evaluation* shows the model what its setting grants, not what people saw: it is never beside them.
    """

    class Kind(models.TextChoices):
        ORDINARY = "ordinary", _("ordinary")
        PROBE = "probe", _("probe")
        EVALUATION = "evaluation", _("evaluation")

    class OrderPolicy(models.TextChoices):
        RANDOM = "random", _("one order, drawn per item")
        AB = "AB", _("response 1 first")
        BA = "BA", _("response 2 first")
        BOTH = "both", _("both orders")

    class Unit(models.TextChoices):
        ITEM = "item", _("the whole item")
        TURN = "turn", _("every turn of the assistant")
        RESPONSE = "response", _("every response")

    study = models.ForeignKey(Study, models.CASCADE, related_name="judge_runs")
    judge = models.ForeignKey(Judge, models.PROTECT, related_name="runs")
    criteria = models.ManyToManyField(Criterion, related_name="judge_runs")
    repeats = models.PositiveSmallIntegerField(default=1)
    order_policy = models.CharField(max_length=8, choices=OrderPolicy, default=OrderPolicy.RANDOM)
    seed = models.PositiveBigIntegerField(default=0)
    input_hash = models.CharField(max_length=64, help_text="Of items, criteria and judge.")
    code_version = models.CharField(max_length=64)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    stopped_at = models.DateTimeField(null=True, blank=True)
    stop_reason = models.TextField(blank=True, help_text="Why it stopped, if no person stopped it.")
    budget_usd = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    use_cache = models.BooleanField(default=True, help_text="Whether an answer to the same request may be used again.")
    members = models.ManyToManyField(
        "self",
        symmetrical=False,
        related_name="panels",
        blank=True,
        help_text="The runs that a panel's run is made of.",
    )
    result = models.JSONField(default=dict, blank=True, help_text="What a panel found its members to be like.")
    unit = models.CharField(max_length=8, choices=Unit, default=Unit.ITEM, help_text="What one judgment is about.")
    in_bulk = models.BooleanField(default=False, help_text="Handed in as batches, which cost less and take hours.")
    kind = models.CharField(max_length=12, choices=Kind, default=Kind.ORDINARY)
    probe = models.JSONField(
        default=dict, blank=True, help_text="Of a probe run: alterations with versions, favoured responses, left out."
    )
    evaluation = models.ForeignKey(
        Evaluation, models.CASCADE, null=True, blank=True, related_name="runs", help_text="That it is a part of."
    )
    setting = models.JSONField(
        default=dict, blank=True, help_text="What an evaluation shows the model of the person, and how it answers."
    )

    objects = JudgeRunQuerySet.as_manager()

    class Meta:
        get_latest_by = "created_at"
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["ordinary", "probe"], evaluation__isnull=True)
                | Q(kind="evaluation", evaluation__isnull=False),
                name="run_kind_is_known",
            ),
            models.CheckConstraint(
                condition=~Q(kind="probe") | (Q(repeats=1) & ~Q(order_policy="both")),
                name="run_probe_asks_each_copy_once",
            ),
            models.CheckConstraint(condition=Q(unit__in=["item", "turn", "response"]), name="run_unit_is_known"),
            models.CheckConstraint(
                condition=~Q(unit="response") | ~Q(order_policy="both"), name="run_response_alone_has_no_order"
            ),
            models.CheckConstraint(condition=Q(repeats__gte=1), name="run_repeats_at_least_one"),
            models.CheckConstraint(
                condition=Q(order_policy__in=["random", "AB", "BA", "both"]), name="run_order_policy_is_known"
            ),
            models.CheckConstraint(
                condition=Q(finished_at__isnull=True) | Q(stopped_at__isnull=True), name="run_finished_or_stopped"
            ),
            models.CheckConstraint(
                condition=Q(budget_usd__isnull=True) | Q(budget_usd__gt=0), name="run_budget_above_0"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge} on {self.study}"

    @property
    def every_turn(self) -> bool:
        """Whether single turns were judged, as files and the API have said since before there were other units."""
        return self.unit == self.Unit.TURN

    @property
    def order_in_words(self) -> str:
        """How pairs were shown. Judgments that were made elsewhere may not say."""
        unknown = self.order_policy == self.OrderPolicy.RANDOM and self.judge.provider == IMPORTED
        return gettext("not recorded") if unknown else self.get_order_policy_display()

    @property
    def state(self) -> str:
        """running, stopped or finished."""
        if self.stopped_at:
            return "stopped"
        return "finished" if self.finished_at else "running"


class JudgeChunk(LeasedRow):
    """Some of a run's items: the unit that a worker claims. A claim is as good as its worker is alive."""

    run = models.ForeignKey(JudgeRun, models.CASCADE, related_name="chunks")
    index = models.PositiveIntegerField()
    item_ids = models.JSONField()
    n_units = models.PositiveIntegerField(
        null=True, help_text="How many items, turns or responses were to be asked about when it was made."
    )
    worker = models.ForeignKey(Worker, models.SET_NULL, null=True, blank=True, related_name="chunks")
    error = models.TextField(blank=True, help_text="Why the last attempt ended early.")

    class Meta:
        ordering = ["index"]
        constraints = [models.UniqueConstraint(fields=["run", "index"], name="chunk_once_per_run")]
        indexes = [models.Index(fields=["finished_at", "queued_at"])]

    def __str__(self) -> str:
        return f"{self.run} part {self.index}"


class JudgmentQuerySet(models.QuerySet["Judgment"]):
    """Judgments, asked about as a whole."""

    def only_items(self) -> JudgmentQuerySet:
        """Those on items as they are, by runs that count: none of a probe run."""
        return self.filter(alteration="")

    def only_ordinary(self) -> JudgmentQuerySet:
        """Those by which judges are held to people: of ordinary runs."""
        return self.filter(run__kind=JudgeRun.Kind.ORDINARY)

    def stale(self) -> JudgmentQuerySet:
        """Those on items that were edited since they were judged. One made elsewhere does not know what it saw."""
        now = Coalesce("item__dialogue__content_hash", "item__pair__content_hash")
        return self.exclude(item_hash="").alias(hash_now=now).exclude(item_hash=F("hash_now"))


class Judgment(models.Model):
    """One verdict of a judge, or the reason why its reply held none.

    A verdict is written once. A reply without one may be asked for again: what comes then takes its place here, and it
    stays on record as an `EarlierReply`. Tokens and cost are those of all replies together.

    A preference names the response ("1", "2", … or "tie"), whatever order it was shown in.
    """

    run = models.ForeignKey(JudgeRun, models.CASCADE, related_name="judgments", db_index=False)
    item = models.ForeignKey(Item, models.CASCADE, related_name="judgments")
    criterion = models.ForeignKey(Criterion, models.PROTECT, related_name="judgments")
    repeat = models.PositiveSmallIntegerField(default=1)
    order = models.CharField(
        max_length=MOST, blank=True, help_text="Which response stood at each place: of CAB the third was first."
    )
    turn = models.PositiveSmallIntegerField(
        default=0, help_text="The turn or response that was judged, from 1; 0 for the whole item."
    )
    value = models.CharField(max_length=LONGEST_VALUE, blank=True)
    content = models.JSONField(null=True, blank=True, help_text="Of spans, texts and rewrites: what was given.")
    unscored_reason = models.CharField(max_length=40, blank=True)
    explanation = models.TextField(blank=True)
    raw_reply = models.TextField(blank=True)
    details = models.JSONField(default=dict, blank=True, help_text="What the provider measured: features, tokens, …")
    latency_ms = models.PositiveIntegerField(null=True, blank=True)
    item_hash = models.CharField(max_length=64, blank=True, help_text="Of the dialogue or pair as the judge saw it.")
    input_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)
    cost_usd = models.DecimalField(
        max_digits=14, decimal_places=8, null=True, blank=True, help_text="Empty: unknown. 0: nothing was paid for it."
    )
    score = models.FloatField(
        null=True, blank=True, help_text="Mean over the scale, weighted by the model's probabilities, where it tells."
    )
    alteration = models.CharField(
        max_length=40, blank=True, help_text="In a probe run, what was altered in the copy; original for nothing."
    )
    confidence = models.FloatField(
        null=True, blank=True, help_text="How probable its verdict was among the values of the scale, where it tells."
    )
    tries_left = models.PositiveSmallIntegerField(
        default=0, help_text="How often it is still asked for again, as its reply held no verdict."
    )
    created_at = models.DateTimeField(default=timezone.now, help_text="When the reply came.")

    objects = JudgmentQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["run", "id"], name="judgment_of_run"),
            models.Index(fields=["run", "unscored_reason", "id"], condition=Q(value=""), name="judgment_unscored"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "item", "criterion", "repeat", "order", "turn", "alteration"],
                name="judgment_once_per_request",
            ),
            models.CheckConstraint(condition=IS_ORDER, name="judgment_order_is_known"),
            models.CheckConstraint(condition=Q(turn=0) | Q(order=""), name="judgment_turn_of_a_dialogue"),
            models.CheckConstraint(
                condition=(Q(value="") & ~Q(unscored_reason="")) | (~Q(value="") & Q(unscored_reason="")),
                name="judgment_scored_or_unscored",
            ),
            models.CheckConstraint(condition=Q(tries_left=0) | Q(value=""), name="judgment_verdict_is_not_asked_for"),
        ]

    def __str__(self) -> str:
        return self.value or f"unscored: {self.unscored_reason}"

    @property
    def is_stale(self) -> bool:
        """Whether the item was edited after it was judged."""
        return self.item_hash not in ("", self.item.subject.content_hash)

    @property
    def is_cached(self) -> bool:
        """Whether it is the answer that an equal request got earlier."""
        return bool(self.details.get("cached"))


class EarlierReply(models.Model):
    """A reply that held no verdict, after which the judge was asked again. Written once."""

    judgment = models.ForeignKey(Judgment, models.CASCADE, related_name="earlier")
    number = models.PositiveSmallIntegerField(help_text="From 1, in the order in which they came.")
    unscored_reason = models.CharField(max_length=40)
    explanation = models.TextField(blank=True)
    raw_reply = models.TextField(blank=True)
    cost_usd = models.DecimalField(
        max_digits=14, decimal_places=8, null=True, blank=True, help_text="Empty: unknown. 0: nothing was paid for it."
    )
    created_at = models.DateTimeField(help_text="When the reply came.")

    class Meta:
        verbose_name_plural = "earlier replies"
        ordering = ["judgment", "number"]
        constraints = [
            models.UniqueConstraint(fields=["judgment", "number"], name="earlier_reply_once"),
            models.CheckConstraint(
                condition=Q(number__gte=1) & ~Q(unscored_reason=""), name="earlier_reply_held_no_verdict"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number}: unscored: {self.unscored_reason}"
