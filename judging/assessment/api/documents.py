"""How the OpenAPI document describes results about judges: the figures that stand at known places of each."""

from __future__ import annotations

from rest_framework import serializers

from annotation.studies.api.serializers import FigureSerializer
from judging.judges.models import HoldOut


class Queued(serializers.Serializer[object]):
    queued = serializers.BooleanField()


class HoldOutSerializer(serializers.ModelSerializer[HoldOut]):
    class Meta:
        model = HoldOut
        fields = ["id", "share", "seed", "created_at"]


class EscalationSerializer(serializers.Serializer[object]):
    study = serializers.CharField(source="target.slug", help_text="The study made for people.")
    target_agreement = serializers.FloatField()
    thresholds = serializers.JSONField()


class HeldOutAccessSerializer(serializers.Serializer[object]):
    """One look at what a judge does on the held-out part."""

    judge = serializers.CharField()
    at = serializers.CharField()
    by = serializers.CharField(allow_null=True)
    calibration = serializers.IntegerField(allow_null=True)


class HeldOutSerializer(serializers.Serializer[object]):
    """How a study is split, how many held-out items leak, and who looked."""

    share = serializers.FloatField()
    seed = serializers.IntegerField()
    leaks = serializers.IntegerField(help_text="Held-out items whose content is also in the development part.")
    looks = HeldOutAccessSerializer(many=True)


class SuccessSerializer(serializers.Serializer[object]):
    """The criterion of success: at least this decision on these criteria, or on all if none is named."""

    decision = serializers.CharField()
    criteria = serializers.ListField(child=serializers.CharField())


class RulesLookSerializer(serializers.Serializer[object]):
    """Who first looked at a result, and the hash of the rules that hold since."""

    at = serializers.CharField()
    by = serializers.CharField()
    sha256 = serializers.CharField()


class RulesChangeSerializer(RulesLookSerializer):
    """A change of the rules after the first look."""

    reason = serializers.CharField()
    changed = serializers.ListField(
        child=serializers.DictField(child=serializers.CharField()), help_text="Rule, from, to."
    )
    sentence = serializers.CharField()


class RulesRecordSerializer(serializers.Serializer[object]):
    """How the rules came about."""

    success = SuccessSerializer()
    sha256 = serializers.CharField(allow_null=True)
    first_look = RulesLookSerializer(allow_null=True)
    changes = RulesChangeSerializer(many=True)


class StudyRulesSerializer(serializers.Serializer[object]):
    """The rules of a study's verdicts."""

    study = serializers.CharField()
    rules = serializers.DictField()
    rules_on_record = RulesRecordSerializer()


class ReturnedCriterionSerializer(serializers.Serializer[object]):
    """What people said of the escalated items on one criterion."""

    labelled = serializers.IntegerField()
    confirmed = FigureSerializer(help_text="Share of verdicts that people's label confirms.")
    combined = serializers.FloatField(
        allow_null=True, help_text="Mean over all items: people's label where there is one, else the verdict."
    )


class ReturnedSerializer(serializers.Serializer[object]):
    """What people said of the items that were escalated to them, by criterion."""

    study = serializers.CharField()
    target_agreement = serializers.FloatField()
    items = serializers.IntegerField()
    criteria = serializers.DictField(child=ReturnedCriterionSerializer())


class EscalationReturnSerializer(ReturnedSerializer):
    """The same, with the address of the study in which they said it."""

    slug = serializers.CharField()


class FigureChangeSerializer(serializers.Serializer[object]):
    """A figure of two versions of a judge, and new minus old."""

    new = FigureSerializer()
    old = FigureSerializer()
    difference = FigureSerializer()


class McNemarSerializer(serializers.Serializer[object]):
    """McNemar's test of two versions: items that the new one gained and lost."""

    n_items = serializers.IntegerField()
    gained = serializers.IntegerField()
    lost = serializers.IntegerField()
    p_value = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_null=True)


class CriterionChangeSerializer(serializers.Serializer[object]):
    """How far a new version agrees better with people on one criterion."""

    criterion = serializers.CharField()
    name = serializers.CharField()
    n_items = serializers.IntegerField()
    examples = serializers.DictField(child=serializers.IntegerField())
    figure = serializers.CharField(help_text="The headline figure of the scale.")
    figures = serializers.DictField(child=FigureChangeSerializer())
    mcnemar = McNemarSerializer()


class VersionChangeSerializer(serializers.Serializer[object]):
    """How far a new version of a judge agrees better with people than an old one."""

    study = serializers.CharField()
    part = serializers.CharField()
    old = serializers.CharField()
    new = serializers.CharField()
    bootstrap = serializers.IntegerField()
    seed = serializers.IntegerField()
    criteria = serializers.DictField(child=CriterionChangeSerializer())


class AssessedJudgeSerializer(serializers.Serializer[object]):
    """Calibration and audits of one judge, as `calibration` and `audit` give them."""

    calibration = serializers.DictField()
    audit = serializers.DictField()


class AssessedJudgesSerializer(serializers.Serializer[object]):
    """All judges of a study side by side."""

    study = serializers.CharField()
    judges = serializers.DictField(child=AssessedJudgeSerializer(), help_text="By name.")
    differences = serializers.ListField(child=serializers.DictField())
    waiting = serializers.ListField(child=serializers.CharField(), help_text="Judges that are left to a worker.")


class CascadeSerializer(serializers.Serializer[object]):
    """What a cascade of judges decides, and what it escalates to people."""

    study = serializers.CharField()
    part = serializers.CharField()
    judges = serializers.ListField(child=serializers.CharField())
    target_agreement = serializers.FloatField()
    delta = serializers.FloatField()
    left_to_people = serializers.IntegerField()
    criteria = serializers.DictField(child=serializers.DictField())
    on_record = serializers.DictField(allow_null=True, help_text="The newest cascade that made a study.")


class NeededLabelsSerializer(serializers.Serializer[object]):
    """Labels that an interval of the given width takes."""

    width = serializers.FloatField()
    with_judge = serializers.FloatField(allow_null=True)
    without_judge = serializers.FloatField(allow_null=True)
    labelled = serializers.IntegerField()
    more = serializers.FloatField(allow_null=True)
    design_effect = serializers.FloatField(allow_null=True, help_text="How many times as many the clusters make it.")
    dependence = serializers.CharField(allow_null=True)
    reason = serializers.CharField(allow_null=True)


class PlannedItemSerializer(serializers.Serializer[object]):
    """An item that the plan draws, with the probability that it had."""

    position = serializers.IntegerField()
    probability = serializers.FloatField()
    confidence = serializers.FloatField(
        allow_null=True, help_text="Of the judge, the mean over its turns or responses."
    )
    labels = serializers.IntegerField(help_text="Without a label: 1, or how many of its turns or responses are.")


class PlannedLabelsSerializer(serializers.Serializer[object]):
    """How many labels an interval takes, and which items come next."""

    criterion = serializers.CharField()
    judge = serializers.CharField()
    part = serializers.CharField()
    estimand = serializers.CharField()
    width = serializers.FloatField()
    by = serializers.CharField(allow_null=True)
    confidence = serializers.FloatField()
    seed = serializers.IntegerField()
    needed = NeededLabelsSerializer(allow_null=True)
    reason = serializers.CharField(allow_null=True)
    allocation = serializers.DictField(child=serializers.IntegerField())
    no_draw = serializers.CharField(allow_null=True, help_text="Why nothing is drawn.")
    cluster_draw = serializers.CharField(allow_null=True, help_text="Of turns or responses, how these are drawn.")
    could_be_drawn = serializers.IntegerField()
    items = PlannedItemSerializer(many=True)
    came_back = serializers.DictField(allow_null=True)
    power = serializers.ListField(child=serializers.DictField(), help_text="Of studies like this one, by size.")
