"""Erasing a person through the API."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from config.erasure import erasing
from config.erasure.about import load_about
from core.accounts.access import MayErase
from core.accounts.models.users import User
from core.api.base import Api, Given
from core.api.schema import says
from core.errors import InputError


class ErasureSerializer(serializers.Serializer[Any]):
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
