"""What annotators do with an item beside answering, and threads between them and the researchers, through the API."""

from __future__ import annotations

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.studies.models.messages import ItemMessage
from annotation.studies.models.studies import Item, Study
from annotation.studies.queries.messages import list_newest, list_on_item, load_thread
from annotation.workbench.api.work import Mine, Submitted
from annotation.workbench.assignment_names import to_name
from annotation.workbench.options import ItemMarks, ItemReason, NewMessage, ThreadAnswer
from annotation.workbench.queries import my_items
from annotation.workbench.services import annotations as labels, item_messages
from core.accounts.models.users import User
from core.api.base import Api, Given, OwnWork, PageQuery, build_page_schema, find_named
from core.api.schema import says


class MessageSerializer(serializers.ModelSerializer[ItemMessage]):
    """One entry of a thread; a flag has no text."""

    annotator = serializers.CharField(source="annotator.username")
    author = serializers.CharField(source="author.username", default=None, allow_null=True)
    kind = serializers.CharField(help_text="message or flag.")

    class Meta:
        model = ItemMessage
        fields = ["annotator", "author", "kind", "text", "created_at"]


class MyMessageSerializer(serializers.ModelSerializer[ItemMessage]):
    """One entry of my thread. Who of the researchers answered is not told."""

    is_mine = serializers.SerializerMethodField()
    kind = serializers.CharField(help_text="message or flag.")

    class Meta:
        model = ItemMessage
        fields = ["is_mine", "kind", "text", "created_at"]

    def get_is_mine(self, row: ItemMessage) -> bool:
        return row.author_id == row.annotator_id


class MarksSerializer(serializers.Serializer[object]):
    flagged = serializers.BooleanField(source="is_flagged")
    later = serializers.BooleanField(source="is_later")


class MyDecline(Mine):
    @says("decline", "Say that nothing of an item can be judged, with one reason", Submitted, body=ItemReason)
    def post(self, request: Request, name: str) -> Response:
        slot = self.assignment(name)
        labels.decline(by=self.me, assignment=slot, **self.parse_body(ItemReason))
        return Response({"id": to_name(slot.pk), "state": slot.State.SUBMITTED})


class MyMarks(Mine):
    @says("mark", "Flag an item for the researchers, or mark it for later", MarksSerializer, body=ItemMarks)
    def patch(self, request: Request, name: str) -> Response:
        slot = self.assignment(name)
        item_messages.mark(by=self.me, study=slot.study, item=slot.item, **self.parse_body(ItemMarks))
        return Response(MarksSerializer(my_items.load_notes(slot, self.me)).data)


class MyMessages(Mine):
    @says("my_messages", "My thread on an item", MyMessageSerializer(many=True))
    def get(self, request: Request, name: str) -> Response:
        slot = self.assignment(name)
        return Response(MyMessageSerializer(load_thread(slot.study, slot.item_id, self.me), many=True).data)

    @says("ask_about_item", "Write to the researchers about an item", MyMessageSerializer, body=NewMessage, status=201)
    def post(self, request: Request, name: str) -> Response:
        slot = self.assignment(name)
        made = item_messages.write(
            by=self.me, study=slot.study, item=slot.item, annotator=self.me, **self.parse_body(NewMessage)
        )
        return Response(MyMessageSerializer(made).data, status=201)


class MyItemSerializer(serializers.Serializer[object]):
    """An item that I submitted, skipped, began, marked or asked about."""

    id = serializers.SerializerMethodField()
    number = serializers.IntegerField(help_text="Its place among the items that I was given.")
    text = serializers.CharField(allow_blank=True)
    states = serializers.ListField(child=serializers.CharField(), help_text=f"Among {', '.join(my_items.STATES)}.")

    def get_id(self, row: my_items.MyItem) -> str:
        return to_name(row.assignment.pk)


class MyItemsQuery(Given):
    state = serializers.CharField(required=False, allow_blank=True, default="", help_text="One that they are in.")
    q = serializers.CharField(required=False, allow_blank=True, default="", help_text="Text that they hold.")


class MyItems(OwnWork):
    @says("my_items", "My items of a study, the newest first", MyItemSerializer(many=True), query=MyItemsQuery)
    def get(self, request: Request, slug: str) -> Response:
        asked = self.parse_query(MyItemsQuery)
        study = get_object_or_404(self.me.studies, slug=slug)
        found = my_items.load_my_items(self.me, study, state=asked["state"], query=asked["q"])
        return Response(MyItemSerializer(found, many=True).data)


class ThreadSerializer(MessageSerializer):
    """The newest entry of a thread; it waits for an answer where its annotator wrote it."""

    position = serializers.IntegerField(source="item.position")
    is_waiting = serializers.SerializerMethodField()

    class Meta(MessageSerializer.Meta):
        fields = ["position", "is_waiting", *MessageSerializer.Meta.fields]

    def get_is_waiting(self, row: ItemMessage) -> bool:
        return row.author_id == row.annotator_id


class StudyMessages(Api):
    tag = "labels"

    @says("item_threads", "What annotators ask about items", build_page_schema(ThreadSerializer), query=PageQuery)
    def get(self, request: Request, slug: str) -> Response:
        rows = list_newest(get_object_or_404(Study, slug=slug))
        return self.page(rows.select_related("item", "annotator", "author"), ThreadSerializer)


class ItemMessages(Api):
    tag = "labels"

    def item(self, slug: str, position: int) -> Item:
        return get_object_or_404(Item.objects.select_related("study"), study__slug=slug, position=position)

    @says("item_messages", "The threads on an item", MessageSerializer(many=True))
    def get(self, request: Request, slug: str, position: int) -> Response:
        item = self.item(slug, position)
        return Response(MessageSerializer(list_on_item(item.study, item), many=True).data)

    @says("answer_about_item", "Answer an annotator on an item", MessageSerializer, body=ThreadAnswer, status=201)
    def post(self, request: Request, slug: str, position: int) -> Response:
        item, given = self.item(slug, position), self.parse_body(ThreadAnswer)
        annotator = find_named(User, "annotator", username=given["annotator"])
        made = item_messages.write(by=self.me, study=item.study, item=item, annotator=annotator, text=given["text"])
        return Response(MessageSerializer(made).data, status=201)
