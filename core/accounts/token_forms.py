"""The form that makes an API token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from core.accounts.models.tokens import ApiToken, Scope
from core.accounts.models.users import User
from core.accounts.services import tokens
from core.errors import InputError

DAYS = [("30", "30 days"), ("90", "90 days"), ("365", "a year"), ("", "until it is revoked")]


class TokenForm(forms.Form):
    """What a token is for, what it allows and how long it lasts."""

    name = forms.CharField(label="What it is for", max_length=80)
    scopes = forms.MultipleChoiceField(label="What it allows", widget=forms.CheckboxSelectMultiple)
    days = forms.ChoiceField(
        label="How long it lasts",
        choices=DAYS,
        initial=str(tokens.USUAL_DAYS),
        required=False,
        widget=forms.RadioSelect,
    )

    def __init__(self, data: Mapping[str, Any] | None = None, *, user: User, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        researcher = user.is_researcher or user.is_superuser
        kept_back = [
            *([] if researcher else tokens.RESEARCHERS_ONLY),
            *([] if tokens.decides(user) else [Scope.ADJUDICATE]),
        ]
        offered = [(value, label) for value, label in Scope.choices if value not in kept_back]
        self.fields["scopes"].choices = offered  # type: ignore[attr-defined]
        self.fields["scopes"].initial = ["read"]

    def save(self, by: User) -> tuple[ApiToken, str] | None:
        """The token and its text; None if it was refused, with the reason at its field."""
        given = self.cleaned_data
        days = int(given["days"]) if given["days"] else None
        try:
            return tokens.make(by=by, name=given["name"], scopes=given["scopes"], days=days)
        except InputError as error:
            self.add_error(error.field if error.field in self.fields else None, error.message)
            return None
