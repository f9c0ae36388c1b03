"""Who is calling with which tokens, which projects I am in, where new things of mine go, and who is in a project.

A token is made on the page or by the command, where it is shown.
"""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core.accounts import queries
from core.accounts.access import IsOwner
from core.accounts.models.projects import Membership, Project, find_home
from core.accounts.models.tokens import ApiToken, Scope
from core.accounts.models.users import User
from core.accounts.services import projects, tokens
from core.api.base import AnyAccount, Api, Given, PageQuery, build_page_schema, find_named
from core.api.problems import NOT_FOUND, problem
from core.api.schema import says
from core.errors import InputError


class MeSerializer(serializers.Serializer[object]):
    username = serializers.CharField()
    is_researcher = serializers.BooleanField()
    scopes = serializers.ListField(child=serializers.CharField(), help_text="Of the token; all in a session.")


class Me(AnyAccount):
    tag = "account"

    @says("me", "Who is calling, and what the token allows", MeSerializer)
    def get(self, request: Request) -> Response:
        scopes = Scope.values if request.auth is None else list(getattr(request.auth, "scopes", ()))
        researcher = self.me.is_researcher or self.me.is_superuser
        return Response({"username": self.me.username, "is_researcher": researcher, "scopes": scopes})


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    """A token, without what would let somebody use it."""

    state = serializers.SerializerMethodField()
    scopes = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = ApiToken
        fields = ["id", "name", "hint", "scopes", "state", "created_at", "expires_at", "last_used_at", "revoked_at"]

    def get_state(self, token: ApiToken) -> str:
        return token.state(timezone.now())


class TokenList(AnyAccount):
    tag = "account"

    @says("tokens", "My tokens", TokenSerializer(many=True))
    def get(self, request: Request) -> Response:
        return Response(TokenSerializer(self.me.api_tokens.order_by("pk"), many=True).data)


class TokenDetail(AnyAccount):
    tag = "account"

    @says("revoke_token", "Revoke one of my tokens", None, status=204)
    def delete(self, request: Request, pk: int) -> Response:
        tokens.revoke(by=self.me, token=get_object_or_404(self.me.api_tokens, pk=pk))
        return Response(status=204)


class Nothing(AnyAccount):
    """Every address of the API that there is not."""

    schema = None

    def handle(self, request: Request, *args: object, **kwargs: object) -> Response:
        return problem(404, NOT_FOUND)

    get = post = put = patch = delete = handle


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

    def plan_run(self, row: Project) -> object:
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
