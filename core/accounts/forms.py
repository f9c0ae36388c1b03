"""Forms about projects: a new one, and who is in one."""

from __future__ import annotations

from typing import Any

from django import forms

from core.accounts.models.projects import Membership, Project
from core.accounts.models.users import User
from core.accounts.services import projects
from core.errors import InputError


class ProjectForm(forms.Form):
    """A new project."""

    name = forms.CharField(label="Name", max_length=120)

    def save(self, by: User) -> Project | None:
        try:
            made: Project = projects.make(by=by, name=self.cleaned_data["name"])
        except InputError as error:
            self.add_error(error.field if error.field in self.fields else None, error.message)
            return None
        return made


class MemberForm(forms.Form):
    """Somebody's role in a project."""

    user = forms.CharField(label="Username", max_length=150)
    role = forms.ChoiceField(label="Role", choices=Membership.Role.choices, initial="researcher")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project

    def clean_user(self) -> User:
        name = self.cleaned_data["user"].strip()
        user = User.objects.filter(username=name).first()
        if user is None:
            raise forms.ValidationError(f"There is no account {name!r}.")
        return user

    def save(self, by: User) -> Membership | None:
        given = self.cleaned_data
        try:
            made: Membership = projects.join(by=by, project=self.project, user=given["user"], role=given["role"])
        except InputError as error:
            self.add_error(error.field if error.field in self.fields else None, error.message)
            return None
        return made
