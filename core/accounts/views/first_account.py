"""The page where the first account of a site is created."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.forms import BaseUserCreationForm
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache

from core.accounts.access import public
from core.accounts.models.users import User
from core.accounts.services import first_account
from core.errors import InputError


class FirstAccountForm(BaseUserCreationForm[User]):
    """A name and a password, twice."""

    class Meta:
        model = User
        fields = ("username",)


@public
@never_cache
def create_first_account(request: HttpRequest, key: str) -> HttpResponse:
    """Create it, then sign in with it. Not found without a valid key, and once there is an account."""
    if not first_account.is_valid_key(key) or not first_account.is_needed():
        raise Http404
    form = FirstAccountForm(request.POST or None)
    if form.is_valid():
        given = form.cleaned_data
        try:
            first_account.create(by=None, username=given["username"], password=given["password1"])
        except InputError as error:
            form.add_error("username", error.message)
        else:
            messages.success(request, "The account is created. Sign in with it.")
            return redirect("login")
    return render(request, "account/first_account.html", {"form": form})
