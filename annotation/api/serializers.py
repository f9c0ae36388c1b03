"""What the API says of studies and items."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.models import Criterion, Item, Study


class CriterionSerializer(serializers.ModelSerializer[Criterion]):
    class Meta:
        model = Criterion
        fields = ["key", "name", "question", "guideline", "guideline_version", "level", "categories"]


class StudySerializer(serializers.ModelSerializer[Study]):
    """A study with its criteria. `n_items` is counted by the query."""

    n_items = serializers.IntegerField(read_only=True)
    criteria = CriterionSerializer(many=True, read_only=True)

    class Meta:
        model = Study
        fields = [
            "name",
            "slug",
            "kind",
            "state",
            "description",
            "overlap",
            "seed",
            "created_at",
            "n_items",
            "criteria",
        ]


class ItemSerializer(serializers.ModelSerializer[Item]):
    """An item with the dialogue or the pair that is rated."""

    item_id = serializers.CharField(source="external_id")
    item_source = serializers.CharField(source="subject.source")
    dialogue = serializers.SerializerMethodField()
    pair = serializers.SerializerMethodField()

    class Meta:
        model = Item
        fields = ["position", "item_id", "item_source", "stratum", "inclusion_probability", "dialogue", "pair"]

    def get_dialogue(self, item: Item) -> dict[str, Any] | None:
        if item.dialogue is None:
            return None
        return {name: getattr(item.dialogue, name) for name in ("turns", "assistant_model", "condition")}

    def get_pair(self, item: Item) -> dict[str, Any] | None:
        if item.pair is None:
            return None
        shown = ("question", "context", "response_1", "response_2", "model_1", "model_2", "kind")
        return {name: getattr(item.pair, name) for name in shown}
