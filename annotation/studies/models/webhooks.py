"""Webhooks: addresses that are told when something happened, and what became of each message."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from core.accounts.models.projects import InProject


class Webhook(InProject):
    """An address that is told of events. The secret that signs its messages follows from the site's key and `nonce`.

    So it is kept nowhere, and whoever reads the table cannot sign.
    """

    url = models.URLField(max_length=500)
    events = models.JSONField(default=list, help_text="Names of the events that it is told.")
    nonce = models.CharField(max_length=43, unique=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="webhooks")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True, help_text="From then on it is told nothing.")

    class Meta:
        constraints = [models.CheckConstraint(condition=~Q(url=""), name="webhook_has_an_address")]

    def __str__(self) -> str:
        return self.url


class WebhookDelivery(models.Model):
    """One message to one webhook: what it says, how often it was tried, and how that ended."""

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=40)
    subject = models.CharField(max_length=80, help_text="What the event is about: told once to each webhook.")
    body = models.TextField(help_text="The JSON that is sent, byte by byte the same at every attempt.")
    created_at = models.DateTimeField(auto_now_add=True)
    due_at = models.DateTimeField(null=True, blank=True, help_text="When it is tried next; empty when it is over.")
    attempts = models.PositiveSmallIntegerField(default=0)
    delivered_at = models.DateTimeField(null=True, blank=True)
    status = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Of the last answer.")
    error = models.CharField(max_length=300, blank=True, help_text="Why the last attempt failed.")

    class Meta:
        verbose_name_plural = "webhook deliveries"
        constraints = [
            models.UniqueConstraint(fields=["webhook", "event", "subject"], name="webhook_told_once"),
            models.CheckConstraint(
                condition=Q(delivered_at=None) | Q(due_at=None), name="webhook_delivered_is_not_due"
            ),
        ]
        indexes = [models.Index(fields=["due_at"], name="webhook_due", condition=Q(due_at__isnull=False))]

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook}"
