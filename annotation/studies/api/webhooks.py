"""Webhooks through the API: made, listed, tried, ended, with what became of each message."""

from __future__ import annotations

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.studies.models.webhooks import Webhook, WebhookDelivery
from annotation.studies.services import webhooks
from core.accounts.permissions import filter_visible
from core.api.base import Administration, IntoProject, PageQuery, build_page_schema
from core.api.schema import says


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    events = serializers.ListField(child=serializers.CharField())
    created_by = serializers.CharField(source="created_by.username")
    project = serializers.CharField(source="project.slug", read_only=True)

    class Meta:
        model = Webhook
        fields = ["id", "project", "url", "events", "created_by", "created_at", "ended_at"]


class MadeWebhookSerializer(WebhookSerializer):
    """With the secret that signs its messages, which is shown now."""

    secret = serializers.CharField(allow_blank=True, help_text="Empty where an answer is given again.")

    class Meta(WebhookSerializer.Meta):
        fields = [*WebhookSerializer.Meta.fields, "secret"]


class NewWebhook(IntoProject):
    url = serializers.CharField(max_length=500, help_text="http or https, at a public address.")
    events = serializers.ListField(child=serializers.ChoiceField(list(webhooks.EVENTS.items())), min_length=1)


class DeliverySerializer(serializers.ModelSerializer[WebhookDelivery]):
    """A message to a webhook, and what became of it."""

    class Meta:
        model = WebhookDelivery
        fields = [
            "id",
            "event",
            "subject",
            "body",
            "created_at",
            "due_at",
            "attempts",
            "delivered_at",
            "status",
            "error",
        ]


class WebhooksApi(Administration):
    tag = "webhooks"

    def webhook(self, pk: int) -> Webhook:
        return get_object_or_404(list_webhooks(), pk=pk)


def list_webhooks() -> QuerySet[Webhook]:
    return Webhook.objects.select_related("created_by", "project")


class WebhookList(WebhooksApi):
    keeps_to_itself = ("secret",)

    @says("webhooks", "Webhooks, ended ones too", build_page_schema(WebhookSerializer), query=PageQuery)
    def get(self, request: Request) -> Response:
        return self.page(filter_visible(self.me, list_webhooks()), WebhookSerializer)

    @says("add_webhook", "Have an address told of events", MadeWebhookSerializer, body=NewWebhook, status=201)
    def post(self, request: Request) -> Response:
        hook, secret = webhooks.make(by=self.me, **self.resolve_project(self.parse_body(NewWebhook)))
        return Response({**WebhookSerializer(hook).data, "secret": secret}, status=201)


class WebhookDetail(WebhooksApi):
    @says("webhook", "A webhook", WebhookSerializer)
    def get(self, request: Request, pk: int) -> Response:
        return Response(WebhookSerializer(self.webhook(pk)).data)

    @says("end_webhook", "Tell it nothing more; what it was told stays on record", None, status=204)
    def delete(self, request: Request, pk: int) -> Response:
        webhooks.end(by=self.me, webhook=self.webhook(pk))
        return Response(status=204)


class WebhookPing(WebhooksApi):
    @says("ping_webhook", "Send it a message, to try it", DeliverySerializer, status=202)
    def post(self, request: Request, pk: int) -> Response:
        return Response(
            DeliverySerializer(webhooks.send_test_message(by=self.me, webhook=self.webhook(pk))).data, status=202
        )


class WebhookDeliveries(WebhooksApi):
    @says(
        "deliveries", "What it was told, and what became of it", build_page_schema(DeliverySerializer), query=PageQuery
    )
    def get(self, request: Request, pk: int) -> Response:
        return self.page(self.webhook(pk).deliveries.all(), DeliverySerializer)
