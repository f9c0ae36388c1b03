"""What annotators and researchers say to each other of an item, and what annotators want to come back to."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.studies.models.studies import Item, Study


class ItemMessage(models.Model):
    """One entry of the thread between one annotator and the researchers of a study on an item.

    A flag is an entry without a text: somebody should look at the item. A thread waits for an answer as long as its
    annotator wrote last.
    """

    class Kind(models.TextChoices):
        MESSAGE = "message", _("message")
        FLAG = "flag", _("flag")

    study = models.ForeignKey(Study, models.CASCADE, related_name="item_messages")
    item = models.ForeignKey(Item, models.CASCADE, related_name="messages", help_text="Perhaps a known one.")
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="item_threads", help_text="Whose thread it is."
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", help_text="None: a command."
    )
    kind = models.CharField(max_length=16, choices=Kind, default=Kind.MESSAGE)
    text = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=(Q(kind="message") & ~Q(text="")) | Q(kind="flag", text=""),
                name="item_message_has_a_text_unless_it_flags",
            ),
        ]
        indexes = [models.Index(fields=["study", "annotator", "item"], name="item_thread")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} of {self.author or 'a command'} on {self.item}"


class ItemMark(models.Model):
    """An item that an annotator wants to come back to."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="item_marks")
    item = models.ForeignKey(Item, models.CASCADE, related_name="marks")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="item_marks")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "annotator", "item"], name="item_marked_once"),
        ]

    def __str__(self) -> str:
        return f"{self.item} marked by {self.annotator}"
