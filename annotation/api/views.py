"""Studies and items, read-only. Who may ask is decided by the API's default permission: researchers."""

from __future__ import annotations

from django.db.models import Count, QuerySet
from django.shortcuts import get_object_or_404
from rest_framework import generics

from annotation.api.serializers import ItemSerializer, StudySerializer
from annotation.models import Item, Study


def studies() -> QuerySet[Study]:
    """All studies by name, with the number of their items."""
    return Study.objects.annotate(n_items=Count("items")).prefetch_related("criteria").order_by("name")


class StudyList(generics.ListAPIView[Study]):
    serializer_class = StudySerializer

    def get_queryset(self) -> QuerySet[Study]:
        return studies()


class StudyDetail(generics.RetrieveAPIView[Study]):
    serializer_class = StudySerializer
    lookup_field = "slug"

    def get_queryset(self) -> QuerySet[Study]:
        return studies()


class StudyItems(generics.ListAPIView[Item]):
    """A study's items in its order."""

    serializer_class = ItemSerializer

    def get_queryset(self) -> QuerySet[Item]:
        study = get_object_or_404(Study, slug=self.kwargs["slug"])
        return study.items.select_related("dialogue", "pair").order_by("position")
