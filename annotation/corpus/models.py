"""The material that is rated: who the user is, what they want, and what the assistant answered.

Every row carries the `source` it came from and its id there, so that importing twice changes nothing, and a hash of
its content, so that an update is told from a repetition without comparing documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.stats.orders import MOST
from core.accounts.models.projects import InProject


class SourceText(str):
    """A text with its parts; a text like any other to whoever does not ask for them."""

    parts: Sequence[Mapping[str, Any]] = ()
    lang = ""

    @classmethod
    def build(cls, text: str, parts: Sequence[Mapping[str, object]] = (), lang: str = "") -> SourceText:
        made = cls(text)
        made.parts, made.lang = parts, lang
        return made


NUMBERS = [str(number) for number in range(1, MOST + 1)]
"""What responses are called where they are stored."""

ASKED = ("question", "context")
"""Texts of a question that stand beside its responses."""


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


class DrawnModel(SourcedModel):
    """A record that may have been drawn out of more."""

    inclusion_probability = models.FloatField(
        default=1.0,
        db_default=1.0,
        help_text="Chance that the draw had of taking it out of the file it came from; 1 where all was imported.",
    )

    class Meta:
        abstract = True


IS_PROBABILITY = Q(inclusion_probability__gt=0, inclusion_probability__lte=1)


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


def variables_of(situation: Mapping[str, object]) -> dict[str, object]:
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
    def variables(self) -> dict[str, object]:
        return variables_of(self.situation)

    @property
    def provenance(self) -> dict[str, object]:
        """How a model made the situation; empty where none did."""
        found = self.situation.get(PROVENANCE)
        return found if isinstance(found, dict) else {}


class Dialogue(DrawnModel):
    """A conversation of a user with an assistant under test."""

    scenario = models.ForeignKey(Scenario, models.PROTECT, null=True, blank=True, related_name="dialogues")
    turns = models.JSONField(
        help_text='[{"role": "user"|"assistant"|"system"|"tool", "content": "…", "parts": […]}, …]; parts where some '
        "of the content is more than text."
    )
    assistant_model = models.CharField(max_length=120, blank=True)
    condition = models.CharField(max_length=40, blank=True, help_text="What the assistant was shown.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "external_id"], name="dialogue_once_per_source"),
            models.CheckConstraint(condition=IS_PROBABILITY, name="dialogue_inclusion_probability_in_range"),
        ]
        indexes = [
            models.Index(fields=["assistant_model", "condition"]),
            models.Index(fields=["updated_at"], name="dialogue_written"),
        ]

    def __str__(self) -> str:
        return self.external_id

    @property
    def numbered_turns(self) -> list[dict[str, object]]:
        return [{**turn, "number": number, "part": f"turn-{number}"} for number, turn in enumerate(self.turns, start=1)]


@dataclass(frozen=True)
class Response:
    """One of the responses to a question. `number` is its own, from 1, wherever it is shown."""

    number: int
    text: SourceText

    @property
    def part(self) -> str:
        """What it is called as a part of its item."""
        return f"response-{self.number}"


class ResponsePair(DrawnModel):
    """A question and the responses to it: two, or any number up to `MOST`.

    The first two have columns of their own; `further` are the others, each as `{"text": …, "model": …, "parts": […]}`.
    Of a single response the second column is empty. `source_label` is the source's own verdict and is never shown to
    annotators.
    """

    profile = models.ForeignKey(Profile, models.PROTECT, null=True, blank=True, related_name="pairs")
    question = models.TextField()
    context = models.TextField(blank=True, help_text="Input that belongs to the question.")
    response_1 = models.TextField()
    response_2 = models.TextField(blank=True)
    model_1 = models.CharField(max_length=120, blank=True)
    model_2 = models.CharField(max_length=120, blank=True)
    n_responses = models.PositiveSmallIntegerField(default=2, db_default=2, help_text="How many responses there are.")
    further = models.JSONField(
        default=list, blank=True, help_text='Responses from the third on: [{"text": "…", "model": "…"}, …].'
    )
    parts = models.JSONField(
        default=dict, blank=True, help_text="Of each text that is more than text: which of its characters are what."
    )
    kind = models.CharField(max_length=40, blank=True, help_text="Group in the source: general, specific, …")
    source_tier = models.CharField(max_length=16, blank=True)
    source_label = models.CharField(
        max_length=4,
        blank=True,
        choices=[*((number, f"response {number}") for number in NUMBERS), ("tie", "tie")],
    )

    class Meta:
        indexes = [models.Index(fields=["updated_at"], name="pair_written")]
        constraints = [
            models.UniqueConstraint(fields=["source", "external_id"], name="pair_once_per_source"),
            models.CheckConstraint(condition=Q(source_label__in=["", *NUMBERS, "tie"]), name="pair_label_is_known"),
            models.CheckConstraint(
                condition=Q(n_responses=1, response_2="", model_2="") | Q(n_responses__gte=2, n_responses__lte=MOST),
                name="pair_has_one_to_twelve_responses",
            ),
            models.CheckConstraint(condition=IS_PROBABILITY, name="pair_inclusion_probability_in_range"),
        ]

    def __str__(self) -> str:
        return self.external_id

    @property
    def said(self) -> dict[str, SourceText]:
        """The question and its context with their parts, by the names of the columns."""
        return {name: SourceText.build(getattr(self, name), self.parts.get(name, ()), self.lang) for name in ASKED}

    @property
    def lang(self) -> str:
        """The language that its source names; empty where it names none."""
        return str(self.extra.get("lang", "")) if "extra" in self.__dict__ else ""

    @property
    def responses(self) -> list[Response]:
        """All responses in the order of their numbers."""
        first = [(getattr(self, name), self.parts.get(name, ())) for name in ("response_1", "response_2")]
        further = [(one["text"], one.get("parts", ())) for one in self.further]
        texts = [*first, *further][: self.n_responses]
        return [Response(n, SourceText.build(*one, self.lang)) for n, one in enumerate(texts, start=1)]

    @property
    def models(self) -> list[str]:
        """Who wrote each response, in the order of their numbers; empty where that is not known."""
        return [self.model_1, self.model_2, *(one.get("model", "") for one in self.further)][: self.n_responses]

    @property
    def responses_with_models(self) -> list[tuple[Response, str]]:
        """Each response and who wrote it."""
        return list(zip(self.responses, self.models, strict=True))

    def to_responses(self) -> list[dict[str, object]]:
        """The responses as a record has them: text, model, and parts where a text is more than that."""
        return [
            {"text": str(one.text), "model": model, **({"parts": list(one.text.parts)} if one.text.parts else {})}
            for one, model in self.responses_with_models
        ]


class Attachment(models.Model):
    """A picture or a sound that belongs to material. Its bytes lie in the data folder, under their hash."""

    sha256 = models.CharField(max_length=64, unique=True, help_text="Of the bytes, in hexadecimal.")
    type = models.CharField(max_length=20, help_text="What the bytes are, which was looked at: image/png, …")
    size = models.PositiveBigIntegerField(help_text="In bytes.")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.type} {self.sha256[:12]}"


class AttachmentUse(models.Model):
    """That a dialogue or a pair shows an attachment: who may see the one may see the other."""

    attachment = models.ForeignKey(Attachment, models.CASCADE, related_name="uses")
    dialogue = models.ForeignKey(Dialogue, models.CASCADE, null=True, blank=True, related_name="attachment_uses")
    pair = models.ForeignKey(ResponsePair, models.CASCADE, null=True, blank=True, related_name="attachment_uses")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["attachment", "dialogue"], name="attachment_once_per_dialogue"),
            models.UniqueConstraint(fields=["attachment", "pair"], name="attachment_once_per_pair"),
            models.CheckConstraint(
                condition=Q(dialogue=None, pair__isnull=False) | Q(dialogue__isnull=False, pair=None),
                name="attachment_of_dialogue_or_pair",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.attachment} of {self.dialogue or self.pair}"


class SavedMapping(InProject):
    """Which column of a table is what, kept under a name to be used again."""

    name = models.CharField(max_length=80)
    document = models.JSONField(help_text="The mapping as its file has it.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="mapping_name_once_per_project"),
            models.CheckConstraint(condition=~Q(name=""), name="mapping_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name
