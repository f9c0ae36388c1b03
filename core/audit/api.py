"""The audit log through the API."""

from __future__ import annotations

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.base import LARGEST, MOST_AT_ONCE, Api, Given, build_page_schema
from core.api.schema import says
from core.audit.models import Act
from core.audit.queries import EventFilter, list_events


class ActSerializer(serializers.ModelSerializer[Act]):
    """One act; people are accounts by number, and `digest` is over the act and the `digest` of the one before."""

    who = serializers.CharField(source="who.username", default=None, allow_null=True)
    who_id = serializers.IntegerField(allow_null=True)
    object_id = serializers.IntegerField(source="key", allow_null=True)
    arguments = serializers.JSONField(source="parsed_arguments")
    outcome = serializers.JSONField(source="parsed_outcome")

    class Meta:
        model = Act
        fields = [
            *(
                "number",
                "at",
                "who",
                "who_id",
                "operator",
                "verb",
                "kind",
                "object_id",
                "name",
                "study_id",
                "project_id",
                "through",
            ),
            *("request_id", "arguments", "outcome", "previous", "digest", "digest_key_id"),
        ]


class ActQuery(Given):
    before = serializers.IntegerField(
        required=False, min_value=0, max_value=LARGEST, help_text="Number of the last event seen; `next` fills it in."
    )
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MOST_AT_ONCE, default=100)
    person = serializers.CharField(required=False, default="", help_text="A username.")
    study = serializers.CharField(required=False, default="", help_text="Name or address of a study.")
    verb = serializers.CharField(required=False, default="", help_text="Such as study.open, or study for all of them.")
    since = serializers.DateField(required=False, default=None, help_text="The first day (UTC).")
    until = serializers.DateField(required=False, default=None, help_text="The last day (UTC).")


class ActList(Api):
    tag = "acts"

    @says("audit_events", "What researchers did, newest first", build_page_schema(ActSerializer), query=ActQuery)
    def get(self, request: Request) -> Response:
        asked = self.parse_query(ActQuery)
        before, limit = asked.pop("before", None), asked.pop("limit")
        rows = list_events(EventFilter(**asked), seen_by=self.me)
        if before is not None:
            rows = rows.filter(number__lt=before)
        shown = list(rows[: limit + 1])
        last = shown[limit - 1].number if len(shown) > limit else None
        return self.render_page([ActSerializer(row).data for row in shown[:limit]], last, name="before")
