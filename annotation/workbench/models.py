"""Rounds of an adaptive study: which of its items were asked about once more, and which had enough."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.studies.models.studies import Study


class OverlapRound(models.Model):
    """One decision on all items of a study that have no rating to come. Never changed afterwards.

    What was asked for are slots of the items; here stands what was known when it was decided.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="overlap_rounds")
    number = models.PositiveIntegerField(help_text="From 1 in each study.")
    created_at = models.DateTimeField(auto_now_add=True)
    n_ratings = models.PositiveIntegerField(help_text="Ratings that were handed in when it began.")
    read_until = models.DateTimeField(null=True, help_text="When the newest of them was.")
    n_annotators = models.PositiveIntegerField(help_text="Annotators who were given items when it began.")
    n_asked = models.PositiveIntegerField(help_text="Items that were asked about once more.")
    n_clear = models.PositiveIntegerField(help_text="Items with a clear tier, and no rating to come.")
    n_enough = models.PositiveIntegerField(
        help_text="Items without a clear tier on which another rating is not worth its price."
    )
    n_full = models.PositiveIntegerField(help_text="Items without a clear tier that have as many ratings as one may.")
    n_short = models.PositiveIntegerField(
        help_text="Items on which another rating is worth its price, and that every annotator has rated."
    )
    n_waiting = models.PositiveIntegerField(help_text="Items with ratings to come before the decision.")
    price = models.FloatField(help_text="Probability of the right tier that a rating had to be expected to gain.")
    reason = models.TextField(blank=True, help_text="By criterion, why the difficulty model could not be fitted.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="overlap_round_number_once"),
            models.CheckConstraint(
                condition=Q(price__gte=0, price__lte=1), name="overlap_round_price_is_a_probability"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.study} round {self.number}"
