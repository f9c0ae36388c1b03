"""`manage.py member`: who is in a project, and in which role."""

from __future__ import annotations

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.management.commands.project import ProjectDocument, describe_project
from core.accounts.models.projects import Membership
from core.accounts.queries import find_account, find_project
from core.accounts.services import projects


class Command(ConcordCommand[ProjectDocument]):
    help = "Give an account a role in a project, another role, or none any more."
    example = "member default anna --role adjudicator"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", help="its address or name")
        parser.add_argument("user", help="username")
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--role", help=", ".join(Membership.Role.values))
        what.add_argument("--remove", action="store_true", help="take the account out of the project")

    def run(self, *, project: str, user: str, role: str | None, **_: object) -> ProjectDocument:
        found, person = find_project(project), find_account(user, field="user")
        if role is None:
            projects.leave(by=None, project=found, user=person)
        else:
            projects.join(by=None, project=found, user=person, role=role)
        return describe_project(found)

    def write_text(self, document: ProjectDocument) -> None:
        for one in document["members"]:
            self.stdout.write(f"{one['user']}: {one['role']} of {document['name']}")
