"""What the REST API keeps: tokens, and answers to writes that may be sent twice."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _, gettext_noop


class Scope(models.TextChoices):
    """How much of what an account may do the bearer of a token may do."""

    READ = "read", _("read: look at everything that the account may see")
    ANNOTATE = "annotate", _("annotate: take items of the account's own work and hand labels in")
    ADJUDICATE = "adjudicate", _("adjudicate: decide what people disagree on")
    RESEARCH = "research", _("research: also import, change studies, start runs, export")
    ADMIN = "admin", _("admin: webhooks, who is in a project, and erasing accounts")


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def only_valid(self, now: datetime) -> ApiTokenQuerySet:
        """Neither revoked nor expired."""
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=now), revoked_at=None)


class ApiToken(models.Model):
    """A key to the API for one account. Only its hash is kept: the token itself is shown once."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80, help_text="What it is for.")
    hint = models.CharField(max_length=16, help_text="Its first characters, by which to recognise it.")
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the token, in hexadecimal.")
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, help_text="To the minute.")
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        app_label = "annotation"
        constraints = [models.CheckConstraint(condition=~Q(name=""), name="api_token_has_a_name")]

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"

    def state(self, now: datetime) -> str:
        """working, expired or revoked."""
        if self.revoked_at:
            return gettext_noop("revoked")
        is_over = self.expires_at and self.expires_at <= now
        return gettext_noop("expired") if is_over else gettext_noop("working")


class IdempotentWrite(models.Model):
    """The answer to a write that was sent with an Idempotency-Key: sent again, it is given again and nothing is done.

    The row is written in the transaction of the write itself, so there is either both or neither.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    key = models.CharField(max_length=100)
    request_hash = models.CharField(max_length=64, help_text="Of method, address and content.")
    status = models.PositiveSmallIntegerField(default=0)
    answer = models.JSONField(null=True, blank=True)
    content_type = models.CharField(max_length=60, blank=True)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        app_label = "annotation"
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="idempotency_key_once")]

    def __str__(self) -> str:
        return self.key
