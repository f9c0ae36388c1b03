"""The material that is rated: who the user is, what they want, and what the assistant answered.

Every row carries the `source` it came from and its id there, so that importing twice changes nothing, and a hash of
its content, so that an update is told from a repetition without comparing documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import models
from django.db.models import Q


class SourcedModel(models.Model):
    """A record known by its id in the material it was imported from."""

    source = models.CharField(max_length=40, help_text="Where the record came from, for example personalens.")
    external_id = models.CharField(max_length=200, help_text="Its id there.")
    content_hash = models.CharField(max_length=64, help_text="SHA-256 of the content, in hexadecimal.")
    extra = models.JSONField(default=dict, blank=True, help_text="Keys of the source that Concord does not use.")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True


class Profile(SourcedModel):
    """Who the simulated user is. Structured (PersonaLens) or free text (PersonaFeedback), or both."""

    name = models.CharField(max_length=200, blank=True)
    persona = models.TextField(blank=True, help_text="Free text, where the source has one.")
    demographics = models.JSONField(default=dict, blank=True)
    preferences = models.JSONField(default=dict, blank=True, help_text="Domain -> preference type -> value or values.")
    interests = models.JSONField(default=dict, blank=True, help_text="Domain -> whether the user cares for it.")
    interactions = models.JSONField(default=dict, blank=True, help_text="Domain -> summary of past interactions.")
    memories = models.JSONField(default=list, blank=True, help_text="Short statements, oldest first.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "external_id"], name="profile_once_per_source")]

    def __str__(self) -> str:
        return self.name or self.external_id


class Task(SourcedModel):
    """What the simulated user wants done."""

    description = models.TextField()
    intent = models.TextField(blank=True)
    goal = models.TextField(blank=True)
    domains = models.JSONField(default=list)
    preference_types = models.JSONField(default=list, blank=True)
    is_multi_domain = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "external_id"], name="task_once_per_source")]

    def __str__(self) -> str:
        return self.external_id


PROVENANCE = "Provenance"
"""Key of a situation under which stands how it was made: order, agent, prompt, seed, and why each variable fits."""


def variables_of(situation: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a situation says, without how it was made."""
    return {name: value for name, value in situation.items() if name != PROVENANCE}


class Scenario(models.Model):
    """A profile with a task in a situation. Imported dialogues may know only one of profile and task."""

    profile = models.ForeignKey(Profile, models.CASCADE, null=True, blank=True, related_name="scenarios")
    task = models.ForeignKey(Task, models.CASCADE, null=True, blank=True, related_name="scenarios")
    variant = models.CharField(max_length=64, blank=True, help_text="Tells situations of one profile and task apart.")
    situation = models.JSONField(default=dict, blank=True)
    """Variables with their values; under PROVENANCE how a model made it, which no prompt and no annotator is shown."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["profile", "task", "variant"], name="scenario_once"),
            models.UniqueConstraint(
                fields=["profile", "variant"], condition=Q(task__isnull=True), name="scenario_without_task_once"
            ),
            models.UniqueConstraint(
                fields=["task", "variant"], condition=Q(profile__isnull=True), name="scenario_without_profile_once"
            ),
            models.CheckConstraint(
                condition=Q(profile__isnull=False) | Q(task__isnull=False), name="scenario_has_profile_or_task"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.profile or '?'} / {self.task or '?'}"

    @property
    def variables(self) -> dict[str, Any]:
        return variables_of(self.situation)

    @property
    def provenance(self) -> dict[str, Any]:
        """How a model made the situation; empty where none did."""
        found = self.situation.get(PROVENANCE)
        return found if isinstance(found, dict) else {}


class Dialogue(SourcedModel):
    """A conversation of a user with an assistant under test."""

    scenario = models.ForeignKey(Scenario, models.PROTECT, null=True, blank=True, related_name="dialogues")
    turns = models.JSONField(help_text='[{"role": "user"|"assistant", "content": "…"}, …]')
    assistant_model = models.CharField(max_length=120, blank=True)
    condition = models.CharField(max_length=40, blank=True, help_text="What the assistant was shown.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "external_id"], name="dialogue_once_per_source")]
        indexes = [
            models.Index(fields=["assistant_model", "condition"]),
            models.Index(fields=["updated_at"], name="dialogue_written"),
        ]

    def __str__(self) -> str:
        return self.external_id

    @property
    def numbered_turns(self) -> list[dict[str, Any]]:
        return [{**turn, "number": number} for number, turn in enumerate(self.turns, start=1)]


class ResponsePair(SourcedModel):
    """A question and two responses. `source_label` is the source's own verdict and is never shown to annotators."""

    profile = models.ForeignKey(Profile, models.PROTECT, null=True, blank=True, related_name="pairs")
    question = models.TextField()
    context = models.TextField(blank=True, help_text="Input that belongs to the question.")
    response_1 = models.TextField()
    response_2 = models.TextField()
    model_1 = models.CharField(max_length=120, blank=True)
    model_2 = models.CharField(max_length=120, blank=True)
    kind = models.CharField(max_length=40, blank=True, help_text="Group in the source: general, specific, …")
    source_tier = models.CharField(max_length=16, blank=True)
    source_label = models.CharField(
        max_length=4, blank=True, choices=[("1", "response 1"), ("2", "response 2"), ("tie", "tie")]
    )

    class Meta:
        indexes = [models.Index(fields=["updated_at"], name="pair_written")]
        constraints = [
            models.UniqueConstraint(fields=["source", "external_id"], name="pair_once_per_source"),
            models.CheckConstraint(condition=Q(source_label__in=["", "1", "2", "tie"]), name="pair_label_is_known"),
        ]

    def __str__(self) -> str:
        return self.external_id
