"""The form by which the log of acts is narrowed."""

from __future__ import annotations

from django import forms
from django.db.models import QuerySet

from core.accounts.models.users import User
from core.audit.log import VERBS
from core.audit.models import Act
from core.audit.queries import EventFilter, list_events
from core.errors import InputError


def a_day(label: str) -> forms.DateField:
    return forms.DateField(label=label, required=False, widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"))


class EventForm(forms.Form):
    """Person, study, verb and period; what is left empty does not narrow."""

    person = forms.CharField(label="Person (username)", required=False, max_length=150)
    study = forms.CharField(label="Study", required=False, max_length=120)
    verb = forms.ChoiceField(label="What was done", required=False)
    since = a_day("From (day, UTC)")
    until = a_day("To (day, UTC)")

    def __init__(self, data: object = None) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        kinds = sorted({verb.partition(".")[0] for verb in VERBS})
        groups = [
            (kind, [(kind, f"{kind}: anything"), *((one, one) for one in sorted(VERBS) if one.startswith(f"{kind}."))])
            for kind in kinds
        ]
        self.fields["verb"].choices = [("", "anything"), *groups]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, object]:
        given = super().clean() or {}
        since, until = given.get("since"), given.get("until")
        if since and until and until < since:
            raise forms.ValidationError({"until": "This is before the first day."})
        return given

    def rows(self, seen_by: User) -> QuerySet[Act]:
        """What fits; nothing where something in the form is wrong, with the reason at its field."""
        if not self.is_valid():
            return Act.objects.none()
        try:
            return list_events(EventFilter(**self.cleaned_data), seen_by=seen_by)
        except InputError as error:
            self.add_error(error.field if error.field in self.fields else None, error.message)
            return Act.objects.none()

    @property
    def narrows(self) -> bool:
        return any(self.data.get(name) for name in self.fields)
