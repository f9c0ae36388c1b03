"""Django's administration, entered by the site's own sign-in page: its limit and second factor hold here as well."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect


class Administration(AdminSite):
    """Asks for no password itself, so that nobody can guess one here."""

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:  # noqa: ARG002
        """Send visitors to the sign-in page, and tell whoever has signed in and is not staff."""
        if self.has_permission(request):
            return redirect(f"{self.name}:index")
        if request.user.is_authenticated:
            raise PermissionDenied("The administration is for staff.")
        return redirect_to_login(request.GET.get(REDIRECT_FIELD_NAME) or request.get_full_path())

    def password_change(  # type: ignore[override]  # what it is annotated with is narrower than what admin needs
        self,
        request: HttpRequest,  # noqa: ARG002
        extra_context: dict[str, Any] | None = None,  # noqa: ARG002
    ) -> HttpResponse:
        """Send staff to the page where everybody changes their password; that page counts wrong ones."""
        return redirect("account_change_password")
