"""Experiments and what was said in them. A turn is a row as soon as its reply is there, so none is paid for twice."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.corpus.models import Dialogue, Scenario
from core.accounts.models.projects import InProject
from core.jobs.models import LeasedRow
from judging.judges.models import Worker
from simulation.agents.models import Agent


class PreferenceType(models.Model):
    """A kind of preference in a domain. Possible values are all there are, or, if not categorical, examples."""

    source = models.CharField(max_length=40, help_text="Whose profiles it is about.")
    domain = models.CharField(max_length=100)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    is_categorical = models.BooleanField(default=True)
    has_multiple_values = models.BooleanField(default=False)
    possible_values = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["domain", "name"]
        constraints = [
            models.UniqueConstraint(fields=["source", "domain", "name"], name="preference_type_once_per_source"),
        ]

    def __str__(self) -> str:
        return f"{self.domain}: {self.name}"


class Experiment(InProject, LeasedRow):
    """A grid of scenarios x assistants x conditions, played by one user agent. Progress is counted from the turns.

    One process at a time works on it and holds it by `worker`, as long as that process is alive.
    """

    name = models.CharField(max_length=120)
    user_agent = models.ForeignKey(Agent, models.PROTECT, related_name="experiments_as_user")
    assistants = models.ManyToManyField(Agent, related_name="experiments")
    strategy = models.CharField(max_length=40)
    user_information = models.CharField(
        max_length=40,
        default="task_preferences",
        help_text="What the user agent is told: a key of simulation.agents.prompts.USER_INFORMATION.",
    )
    prompts = models.JSONField(
        default=dict,
        blank=True,
        help_text="Role -> text in place of Concord's own, as in simulation.agents.prompts.roles.",
    )
    conditions = models.JSONField(help_text="Keys of simulation.agents.prompts.CONDITIONS, in the order of tables.")
    grid = models.JSONField(default=dict, help_text="Users and tasks as they were asked for, and who was drawn.")
    seed = models.PositiveBigIntegerField(default=0)
    single_turns = models.PositiveSmallIntegerField(help_text="The limit of a dialogue about one domain.")
    multi_turns = models.PositiveSmallIntegerField(help_text="The limit of one about several.")
    limit_unit = models.CharField(
        max_length=10,
        choices=[("exchanges", "exchanges"), ("messages", "messages")],
        default="exchanges",
        help_text="What limits count, and so whether the assistant closes the dialogue.",
    )
    embedder = models.ForeignKey(
        Agent, models.PROTECT, null=True, blank=True, related_name="+", help_text="Who finds passages by embeddings."
    )
    passages = models.PositiveSmallIntegerField(default=3, help_text="How many are retrieved for a turn.")
    budget_usd = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    input_hash = models.CharField(max_length=64, help_text="Of scenarios, agents, conditions, prompts and limits.")
    code_version = models.CharField(max_length=64)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    stopped_at = models.DateTimeField(null=True, blank=True)
    stop_reason = models.TextField(blank=True, help_text="Why it stopped, if no person stopped it.")
    worker = models.ForeignKey(Worker, models.SET_NULL, null=True, blank=True, related_name="experiments")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How often in a row it was put off.")
    error = models.TextField(blank=True, help_text="Why it was put off last.")

    class Meta:
        get_latest_by = "created_at"
        constraints = [
            models.CheckConstraint(
                condition=Q(strategy__in=["vanilla", "chain_of_thought", "state_tracking"]),
                name="experiment_strategy_is_known",
            ),
            models.CheckConstraint(
                condition=Q(user_information__in=["faithful", "task_preferences"]),
                name="experiment_user_information_is_known",
            ),
            models.CheckConstraint(
                condition=Q(finished_at__isnull=True) | Q(stopped_at__isnull=True),
                name="experiment_finished_or_stopped",
            ),
            models.CheckConstraint(
                condition=Q(budget_usd__isnull=True) | Q(budget_usd__gt=0), name="experiment_budget_above_0"
            ),
            models.CheckConstraint(
                condition=Q(single_turns__gte=2, multi_turns__gte=2)
                | Q(single_turns__gte=1, multi_turns__gte=1, limit_unit="exchanges"),
                name="experiment_two_turns_at_least",
            ),
            models.CheckConstraint(
                condition=Q(limit_unit__in=["exchanges", "messages"]), name="experiment_limit_unit_is_known"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def state(self) -> str:
        """running, stopped or finished."""
        if self.stopped_at:
            return "stopped"
        return "finished" if self.finished_at else "running"

    @property
    def source(self) -> str:
        """Where its dialogues say that they come from."""
        return f"experiment {self.pk}"


class SimulatedDialogue(models.Model):
    """One cell of an experiment. Once it has ended as it should, `dialogue` is what it left in the corpus."""

    experiment = models.ForeignKey(Experiment, models.CASCADE, related_name="dialogues")
    index = models.PositiveIntegerField(help_text="Place in the experiment, from 1.")
    scenario = models.ForeignKey(Scenario, models.PROTECT, related_name="simulated")
    assistant = models.ForeignKey(Agent, models.PROTECT, related_name="dialogues")
    condition = models.CharField(max_length=40)
    ending = models.CharField(
        max_length=40, blank=True, help_text="A key of simulation.agents.parsing.endings.ENDINGS."
    )
    error = models.TextField(blank=True, help_text="What the other side said where a turn could not be asked for.")
    ended_at = models.DateTimeField(null=True, blank=True)
    dialogue = models.OneToOneField(Dialogue, models.PROTECT, null=True, blank=True, related_name="simulated")

    class Meta:
        ordering = ["index"]
        constraints = [
            models.UniqueConstraint(fields=["experiment", "index"], name="simulated_index_once"),
            models.UniqueConstraint(
                fields=["experiment", "scenario", "assistant", "condition"], name="simulated_once_per_cell"
            ),
            models.CheckConstraint(
                condition=Q(ending="", ended_at__isnull=True) | (~Q(ending="") & Q(ended_at__isnull=False)),
                name="simulated_ending_with_its_time",
            ),
            models.CheckConstraint(
                condition=Q(dialogue__isnull=True) | ~Q(ending=""), name="simulated_ended_before_corpus"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.experiment} #{self.index}"


class Turn(models.Model):
    """What a side said, with all that was paid for it. Written once, when the reply came.

    `text` is what the other side gets to see; `raw_reply` is all that came. Replies that met the limit of tokens before
    are in `cut_off`; tokens, cost and time are of all of them.
    """

    simulated = models.ForeignKey(SimulatedDialogue, models.CASCADE, related_name="turns")
    number = models.PositiveSmallIntegerField(help_text="From 1; the user has the odd ones.")
    side = models.CharField(max_length=10, choices=[("user", "user"), ("assistant", "assistant")])
    text = models.TextField(blank=True)
    thought = models.TextField(blank=True)
    raw_reply = models.TextField(blank=True)
    cut_off = models.JSONField(default=list, blank=True, help_text="Replies before that met the limit of tokens.")
    ended = models.BooleanField(default=False, help_text="Whether the user gave the mark that the task is done.")
    cut = models.BooleanField(default=False, help_text="Whether it went on for the other side, which was cut.")
    problem = models.CharField(
        max_length=20, blank=True, help_text="A key of simulation.agents.parsing.speech.PROBLEMS."
    )
    retrieved = models.JSONField(default=list, blank=True, help_text="Passages found: [{domain, passage, score}, …]")
    seed = models.PositiveBigIntegerField(default=0)
    prompt = models.CharField(max_length=12, blank=True, help_text="Version of the templates.")
    latency_ms = models.PositiveIntegerField(null=True, blank=True)
    input_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)
    cost_usd = models.DecimalField(
        max_digits=14, decimal_places=8, null=True, blank=True, help_text="Empty: unknown. 0: nothing was paid."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["simulated", "number"], name="turn_once"),
            models.CheckConstraint(condition=Q(side__in=["user", "assistant"]), name="turn_side_is_known"),
            models.CheckConstraint(condition=Q(number__gte=1), name="turn_number_from_1"),
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.side}"


class DialogueMeasures(models.Model):
    """What was measured in the words of a dialogue that has ended: numbers, no text. Made once, and again on change."""

    simulated = models.OneToOneField(SimulatedDialogue, models.CASCADE, primary_key=True, related_name="measures")
    key = models.CharField(max_length=64, help_text="Hash of what was measured, and of how.")
    values = models.JSONField(help_text="Measure -> number; null where it is undefined.")

    class Meta:
        verbose_name_plural = "dialogue measures"

    def __str__(self) -> str:
        return f"measures of {self.simulated}"
