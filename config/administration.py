"""Django's administration, entered by the site's own sign-in page, whose changes are acts like any other."""

from __future__ import annotations

import json
from functools import wraps
from typing import Any

from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.admin.models import LogEntry
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from core.accounts.models.users import User
from core.audit.log import VERBS, audit_batch, record


class Administration(AdminSite):
    """Asks for no password itself, so that nobody can guess one here."""

    def login(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:  # noqa: ARG002
        """Send visitors to the sign-in page, and tell whoever has signed in and is not staff."""
        if self.has_permission(request):
            return redirect(f"{self.name}:index")
        if request.user.is_authenticated:
            raise PermissionDenied(_("The administration is for staff."))
        return redirect_to_login(request.GET.get(REDIRECT_FIELD_NAME) or request.get_full_path())

    def password_change(  # type: ignore[override]  # what it is annotated with is narrower than what admin needs
        self,
        request: HttpRequest,  # noqa: ARG002
        extra_context: dict[str, object] | None = None,  # noqa: ARG002
    ) -> HttpResponse:
        """Send staff to the page where everybody changes their password; that page counts wrong ones."""
        return redirect("account_change_password")


ADD, CHANGE, DELETE = "admin.add", "admin.change", "admin.delete"
VERBS.update({ADD, CHANGE, DELETE})


class AuditedAdmin(ModelAdmin[Model]):
    """What Django writes into its own log is an act, too: which row, and which of its fields, without their values."""

    def log_addition(self, request: HttpRequest, obj: Model, message: object) -> LogEntry:
        record(ADD, by=actor(request), on=obj, fields=list_changed_fields(message))
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Model, message: object) -> LogEntry:
        record(CHANGE, by=actor(request), on=obj, fields=list_changed_fields(message))
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Model]) -> list[LogEntry] | LogEntry:
        for obj in queryset:
            record(DELETE, by=actor(request), on=obj)
        return super().log_deletions(request, queryset)


def actor(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None


def list_changed_fields(message: object) -> list[str]:
    """The names of the fields that Django's message lists; texts in it may name people, and are left out."""
    parts = json.loads(message) if isinstance(message, str) and message.startswith("[") else message
    parts = parts if isinstance(parts, list) else []
    return [field for part in parts for done in part.values() for field in done.get("fields", [])]


class AuditedSite(Administration):
    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: object) -> None:
        """Also what other packages register, such as groups and second factors."""
        mixed = type("Audited", (AuditedAdmin, admin_class or ModelAdmin), {"__module__": __name__})
        super().register(model_or_iterable, mixed, **options)

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """A change and the act of it are one transaction, at whose end the act is written."""

        @wraps(view)
        def audited(request: HttpRequest, *args: object, **kwargs: object) -> Any:
            if request.method != "POST":
                return view(request, *args, **kwargs)
            with audit_batch():
                return view(request, *args, **kwargs)

        return super().admin_view(audited, cacheable)
