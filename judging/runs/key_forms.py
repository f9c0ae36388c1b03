"""The form with which an owner enters a key."""

from __future__ import annotations

from django import forms

from core.accounts.models.projects import Project
from core.accounts.models.users import User
from judging.judges.models.keys import ModelKey
from judging.judges.services import keys
from judging.runs.forms import SayingForm


class KeyForm(SayingForm):
    """A key and the address that it is for. What was entered is never put into a page again."""

    address = forms.CharField(
        label="Address",
        max_length=300,
        initial="https://api.openai.com",
        help_text="Of the server that asks for it: https://api.openai.com, https://api.anthropic.com, or your own. "
        "The path does not matter. The key is sent there and nowhere else.",
    )
    key = forms.CharField(
        label="Key",
        max_length=keys.LONGEST,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text="In place of the one that is there for this address.",
    )
    note = forms.CharField(label="Note", max_length=200, required=False, help_text="Who pays, for example.")

    def save(self, by: User, project: Project) -> ModelKey | None:
        given = self.cleaned_data
        made: ModelKey | None = self.done(lambda: keys.keep(by=by, project=project, **given))
        return made
