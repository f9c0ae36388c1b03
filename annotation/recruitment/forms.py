"""The forms of coming into a study: for the stranger who joins, and for the researcher who lets people in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from django import forms
from django.contrib.auth.forms import UserCreationForm
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy

from annotation.recruitment.models import DemographicQuestion, Intake, Invitation
from annotation.recruitment.platforms import Visit
from annotation.recruitment.services import completions, consents, demographics, enrolment
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.errors import InputError
from core.options.fields import OptionsForm

LONGEST_DAYS = 3650


class AccountForm(UserCreationForm[User]):
    """A name and a password for somebody new."""

    class Meta:
        model = User
        fields = ("username",)

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].label = _("Name")
        self.fields["username"].help_text = _("By which you sign in. Letters, digits and @ . + - _ only.")

    def join(self, study: Study, invitation: Invitation | None) -> User | None:
        """The new account in the study, or None if it was refused, with the reason at its field."""
        account = self.save(commit=False)
        try:
            return enrolment.create_account_and_join(account=account, study=study, invitation=invitation)
        except InputError as error:
            self.add_error(error.field if error.field in self.fields else None, error.message)
            return None


class ReturnForm(OptionsForm):
    """What somebody whom a platform sent enters to go on in another browser."""

    code = forms.CharField(
        label=gettext_lazy("Return code"),
        max_length=40,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def sign_back_in(self, by: User | None, invitation: Invitation, visit: Visit) -> User | None:
        """Their account, or None if the code is not theirs, with the reason at its field. InputError: they may not."""
        try:
            return enrolment.find_or_create_platform_account(
                by=by, invitation=invitation, visit=visit, code=self.data.get("code", "")
            )
        except InputError as error:
            if error.field != "code":
                raise
            self.full_clean()
            self.refuse(error)
            return None


class InvitationForm(OptionsForm):
    """A new link into a study."""

    places = {"expires": "days", "study": "platform"}

    platform = forms.ChoiceField(
        choices=Invitation.Platform.choices,
        required=False,
        label="For",
        help_text="People from a platform need no account: the platform’s link identifies them.",
    )
    uses = forms.IntegerField(
        min_value=1, max_value=enrolment.MOST_USES, required=False, label="Maximum number of people"
    )
    days = forms.IntegerField(min_value=1, max_value=LONGEST_DAYS, required=False, initial=30, label="Valid for (days)")
    note = forms.CharField(
        max_length=enrolment.LONGEST_NOTE, required=False, help_text="Shown to researchers only, such as “second wave”."
    )

    def create(self, by: User, study: Study) -> enrolment.CreatedInvitation | None:
        given = self.cleaned_data
        return self.done(
            lambda: enrolment.create(
                by=by,
                study=study,
                max_uses=given["uses"],
                expires_at=days_from_now(given["days"]),
                platform=given["platform"],
                note=given["note"],
            )
        )


def days_from_now(days: int | None) -> datetime | None:
    return timezone.now() + timedelta(days=days) if days else None


class ConsentForm(OptionsForm):
    """What people agree to."""

    consent_text = forms.CharField(
        required=False,
        max_length=consents.LONGEST_TEXT,
        label="Consent text",
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text="Shown before the first item. Empty: nothing is asked. Who agreed to another version is asked again.",
    )

    def save(self, by: User, study: Study) -> bool:
        try:
            consents.set_text(by=by, study=study, text=self.cleaned_data["consent_text"])
        except InputError as error:
            self.refuse(error)
            return False
        return True


class QuestionForm(OptionsForm):
    """One more question about the person."""

    text = forms.CharField(max_length=demographics.LONGEST, label="Question")
    options = forms.CharField(
        label="Answers",
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="One per line. “Prefer not to say” is always one more.",
    )

    def create(self, by: User, study: Study) -> bool:
        text, options = self.cleaned_data["text"], self.cleaned_data["options"].splitlines()
        add = demographics.add_question
        return self.done(lambda: add(by=by, study=study, text=text, options=options)) is not None


class AboutMeForm(forms.Form):
    """The study's questions about the person, each with "prefer not to say", which is where it begins."""

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        questions: Iterable[DemographicQuestion],
        answers: Mapping[str, str],
    ) -> None:
        super().__init__(data)
        for question in questions:
            offered = [(option, option) for option in question.options]
            self.fields[question.key] = forms.ChoiceField(
                choices=[*offered, ("", _(demographics.NOT_SAID).capitalize())],
                label=question.text,
                required=False,
                initial=answers.get(question.key, ""),
                widget=forms.RadioSelect,
            )


class IntakeForm(OptionsForm):
    """Whether anybody may join, and what people get at the end."""

    is_public = forms.BooleanField(required=False, label="Anybody may join by the public address")
    completion_code = forms.CharField(
        max_length=80,
        required=False,
        label="Completion code",
        help_text="Shown to annotators when they are done. Empty: each person from a platform gets their own code.",
    )
    completion_url = forms.URLField(
        max_length=500,
        required=False,
        label="Completion address",
        assume_scheme="https",
        help_text="Where annotators are sent when they are done.",
    )

    @classmethod
    def from_intake(cls, intake: Intake) -> IntakeForm:
        return cls(initial={name: getattr(intake, name) for name in cls.base_fields})

    def save(self, by: User, study: Study) -> bool:
        try:
            completions.set_intake(by=by, study=study, **self.cleaned_data)
        except InputError as error:
            self.refuse(error)
            return False
        return True
