"""Projects through the API: which ones I am in, where new things of mine go, and who is in one."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core.accounts.access import IsOwner
from core.accounts.models.projects import Membership, Project, find_home
from core.accounts.models.users import User
from core.accounts.queries import projects as queries
from core.accounts.services import projects
from core.api.base import Api, Given, PageQuery, build_page_schema, find_named
from core.api.schema import says
from core.errors import InputError

ROLES = Membership.Role.choices


class ProjectSerializer(serializers.ModelSerializer[Project]):
    """People who work together, and see nothing of what others do."""

    n_members = serializers.IntegerField()
    n_owners = serializers.IntegerField()
    is_chosen = serializers.SerializerMethodField(help_text="Whether what I make goes there if I name no project.")

    class Meta:
        model = Project
        fields = ["id", "name", "slug", "n_members", "n_owners", "is_chosen", "created_at"]

    def get_is_chosen(self, row: Project) -> bool:
        return bool(row.pk == self.context["home"])


class MemberSerializer(serializers.ModelSerializer[Membership]):
    """What one account may do in a project."""

    user = serializers.CharField(source="user.username", help_text="Username.")

    class Meta:
        model = Membership
        fields = ["user", "role", "created_at"]


class ProjectsApi(Api):
    permission_classes = [IsOwner]
    tag = "projects"

    def project(self, slug: str) -> Project:
        return get_object_or_404(Project, slug=slug)

    def plan_run(self, row: Project) -> Any:
        return ProjectSerializer(row, context={"home": self.home}).data

    @property
    def home(self) -> int | None:
        """Where new things of the account go; None where it has yet to choose."""
        try:
            return find_home(self.me).pk
        except InputError:
            return None


class NewProject(Given):
    name = serializers.CharField(max_length=120)


class ProjectList(ProjectsApi):
    @says("projects", "Projects that I research in", build_page_schema(ProjectSerializer), query=PageQuery)
    def get(self, request: Request) -> Response:
        home = self.home
        return self.page(
            queries.list_researched(self.me), lambda row: ProjectSerializer(row, context={"home": home}).data
        )

    @says(
        "create_project",
        "Make a project, as the site's administration; its maker owns it",
        ProjectSerializer,
        body=NewProject,
        status=201,
    )
    def post(self, request: Request) -> Response:
        if not self.me.is_superuser:
            raise PermissionDenied("The site's administration makes projects.")
        made = projects.make(by=self.me, **self.parse_body(NewProject))
        return Response(self.plan_run(queries.list_researched(self.me).get(pk=made.pk)), status=201)


class ProjectDetail(ProjectsApi):
    @says("project", "A project", ProjectSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return Response(self.plan_run(get_object_or_404(queries.list_researched(self.me), slug=slug)))


class ProjectChoice(Api):
    tag = "projects"

    @says(
        "choose_project",
        "From now on what I make goes there, unless a request names another project",
        ProjectSerializer,
    )
    def post(self, request: Request, slug: str) -> Response:
        row = get_object_or_404(queries.list_researched(self.me), slug=slug)
        projects.choose(by=self.me, project=row)
        return Response(ProjectSerializer(row, context={"home": row.pk}).data)


class NewMember(Given):
    user = serializers.CharField(max_length=150, help_text="Username.")
    role = serializers.ChoiceField(ROLES)


class NewRole(Given):
    role = serializers.ChoiceField(ROLES)


class Members(ProjectsApi):
    @says("members", "Who is in a project", build_page_schema(MemberSerializer), query=PageQuery)
    def get(self, request: Request, slug: str) -> Response:
        return self.page(self.project(slug).memberships.select_related("user"), MemberSerializer)

    @says("add_member", "Give an account a role in a project", MemberSerializer, body=NewMember, status=201)
    def post(self, request: Request, slug: str) -> Response:
        given = self.parse_body(NewMember)
        user = find_named(User, "user", username=given["user"])
        made = projects.join(by=self.me, project=self.project(slug), user=user, role=given["role"])
        return Response(MemberSerializer(made).data, status=201)


class MemberDetail(ProjectsApi):
    def member(self, slug: str, username: str) -> Membership:
        rows = Membership.objects.select_related("project", "user")
        return get_object_or_404(rows, project__slug=slug, user__username=username)

    @says("member", "A member of a project", MemberSerializer)
    def get(self, request: Request, slug: str, username: str) -> Response:
        return Response(MemberSerializer(self.member(slug, username)).data)

    @says("change_member", "Give a member another role; a project keeps an owner", MemberSerializer, body=NewRole)
    def patch(self, request: Request, slug: str, username: str) -> Response:
        member, given = self.member(slug, username), self.parse_body(NewRole)
        made = projects.join(by=self.me, project=member.project, user=member.user, **given)
        return Response(MemberSerializer(made).data)

    @says("remove_member", "Take a member out; what they did stays", None, status=204)
    def delete(self, request: Request, slug: str, username: str) -> Response:
        member = self.member(slug, username)
        projects.leave(by=self.me, project=member.project, user=member.user)
        return Response(status=204)
