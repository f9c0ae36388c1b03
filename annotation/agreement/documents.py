"""How the OpenAPI document describes results about annotators and gold."""

from __future__ import annotations

from rest_framework import serializers

from annotation.studies.api.serializers import FigureSerializer


class StretchFigureSerializer(FigureSerializer):
    """The mean mark of a stretch of checks or repeats."""

    first = serializers.IntegerField()
    last = serializers.IntegerField()
    until = serializers.CharField()


class CheckRecordSerializer(FigureSerializer):
    """The mean mark of one annotator's checks or repeats: over all, by criterion, and over time."""

    annotator = serializers.CharField()
    kind = serializers.CharField(help_text="accuracy, of checks, or consistency, of repeats.")
    unscored = serializers.IntegerField()
    by_criterion = serializers.DictField(child=FigureSerializer())
    stretches = StretchFigureSerializer(many=True)


class QualitySerializer(serializers.Serializer[object]):
    """Each annotator as an instrument, by criterion."""

    study = serializers.CharField()
    left_out = serializers.ListField(
        child=serializers.DictField(child=serializers.CharField()),
        help_text="Criteria whose answers cannot be compared one by one, each with the reason.",
    )
    checks_and_repeats = CheckRecordSerializer(many=True)
    criteria = serializers.DictField(child=serializers.DictField())


class GoldItemSerializer(serializers.Serializer[object]):
    """The gold of one item, or the reason why it has none."""

    item = serializers.CharField()
    position = serializers.IntegerField()
    turn = serializers.IntegerField(required=False, help_text="Of one turn of a dialogue.")
    gold = serializers.CharField(allow_null=True)
    source = serializers.CharField(allow_null=True, help_text="How it was found, or adjudication.")  # type: ignore[assignment]
    confidence = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_null=True)
    candidates = serializers.ListField(child=serializers.CharField(), help_text="Values among which it is undecided.")


class StudyGoldSerializer(serializers.Serializer[object]):
    """The gold of a study's items on one criterion."""

    study = serializers.CharField()
    criterion = serializers.CharField()
    method = serializers.CharField()
    cuts = serializers.ListField(child=serializers.FloatField())
    chance = serializers.CharField()
    min_ratings = serializers.IntegerField()
    min_posterior = serializers.FloatField()
    counts = serializers.DictField(child=serializers.IntegerField(), help_text="Items by source or reason.")
    tied = serializers.IntegerField()
    items = GoldItemSerializer(many=True)
