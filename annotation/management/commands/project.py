"""`manage.py project`: make a project, or list those there are."""

from __future__ import annotations

from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from core.accounts.models.projects import Project
from core.accounts.queries import find_account
from core.accounts.services import projects


class ProjectDocument(TypedDict):
    """A project and its members, each with a role."""

    name: str
    slug: str
    members: list[dict[str, str]]


class Command(ConcordCommand[dict[str, list[ProjectDocument]]]):
    help = "Make a project, whose owner may add others; without a name, list all of them."
    example = 'project "Reading group" --owner rosa'

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", nargs="?", help="of the new project")
        parser.add_argument("--owner", metavar="USER", help="who manages it; is made a researcher if need be")

    def run(self, *, name: str | None, owner: str | None, **_: object) -> dict[str, list[ProjectDocument]]:
        if name is None:
            return {
                "projects": [describe_project(one) for one in Project.objects.prefetch_related("memberships__user")]
            }
        person = None if owner is None else find_account(owner, field="owner")
        return {"projects": [describe_project(projects.make(by=None, name=name, owner=person))]}

    def write_text(self, document: dict[str, list[ProjectDocument]]) -> None:
        for one in document["projects"]:
            who = ", ".join(f"{member['user']} ({member['role']})" for member in one["members"]) or "nobody"
            self.stdout.write(f"{one['slug']}: {one['name']}; {who}")


def describe_project(project: Project) -> ProjectDocument:
    people = [{"user": one.user.username, "role": one.role} for one in project.memberships.all()]
    return {"name": project.name, "slug": project.slug, "members": sorted(people, key=lambda one: one["user"])}
