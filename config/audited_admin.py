"""Django's administration, whose additions, changes and deletions are acts like any other."""

from __future__ import annotations

import json
from functools import wraps
from typing import Any

from django.contrib.admin import ModelAdmin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from config.administration import Administration
from core.accounts.models.users import User
from core.audit.log import VERBS, audit_batch, record

ADD, CHANGE, DELETE = "admin.add", "admin.change", "admin.delete"
VERBS.update({ADD, CHANGE, DELETE})


class AuditedAdmin(ModelAdmin[Model]):
    """What Django writes into its own log is an act, too: which row, and which of its fields, without their values."""

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        record(ADD, by=actor(request), on=obj, fields=list_changed_fields(message))
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        record(CHANGE, by=actor(request), on=obj, fields=list_changed_fields(message))
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Model]) -> Any:
        for obj in queryset:
            record(DELETE, by=actor(request), on=obj)
        return super().log_deletions(request, queryset)


def actor(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None


def list_changed_fields(message: Any) -> list[str]:
    """The names of the fields that Django's message lists; texts in it may name people, and are left out."""
    parts = json.loads(message) if isinstance(message, str) and message.startswith("[") else message
    parts = parts if isinstance(parts, list) else []
    return [field for part in parts for done in part.values() for field in done.get("fields", [])]


class AuditedSite(Administration):
    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Also what other packages register, such as groups and second factors."""
        mixed = type("Audited", (AuditedAdmin, admin_class or ModelAdmin), {"__module__": __name__})
        super().register(model_or_iterable, mixed, **options)

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """A change and the act of it are one transaction, at whose end the act is written."""

        @wraps(view)
        def audited(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            if request.method != "POST":
                return view(request, *args, **kwargs)
            with audit_batch():
                return view(request, *args, **kwargs)

        return super().admin_view(audited, cacheable)
