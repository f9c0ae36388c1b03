"""The form that confirms an erasure."""

from __future__ import annotations

from collections.abc import Mapping

from django import forms
from django.utils.translation import gettext as _, gettext_lazy

from config.erasure.erasing import erase_person
from core.accounts.models.users import User
from core.errors import InputError


class EraseForm(forms.Form):
    """Asks for the username, so that nobody is erased by a slip."""

    confirm = forms.CharField(max_length=150, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    notes = forms.BooleanField(
        required=False,
        label=gettext_lazy("Also erase notes and reasons written beside labels"),
        help_text=gettext_lazy("The labels stay."),
    )

    def __init__(self, data: Mapping[str, object] | None, *, person: User) -> None:
        super().__init__(data)
        self.person = person
        self.fields["confirm"].label = _("To confirm, type the username: %(name)s") % {"name": person.username}

    def clean_confirm(self) -> str:
        typed: str = self.cleaned_data["confirm"].strip()
        if typed != self.person.username:
            raise forms.ValidationError(_("This is not the username of the account."))
        return typed

    def save(self, by: User) -> bool:
        """Whether it was erased; if not, the reason stands above the form."""
        try:
            erase_person(by=by, person=self.person, notes=self.cleaned_data["notes"])
        except InputError as error:
            self.add_error(None, error.message)
            return False
        return True
