"""The form with which an owner enters a key."""

from __future__ import annotations

from typing import Any

from django import forms

from core.accounts.models.projects import Project
from core.accounts.models.users import User
from core.options.fields import OptionsForm
from judging.judges.models.keys import ModelKey
from judging.judges.options import NewKey
from judging.judges.services import keys


class KeyForm(OptionsForm):
    """A key and the address that it is for. What was entered is never put into a page again."""

    verb = NewKey

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.set("address", initial="https://api.openai.com")
        self.set("key", widget=forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}))

    def save(self, by: User, project: Project) -> ModelKey | None:
        return self.done(lambda: keys.keep(by=by, project=project, **self.arguments()))
