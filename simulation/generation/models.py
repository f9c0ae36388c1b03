"""Material that models make, every reply kept; conflicts in profiles; candidate responses from which pairs are made."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.corpus.models import Profile
from core.accounts.models.projects import InProject
from core.jobs.models import LeasedRow
from judging.judges.models import Worker
from simulation.agents.models import Agent


class Making(InProject, LeasedRow):
    """One order to make or check something. `parts` are what fits so far; a part that does not fit is never stored.

    Every reply that was paid for is in `replies`, with the field that was wrong.
    """

    class Kind(models.TextChoices):
        PROFILE = "profile", _("a whole profile")
        MASK = "mask", _("which domains a person cares for")
        PREFERENCES = "preferences", _("preferences for a domain")
        INTERACTIONS = "interactions", _("summaries of past interactions")
        TASKS = "tasks", _("tasks")
        SITUATION = "situation", _("a situation")
        CHECK = "check", _("a check for conflicts")
        CANDIDATES = "candidates", _("candidate responses to a question")
        PERSONA = "persona", _("a persona from traits")
        QUESTIONS = "questions", _("questions")
        MEMORIES = "memories", _("memories of a persona")
        RESPONSES = "responses", _("a look at candidate responses")

    OF_CANDIDATES = (Kind.CANDIDATES, Kind.PERSONA, Kind.QUESTIONS, Kind.MEMORIES, Kind.RESPONSES)
    """Kinds that are ordered with candidates and not alone."""

    kind = models.CharField(max_length=20, choices=Kind)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="makings")
    asked = models.JSONField(default=dict, help_text="Source, domains, demographics, number, profile, task.")
    seed = models.PositiveBigIntegerField(default=0)
    parts = models.JSONField(default=dict, blank=True, help_text="Step -> what was made.")
    replies = models.JSONField(default=list, blank=True, help_text="[{step, text, field, problem, …}, …], in order.")
    cost_usd = models.DecimalField(max_digits=14, decimal_places=8, default=0, help_text="Of the replies, if known.")
    reserved_usd = models.DecimalField(
        max_digits=14, decimal_places=8, default=0, help_text="The most that the reply on its way costs."
    )
    problem = models.TextField(blank=True, help_text="Why nothing was made.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="Times in a row that the model was not reached.")
    made = models.JSONField(default=list, blank=True, help_text="What it left: kinds and ids of records.")
    profile = models.ForeignKey(Profile, models.SET_NULL, null=True, blank=True, related_name="makings")
    worker = models.ForeignKey(Worker, models.SET_NULL, null=True, blank=True, related_name="makings")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    kind__in=[
                        *("profile", "mask", "preferences", "interactions", "tasks", "situation", "check"),
                        *("candidates", "persona", "questions", "memories", "responses"),
                    ]
                ),
                name="making_kind_is_known",
            ),
            models.CheckConstraint(condition=Q(problem="") | Q(made=[]), name="making_leaves_nothing_where_it_failed"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.pk}"

    @property
    def state(self) -> str:
        """running, failed or done."""
        if not self.finished_at:
            return "running"
        return "failed" if self.problem else "done"


class Conflict(models.Model):
    """What a model found to be in conflict in a profile. People decide whether it is."""

    making = models.ForeignKey(Making, models.CASCADE, related_name="conflicts")
    profile = models.ForeignKey(Profile, models.CASCADE, related_name="conflicts")
    label = models.CharField(max_length=200)
    explanation = models.TextField()
    fields = models.JSONField(help_text='["Domain: Name", …]')
    is_between_domains = models.BooleanField(default=False)

    class Meta:
        ordering = ["profile", "pk"]

    def __str__(self) -> str:
        return self.label


class ConflictReview(models.Model):
    """What a person decided of a conflict. Never changed: the newest one counts."""

    class Decision(models.TextChoices):
        CONFLICT = "conflict", _("it is a conflict")
        NONE = "none", _("it is none")
        UNSURE = "unsure", _("cannot tell")

    conflict = models.ForeignKey(Conflict, models.CASCADE, related_name="reviews")
    decision = models.CharField(max_length=10, choices=Decision)
    note = models.TextField(blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-decided_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(decision__in=["conflict", "none", "unsure"]), name="conflict_decision_is_known"
            ),
        ]

    def __str__(self) -> str:
        return self.get_decision_display()


class Candidate(models.Model):
    """A response to a question of a profile. It never changes; `key` is a hash of all that tells it from others."""

    class Level(models.TextChoices):
        NONE = "none", _("none: for anybody")
        GENERIC = "generic", _("generic: for people of this kind")
        FULL = "full", _("full: for exactly this person")
        OVER = "over", _("over: details forced in")

    key = models.CharField(max_length=64, unique=True)
    profile = models.ForeignKey(Profile, models.PROTECT, related_name="candidates")
    question = models.TextField()
    kind = models.CharField(max_length=40, blank=True, help_text="general, specific, …")
    level = models.CharField(max_length=8, choices=Level)
    provider = models.CharField(max_length=40, help_text="Who wrote it; imported where it came from a file.")
    model = models.CharField(max_length=120, blank=True)
    prompt_hash = models.CharField(max_length=64, blank=True, help_text="Of the templates it was asked with.")
    text = models.TextField()
    making = models.ForeignKey(Making, models.SET_NULL, null=True, blank=True, related_name="candidates")
    extra = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(level__in=["none", "generic", "full", "over"]), name="candidate_level_is_known"
            ),
            models.CheckConstraint(condition=~Q(text=""), name="candidate_has_a_text"),
        ]
        indexes = [models.Index(fields=["profile", "level"], name="candidate_level")]

    def __str__(self) -> str:
        return f"{self.get_level_display()}: {self.text[:40]}"


class CandidateRun(InProject):
    """Candidates ordered together for a benchmark to be: an order for each profile and question.

    An order that was given before, by another run, belongs to both and is not paid for twice. With a `plan` the run
    begins with seeds: each stage is ordered once all orders of the one before are over.
    """

    class Stage(models.TextChoices):
        PERSONAS = "personas", _("personas")
        DETAILS = "details", _("questions, memories and conflicts")
        RESPONSES = "responses", _("responses")
        CHECKS = "checks", _("check of the responses")
        DONE = "done", _("pairs made")

    name = models.CharField(max_length=120)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="candidate_runs")
    checker = models.ForeignKey(
        Agent, models.PROTECT, null=True, blank=True, related_name="+", help_text="Who looks for conflicts and checks."
    )
    plan = models.JSONField(default=dict, blank=True, help_text="Seeds and numbers; empty where questions were given.")
    stage = models.CharField(max_length=10, choices=Stage, default=Stage.RESPONSES)
    problem = models.TextField(blank=True, help_text="Why it does not go on to the next stage.")
    levels = models.JSONField(help_text="Those asked for, from nothing of the person to too much.")
    seed = models.PositiveBigIntegerField(default=0)
    budget_usd = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    makings = models.ManyToManyField(Making, related_name="candidate_runs")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    stopped_at = models.DateTimeField(null=True, blank=True, help_text="When a person stopped it.")

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(budget_usd__isnull=True) | Q(budget_usd__gt=0), name="candidate_run_budget_above_zero"
            ),
            models.CheckConstraint(
                condition=Q(stage__in=["personas", "details", "responses", "checks", "done"]),
                name="candidate_run_stage_is_known",
            ),
        ]

    def __str__(self) -> str:
        return self.name
