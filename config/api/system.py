"""The site itself, a study as one file, and erasing a person: what the API has of all apps together."""

from __future__ import annotations

from django.http import Http404, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.studies.models.studies import Study
from config import readiness, retention
from config.archives import writing
from config.erasure import erasing
from config.erasure.erasing import load_about
from core.accounts.access import MayErase
from core.accounts.models.users import User
from core.accounts.permissions import filter_visible
from core.api.base import Api, Given
from core.api.schema import says
from core.downloads import audit_export, stream_zip
from core.errors import InputError
from judging.judges.models import Worker
from judging.runs.api.runs import RunSerializer
from judging.runs.models.runs import JudgeRun
from judging.runs.queries import queues
from simulation.experiments import queries
from simulation.experiments.api import ExperimentSerializer
from simulation.experiments.models import Experiment


class CheckSerializer(serializers.Serializer[object]):
    """One thing that the site needs; `problem` is empty where it is there."""

    name = serializers.CharField()
    problem = serializers.CharField(allow_blank=True)


class QueueSerializer(serializers.Serializer[object]):
    """Parts of running judge runs."""

    waiting = serializers.IntegerField()
    held = serializers.IntegerField()
    later = serializers.IntegerField()
    oldest = serializers.DateTimeField(allow_null=True)


class ProcessSerializer(serializers.ModelSerializer[Worker]):
    """A living process, and the parts that it holds."""

    parts = serializers.IntegerField()

    class Meta:
        model = Worker
        fields = ["name", "slots", "parts", "started_at", "seen_at"]


class RetentionSerializer(serializers.Serializer[object]):
    """A kind of data, how long it is kept, and how much of it is over that."""

    kind = serializers.CharField()
    what = serializers.CharField()
    days = serializers.IntegerField(allow_null=True)
    variable = serializers.CharField()
    over = serializers.IntegerField()


class SystemSerializer(serializers.Serializer[object]):
    """What waits, who works, and which runs and experiments need somebody."""

    checks = CheckSerializer(many=True)
    queue = QueueSerializer()
    processes = ProcessSerializer(many=True)
    runs = RunSerializer(many=True)
    experiments = ExperimentSerializer(many=True)
    kept = RetentionSerializer(many=True)


class System(Api):
    tag = "system"

    @says("system", "What waits, who works, and what needs somebody, as the page System", SystemSerializer)
    def get(self, request: Request) -> Response:
        runs = queues.list_needing_attention(filter_visible(self.me, JudgeRun.objects.all()))
        experiments = queries.list_needing_attention(filter_visible(self.me, Experiment.objects.all()))
        content = {
            "checks": [*readiness.checks(), *readiness.notices()],
            "queue": queues.queue(),
            "processes": queues.processes(),
            "runs": runs.select_related("study", "judge__project").prefetch_related("criteria"),
            "experiments": experiments.select_related("user_agent", "project").prefetch_related("assistants"),
            "kept": [one.to_json() for one in retention.due()],
        }
        return Response(SystemSerializer(content).data)


class StudyArchive(Api):
    tag = "exports"

    @extend_schema(
        operation_id="download_archive",
        summary="A study with all that it rests on as one file, to be restored on another site",
        responses={(200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY)},
    )
    @audit_export("archive")
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        study = get_object_or_404(Study, slug=slug)
        writing.refuse_at_work(study)
        return stream_zip(writing.files(study), name=f"{study.slug}-archive.zip")


class ErasureSerializer(serializers.Serializer[object]):
    """What erasing an account means. Labels and decisions stay, under the number."""

    username = serializers.CharField()
    number = serializers.CharField(help_text="What the account is called once it is erased.")
    labels = serializers.IntegerField(help_text="Labels that stay.")
    studies = serializers.ListField(child=serializers.CharField(), help_text="Where the person has or had a part.")
    refused = serializers.CharField(allow_blank=True, help_text="Why it cannot be erased; empty if it can.")


class NewErasure(Given):
    confirm = serializers.CharField(max_length=150, help_text="The username once more: this cannot be undone.")
    notes = serializers.BooleanField(required=False, default=False, help_text="Also what they wrote beside labels.")


class Erasure(Api):
    permission_classes = [MayErase]
    tag = "account"

    def person(self, username: str) -> User:
        found: User = get_object_or_404(User, username=username)
        if not erasing.concerns(self.me, found):
            raise Http404
        return found

    @says("erasure", "What erasing an account would mean", ErasureSerializer)
    def get(self, request: Request, username: str) -> Response:
        return Response(load_about(by=self.me, person=self.person(username)).to_json())

    @says(
        "erase_person",
        "Erase an account for good: name, e-mail and all else that says who it was",
        ErasureSerializer,
        body=NewErasure,
    )
    def post(self, request: Request, username: str) -> Response:
        person, given = self.person(username), self.parse_body(NewErasure)
        if given["confirm"] != username:
            raise InputError("This is not the username of the account.", field="confirm")
        found = load_about(by=self.me, person=person).to_json()
        erasing.erase_person(by=self.me, person=person, notes=given["notes"])
        return Response(found)
