"""What judges may cost and how fast they may be asked: prices, rates, and who is asking just now."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from judging.judges.models.judges import Judge
from judging.judges.models.workers import Worker


class Price(models.Model):
    """What a model costs from a day on, in US dollars per million tokens, as a person entered it.

    A later row replaces an earlier one from its day on; both replace what judging/judges/prices.toml says of that day.
    """

    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=120, blank=True)
    valid_from = models.DateField()
    input = models.DecimalField(max_digits=12, decimal_places=4)
    output = models.DecimalField(max_digits=12, decimal_places=4)
    cache_read = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    cache_write = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    batch_input = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    batch_output = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    note = models.CharField(max_length=200, blank=True, help_text="Where the price is published.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["provider", "model", "-valid_from"]
        constraints = [
            models.UniqueConstraint(fields=["provider", "model", "valid_from"], name="price_once_per_day"),
            models.CheckConstraint(condition=Q(input__gte=0, output__gte=0), name="price_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.model} from {self.valid_from:%Y-%m-%d}"


class Quota(models.Model):
    """How fast a model may be asked, by all judges and all workers together, and how far that is used up.

    `requests_at` and `tokens_at` are the moments (seconds since 1970) from which the next request is free.
    """

    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=120, blank=True)
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    tokens_per_minute = models.PositiveIntegerField(null=True, blank=True)
    requests_at = models.FloatField(default=0)
    tokens_at = models.FloatField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["provider", "model"], name="quota_once_per_model"),
            models.CheckConstraint(
                condition=(Q(requests_per_minute__isnull=True) | Q(requests_per_minute__gt=0))
                & (Q(tokens_per_minute__isnull=True) | Q(tokens_per_minute__gt=0)),
                name="quota_above_0",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.model}"


class Seat(models.Model):
    """How many calls of a judge a process may have in flight. The seats of a process that is gone are free."""

    worker = models.ForeignKey(Worker, models.CASCADE, related_name="seats")
    judge = models.ForeignKey(Judge, models.CASCADE, related_name="seats")
    n = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["worker", "judge"], name="seats_once_per_worker")]

    def __str__(self) -> str:
        return f"{self.n} of {self.judge}"


class Pause(models.Model):
    """Until when nobody asks a model, because one of its replies said so. All processes keep to it."""

    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=120, blank=True)
    until = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["provider", "model"], name="pause_once_per_model")]

    def __str__(self) -> str:
        return f"{self.provider} {self.model} until {self.until:%H:%M:%S}"


class CachedReply(models.Model):
    """A reply, under the hash of all that its request was made of. Written once."""

    key = models.CharField(max_length=64, unique=True)
    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=120, blank=True)
    reply = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "cached replies"

    def __str__(self) -> str:
        return self.key[:12]
