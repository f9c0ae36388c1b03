"""Forms about projects, who is in one, and API tokens."""

from __future__ import annotations

from collections.abc import Mapping

from django import forms
from django.utils.translation import gettext as _, gettext_lazy

from core.accounts.models.projects import Membership, Project
from core.accounts.models.tokens import ApiToken, Scope
from core.accounts.models.users import User
from core.accounts.services import projects, tokens
from core.options.fields import OptionsForm


class ProjectForm(OptionsForm):
    """A new project."""

    name = forms.CharField(label="Name", max_length=120)

    def save(self, by: User) -> Project | None:
        return self.done(lambda: projects.make(by=by, name=self.cleaned_data["name"]))


class MemberForm(OptionsForm):
    """Somebody's role in a project."""

    user = forms.CharField(label="Username", max_length=150)
    role = forms.ChoiceField(label="Role", choices=Membership.Role.choices, initial="researcher")

    def __init__(self, *args: object, project: Project, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.project = project

    def clean_user(self) -> User:
        name = self.cleaned_data["user"].strip()
        user = User.objects.filter(username=name).first()
        if user is None:
            raise forms.ValidationError(_("There is no account {name!r}.").format(name=name))
        return user

    def save(self, by: User) -> Membership | None:
        given = self.cleaned_data
        return self.done(lambda: projects.join(by=by, project=self.project, user=given["user"], role=given["role"]))


DAYS = [
    ("30", gettext_lazy("30 days")),
    ("90", gettext_lazy("90 days")),
    ("365", gettext_lazy("a year")),
    ("", gettext_lazy("until it is revoked")),
]


class TokenForm(OptionsForm):
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

    def __init__(self, data: Mapping[str, object] | None = None, *, user: User, **kwargs: object) -> None:
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
        return self.done(lambda: tokens.make(by=by, name=given["name"], scopes=given["scopes"], days=days))
