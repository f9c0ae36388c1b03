"""What was done: one row for each act, which nobody changes or removes afterwards."""

from __future__ import annotations

import json
from datetime import UTC

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from core.audit.heads import compute_digest
from core.hashing import canonical_json, digest

BEGINNING = "0" * 64
"""What stands before the first act."""


class Act(models.Model):
    """One act. Triggers of the database refuse to change or delete it.

    Each act carries a digest over itself and over that of the act before, so that a change made behind the triggers
    is found (`check_invariants`). The digest needs a key that the database does not hold; the first acts of an older
    site have a plain SHA-256, which the first keyed act covers. Nothing here is a link that follows when a row goes:
    the log outlives what it names.
    A migration that alters this table on SQLite makes it anew, and has to make the triggers anew too (audit_triggers).
    """

    class Through(models.TextChoices):
        PAGE = "page", _("page")
        API = "api", "API"
        COMMAND = "command", _("command")
        OTHER = "other", _("other code")

    number = models.BigIntegerField(primary_key=True, help_text="From 1 without gaps, in the order of the chain.")
    at = models.DateTimeField()
    who = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.DO_NOTHING,
        null=True,
        blank=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    operator = models.CharField(max_length=80, blank=True, help_text="Account of the machine, of a command.")
    verb = models.CharField(max_length=60, help_text="What was done, such as study.open.")
    kind = models.CharField(max_length=60, blank=True, help_text="What it was done to, or what it made.")
    key = models.BigIntegerField(null=True, blank=True, help_text="Its number in its table.")
    name = models.CharField(max_length=200, blank=True, help_text="Its name then. People are known by number only.")
    study_id = models.BigIntegerField(null=True, blank=True, help_text="The study that it concerns.")
    project_id = models.BigIntegerField(null=True, blank=True, help_text="The project whose members see it.")
    through = models.CharField(max_length=10, choices=Through)
    request_id = models.CharField(max_length=36, blank=True, help_text="As in the log of the web server.")
    # Text, not JSON: PostgreSQL keeps JSON in a form of its own, and the hash is over every byte.
    arguments = models.TextField(default="{}", help_text="JSON: what was asked for.")
    outcome = models.TextField(default="null", help_text="JSON: what came of it.")
    previous = models.CharField(max_length=64, unique=True, help_text="`digest` of the act before.")
    digest = models.CharField(max_length=64, unique=True)
    digest_key_id = models.CharField(
        max_length=16, blank=True, default="", help_text="Key of the digest; empty where it is a SHA-256 without a key."
    )

    class Meta:
        app_label = "annotation"
        constraints = [
            models.CheckConstraint(condition=Q(number__gte=1), name="acts_are_numbered_from_1"),
            models.CheckConstraint(condition=~Q(verb=""), name="act_has_a_verb"),
        ]
        indexes = [
            models.Index(fields=["study_id", "number"], name="acts_of_a_study"),
            models.Index(fields=["project_id", "number"], name="acts_of_a_project"),
            models.Index(fields=["who", "number"], name="acts_of_a_person"),
        ]

    def __str__(self) -> str:
        return f"event {self.number}: {self.verb}"

    def compute_digest(self) -> str:
        """Compute the digest over all other columns. Raises UnknownKeyError without the key that made it."""
        content = [
            *(self.previous, self.number, self.at.astimezone(UTC).isoformat(), self.who_id, self.operator),
            *(self.verb, self.kind, self.key, self.name, self.study_id, self.project_id, self.through),
            *(self.request_id, self.arguments, self.outcome),
        ]
        if not self.digest_key_id:
            return digest(canonical_json(content))
        return compute_digest(canonical_json([*content, self.digest_key_id]), key_id=self.digest_key_id)

    def to_json(self) -> dict[str, object]:
        """The act as commands print it."""
        return {
            "number": self.number,
            "at": self.at.isoformat(),
            "who": self.who.username if self.who else None,
            "who_id": self.who_id,
            "operator": self.operator,
            "verb": self.verb,
            "kind": self.kind,
            "object_id": self.key,
            "name": self.name,
            "study_id": self.study_id,
            "project_id": self.project_id,
            "through": self.through,
            "request_id": self.request_id,
            "arguments": self.parsed_arguments,
            "outcome": self.parsed_outcome,
            "previous": self.previous,
            "digest": self.digest,
            "digest_key_id": self.digest_key_id,
        }

    @property
    def parsed_arguments(self) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.arguments)
        return found

    @property
    def parsed_outcome(self) -> object:
        return json.loads(self.outcome)
