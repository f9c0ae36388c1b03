"""People who use the site, and raters who are known only by their labels."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils.translation import gettext_lazy as _

from core.accounts.models.projects import Membership, Project
from core.errors import InputError
from core.names import check_line


class User(AbstractUser):
    """An account. Imported and simulated annotators are accounts that cannot sign in, and say so by `kind`."""

    class Kind(models.TextChoices):
        PERSON = "person", _("person")
        IMPORTED = "imported", _("imported annotator")
        SIMULATED = "simulated", _("simulated annotator")

    kind = models.CharField(max_length=16, choices=Kind, default=Kind.PERSON)
    display_name = models.CharField(max_length=150, blank=True)
    is_researcher = models.BooleanField(default=False, help_text="May see all material, studies, judges and results.")
    erased_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="From then on the account is a number without a person."
    )
    erased_notes = models.BooleanField(
        default=False, editable=False, help_text="What they wrote beside labels was erased as well."
    )

    working_in = models.ForeignKey(
        Project, models.SET_NULL, null=True, blank=True, related_name="+", help_text="Where new things of theirs go."
    )

    language = models.CharField(
        max_length=8, blank=True, help_text="Of the annotators' pages. Empty: what the browser asks for."
    )

    class Meta:
        app_label = "annotation"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind__in=["person", "imported", "simulated"]), name="user_kind_is_known"
            ),
            models.CheckConstraint(
                condition=models.Q(kind="person") | models.Q(is_researcher=False, is_superuser=False),
                name="only_people_are_researchers",
            ),
            models.CheckConstraint(
                condition=models.Q(erased_at=None, erased_notes=False)
                | models.Q(
                    **dict.fromkeys(("display_name", "first_name", "last_name", "email"), ""),
                    **dict.fromkeys(("is_active", "is_researcher", "is_staff", "is_superuser"), False),
                    last_login=None,
                    erased_at__isnull=False,
                ),
                name="erased_account_is_nobody",
            ),
        ]

    def clean(self) -> None:
        """Names are shown everywhere, so they are one line of visible text."""
        super().clean()
        for field in ("username", "display_name", "first_name", "last_name"):
            try:
                check_line(getattr(self, field) or "", field=field)
            except InputError as error:
                raise ValidationError({field: error.message}) from error

    def __str__(self) -> str:
        return self.display_name or self.username

    def save(self, *args: Any, **kwargs: Any) -> None:
        """A new researcher comes into the only project of a site that has one, and its first one owns it."""
        fields = kwargs.get("update_fields")
        asked = self.is_researcher and (fields is None or "is_researcher" in fields)
        if not asked or (self.pk and User.objects.filter(pk=self.pk, is_researcher=True).exists()):
            super().save(*args, **kwargs)
            return
        with transaction.atomic():
            super().save(*args, **kwargs)
            if Project.objects.count() <= 1:
                project = Project.find_or_create_default()
                owned = project.memberships.filter(role=Membership.Role.OWNER).exists()
                role = Membership.Role.RESEARCHER if owned else Membership.Role.OWNER
                project.memberships.get_or_create(user=self, defaults={"role": role})

    @property
    def is_simulated(self) -> bool:
        return self.kind == self.Kind.SIMULATED
