"""How people come into a study and leave it, through the API: links, consent, what is asked of them, withdrawal."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import reverse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.recruitment.models import ConsentDecision, DemographicQuestion, Invitation
from annotation.recruitment.queries import add_uses, find_closing_reason, find_intake, participants
from annotation.recruitment.services import completions, consents, demographics, enrolment
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.api.base import Api, Given, PageQuery, build_page_schema
from core.api.schema import says
from core.downloads import audit_export


class RecruitmentApi(Api):
    tag = "recruitment"

    def study(self, slug: str) -> Study:
        return get_object_or_404(Study, slug=slug)


class InvitationSerializer(serializers.ModelSerializer[Invitation]):
    """A link into a study, without the link: only its hash is kept."""

    joined = serializers.IntegerField(source="uses", help_text="People who used it.")
    closed = serializers.SerializerMethodField(help_text="Why nobody can join by it any more; empty if they can.")
    created_by = serializers.CharField(source="created_by.username", default=None, allow_null=True)

    class Meta:
        model = Invitation
        fields = [
            *("id", "platform", "note", "max_uses", "joined", "expires_at", "closed", "created_by", "created_at"),
            "revoked_at",
        ]

    def get_closed(self, row: Any) -> str:
        return find_closing_reason(row, uses=row.uses)


class MadeInvitationSerializer(InvitationSerializer):
    """With the token and the path of the link, which are shown now."""

    token = serializers.CharField(allow_blank=True, help_text="Empty where an answer is given again.")
    path = serializers.CharField(allow_blank=True, help_text="Of the link, behind the address of the site.")

    class Meta(InvitationSerializer.Meta):
        fields = [*InvitationSerializer.Meta.fields, "token", "path"]


class NewInvitation(Given):
    max_uses = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=1, max_value=enrolment.MOST_USES
    )
    expires_at = serializers.DateTimeField(required=False, allow_null=True, default=None)
    platform = serializers.ChoiceField(Invitation.Platform.choices, required=False, default="")
    note = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=enrolment.LONGEST_NOTE, help_text="For you."
    )


class Invitations(RecruitmentApi):
    keeps_to_itself = ("token", "path")

    @says(
        "invitations", "Links into a study, revoked ones too", build_page_schema(InvitationSerializer), query=PageQuery
    )
    def get(self, request: Request, slug: str) -> Response:
        return self.page(list_participants(self.study(slug)), InvitationSerializer)

    @says("invite", "Make a link into a study", MadeInvitationSerializer, body=NewInvitation, status=201)
    def post(self, request: Request, slug: str) -> Response:
        study = self.study(slug)
        made = enrolment.create(by=self.me, study=study, **self.parse_body(NewInvitation))
        row = InvitationSerializer(list_participants(study).get(pk=made.invitation.pk)).data
        return Response({**row, "token": made.token, "path": reverse("join", args=[made.token])}, status=201)


class InvitationDetail(RecruitmentApi):
    @says("invitation", "A link into a study", InvitationSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(InvitationSerializer(get_object_or_404(list_participants(self.study(slug)), pk=pk)).data)

    @says("revoke_invitation", "Let nobody join by it any more; who joined stays", None, status=204)
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        enrolment.revoke(by=self.me, invitation=get_object_or_404(self.study(slug).invitations, pk=pk))
        return Response(status=204)


def list_participants(study: Study) -> QuerySet[Invitation]:
    return add_uses(study.invitations.select_related("study", "created_by"))


class IntakeSerializer(serializers.Serializer[object]):
    """How people come into a study, and what they get at its end."""

    is_public = serializers.BooleanField(help_text="Whether anybody may join by the public address.")
    public_path = serializers.CharField(allow_null=True, help_text="That address; null where there is none.")
    completion_code = serializers.CharField(allow_blank=True)
    completion_url = serializers.CharField(allow_blank=True)
    consent_text = serializers.CharField(allow_null=True, help_text="What people agree to; null for nothing.")
    consent_hash = serializers.CharField(allow_null=True, help_text="SHA-256 by which the version is known.")


class NewIntake(Given):
    """What is not given stays as it is."""

    is_public = serializers.BooleanField(required=False)
    completion_code = serializers.CharField(required=False, allow_blank=True, max_length=80)
    completion_url = serializers.CharField(required=False, allow_blank=True, max_length=500)
    consent_text = serializers.CharField(
        required=False, allow_blank=True, max_length=consents.LONGEST_TEXT, help_text="Empty: people agree to nothing."
    )


class StudyIntake(RecruitmentApi):
    @says("intake", "How people come into a study", IntakeSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return self.render_intake(self.study(slug))

    @says("set_intake", "Set how people come in, and what they agree to", IntakeSerializer, body=NewIntake)
    def patch(self, request: Request, slug: str) -> Response:
        """Who agreed to another text is asked again."""
        study = self.study(slug)
        completions.set_intake(by=self.me, study=study, **self.parse_body(NewIntake))
        return self.render_intake(study)

    def render_intake(self, study: Study) -> Response:
        found = find_intake(study)
        text = found.consent_text
        content = {
            "is_public": found.is_public,
            "public_path": reverse("register", args=[study.slug]) if found.is_public else None,
            "completion_code": found.completion_code,
            "completion_url": found.completion_url,
            "consent_text": text.text if text else None,
            "consent_hash": text.content_hash if text else None,
        }
        return Response(IntakeSerializer(content).data)


class ParticipantSerializer(serializers.Serializer[object]):
    """Somebody who is or was in a study."""

    annotator = serializers.CharField(source="annotator.username")
    came_by = serializers.CharField(allow_blank=True)
    platform = serializers.CharField(allow_blank=True)
    platform_id = serializers.CharField(allow_blank=True)
    joined_at = serializers.DateTimeField(allow_null=True)
    decision = serializers.CharField(allow_blank=True, help_text="agreed, declined or withdrew; empty: none.")
    text_hash = serializers.CharField(allow_blank=True)
    decided_at = serializers.DateTimeField(allow_null=True)
    erased = serializers.IntegerField(allow_null=True, help_text="Labels that a withdrawal erased.")
    submitted = serializers.IntegerField()
    completed_at = serializers.DateTimeField(allow_null=True)
    completion_code = serializers.CharField(allow_blank=True)


class Participants(RecruitmentApi):
    @says(
        "participants",
        "Who is or was in a study, by which way, and what they decided",
        ParticipantSerializer(many=True),
    )
    @audit_export("participants")
    def get(self, request: Request, slug: str) -> Response:
        return Response(ParticipantSerializer(participants(self.study(slug)), many=True).data)


class WithdrawalSerializer(serializers.ModelSerializer[ConsentDecision]):
    """What stays of a withdrawal."""

    annotator = serializers.CharField(source="annotator.username")

    class Meta:
        model = ConsentDecision
        fields = ["annotator", "decision", "erased", "created_at"]


class ParticipantWithdrawal(RecruitmentApi):
    @says("withdraw", "Withdraw somebody who asked for it: all that they gave is erased", WithdrawalSerializer)
    def post(self, request: Request, slug: str, username: str) -> Response:
        annotator = get_object_or_404(User, username=username)
        done = consents.withdraw(by=self.me, study=self.study(slug), annotator=annotator)
        return Response(WithdrawalSerializer(done).data)


class QuestionSerializer(serializers.ModelSerializer[DemographicQuestion]):
    """What people are asked about themselves; "prefer not to say" is always one more answer."""

    options = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = DemographicQuestion
        fields = ["key", "text", "options", "position"]


class NewQuestion(Given):
    text = serializers.CharField(max_length=200)
    options = serializers.ListField(child=serializers.CharField(max_length=200), min_length=1, max_length=100)
    key = serializers.SlugField(required=False, allow_blank=True, default="", max_length=60)


class Questions(RecruitmentApi):
    @says("questions", "What people are asked about themselves", QuestionSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return Response(QuestionSerializer(self.study(slug).demographic_questions.all(), many=True).data)

    @says("add_question", "Ask people one thing more", QuestionSerializer, body=NewQuestion, status=201)
    def post(self, request: Request, slug: str) -> Response:
        made = demographics.add_question(by=self.me, study=self.study(slug), **self.parse_body(NewQuestion))
        return Response(QuestionSerializer(made).data, status=201)


class Erased(serializers.Serializer[object]):
    erased = serializers.IntegerField(help_text="Answers that went with it.")


class QuestionDetail(RecruitmentApi):
    @says("delete_question", "Ask it no more, and erase what was answered", Erased)
    def delete(self, request: Request, slug: str, key: str) -> Response:
        question = get_object_or_404(self.study(slug).demographic_questions, key=key)
        return Response({"erased": demographics.remove_question(by=self.me, question=question)})
