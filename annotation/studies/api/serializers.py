"""What the API says of material, studies and items."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.corpus.models import Dialogue, Profile, ResponsePair, Task
from annotation.studies.models.studies import Criterion, Item, Sample, Study
from annotation.studies.queries.context import find_missing_context
from core.accounts.models.users import User

SOURCED = ["id", "source", "external_id", "content_hash", "extra", "created_at", "updated_at"]


class ProfileSerializer(serializers.ModelSerializer[Profile]):
    class Meta:
        model = Profile
        fields = [*SOURCED, "name", "persona", "demographics", "preferences", "interests", "interactions", "memories"]


class TaskSerializer(serializers.ModelSerializer[Task]):
    class Meta:
        model = Task
        fields = [*SOURCED, "description", "intent", "goal", "domains", "preference_types", "is_multi_domain"]


class DialogueSerializer(serializers.ModelSerializer[Dialogue]):
    """A dialogue, and the ids of the profile and task that it is about."""

    profile = serializers.IntegerField(source="scenario.profile_id", default=None, allow_null=True)
    task = serializers.IntegerField(source="scenario.task_id", default=None, allow_null=True)
    situation = serializers.JSONField(source="scenario.situation", default=None, allow_null=True)

    class Meta:
        model = Dialogue
        fields = [
            *SOURCED,
            "turns",
            "assistant_model",
            "condition",
            "profile",
            "task",
            "situation",
            "inclusion_probability",
        ]


class PairSerializer(serializers.ModelSerializer[ResponsePair]):
    class Meta:
        model = ResponsePair
        fields = [
            *SOURCED,
            "profile",
            "question",
            "context",
            "response_1",
            "response_2",
            "model_1",
            "model_2",
            "n_responses",
            "further",
            "kind",
            "source_tier",
            "source_label",
            "inclusion_probability",
        ]


class StockSerializer(serializers.Serializer[object]):
    """How many records of one kind there are."""

    kind = serializers.CharField()
    total = serializers.IntegerField()
    by_source = serializers.DictField(child=serializers.IntegerField())


class CriterionSerializer(serializers.ModelSerializer[Criterion]):
    class Meta:
        model = Criterion
        fields = ["key", "name", "question", "guideline", "guideline_version", "unit", "type", "level", "categories"]
        fields += ["help", "examples", "limits", "is_required", "condition", "is_asked"]


class StudySerializer(serializers.ModelSerializer[Study]):
    """A study with its criteria. Counts are counted by the query."""

    project = serializers.CharField(source="project.slug", read_only=True)
    n_items = serializers.IntegerField(read_only=True)
    criteria = CriterionSerializer(many=True, read_only=True)

    class Meta:
        model = Study
        fields = [
            "id",
            "name",
            "slug",
            "project",
            "kind",
            "state",
            "description",
            "instructions",
            "overlap",
            "most_overlap",
            "is_adaptive",
            "shown",
            "asks_strength",
            "content_form",
            "seed",
            "clustering",
            "created_at",
            "n_items",
            "criteria",
        ]


class StudyWithWarnings(StudySerializer):
    """A study, and what is amiss before anybody rates."""

    warnings = serializers.SerializerMethodField(help_text="In sentences.")

    class Meta(StudySerializer.Meta):
        fields = [*StudySerializer.Meta.fields, "warnings"]

    def get_warnings(self, study: Study) -> list[str]:
        return find_missing_context(study)


class SampleSerializer(serializers.ModelSerializer[Sample]):
    class Meta:
        model = Sample
        fields = ["id", "method", "strata", "filters", "frame_size", "size", "seed", "input_hash", "created_at"]


class DialogueTexts(serializers.ModelSerializer[Dialogue]):
    class Meta:
        model = Dialogue
        fields = ["turns", "assistant_model", "condition"]


class PairTexts(serializers.ModelSerializer[ResponsePair]):
    class Meta:
        model = ResponsePair
        fields = ["question", "context", "response_1", "response_2", "parts", "model_1", "model_2", "kind"]
        fields += ["n_responses", "further"]


class ItemSerializer(serializers.ModelSerializer[Item]):
    """An item with the dialogue or the pair that is rated."""

    item_id = serializers.CharField(source="external_id", help_text="Its id in its source.")
    item_source = serializers.CharField(source="subject.source")
    dialogue = DialogueTexts(allow_null=True)
    pair = PairTexts(allow_null=True)

    class Meta:
        model = Item
        fields = ["position", "item_id", "item_source", "stratum", "inclusion_probability", "dialogue", "pair"]


class PersonSerializer(serializers.ModelSerializer[User]):
    name = serializers.SerializerMethodField()

    class Meta:
        model = User
        fields = ["username", "name", "kind", "is_researcher", "is_active"]

    @extend_schema_field(str)
    def get_name(self, user: User) -> str:
        return str(user)


class AnnotatorSerializer(serializers.Serializer[object]):
    """An annotator of a study with what they have done in it."""

    annotator = PersonSerializer()
    submitted = serializers.IntegerField()
    in_work = serializers.IntegerField()
    skipped = serializers.IntegerField()


class ProgressSerializer(serializers.Serializer[object]):
    """How far a study has come."""

    items = serializers.IntegerField()
    people = serializers.IntegerField()
    planned = serializers.IntegerField(help_text="Ratings that make the study complete.")
    submitted = serializers.IntegerField()
    share = serializers.FloatField()


class LabelSerializer(serializers.Serializer[object]):
    """One answer of one rater to one criterion of one item, in the columns of the export."""

    study = serializers.CharField()
    item_id = serializers.CharField()
    item_source = serializers.CharField()
    position = serializers.IntegerField()
    stratum = serializers.CharField(allow_blank=True)
    inclusion_probability = serializers.FloatField()
    criterion = serializers.CharField()
    rater = serializers.CharField()
    rater_kind = serializers.CharField()
    value = serializers.CharField(allow_blank=True)
    unscored_reason = serializers.CharField(allow_blank=True)
    order = serializers.CharField(allow_blank=True)
    slot = serializers.IntegerField(allow_null=True)
    repeat = serializers.IntegerField(allow_null=True)
    note = serializers.CharField(allow_blank=True)
    guideline_version = serializers.IntegerField(allow_null=True)
    submitted_at = serializers.DateTimeField(allow_null=True)
    judge_run = serializers.IntegerField(allow_null=True)
    excluded = serializers.BooleanField()
    strength = serializers.CharField(allow_blank=True)
    evidence = serializers.ListField(child=serializers.JSONField())
    active_seconds = serializers.FloatField(allow_null=True)
    turn = serializers.IntegerField(allow_null=True, help_text="Of the turn or response that was rated.")
    content = serializers.JSONField(allow_null=True, help_text="Of spans, texts and rewrites: what was given.")


class Counts(serializers.Serializer[object]):
    """What an import did, by kind of row."""

    created = serializers.DictField(child=serializers.IntegerField())
    updated = serializers.DictField(child=serializers.IntegerField())
    unchanged = serializers.DictField(child=serializers.IntegerField())
    skipped = serializers.ListField(child=serializers.JSONField())
    warnings = serializers.ListField(child=serializers.CharField())
    study = serializers.CharField(required=False, allow_null=True)
    errors_file = serializers.CharField(required=False)


class FigureSerializer(serializers.Serializer[object]):
    """A figure with its interval and what it rests on. What is undefined is null, and `reason` says why."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_null=True)
    n_items = serializers.IntegerField()
    n_raters = serializers.IntegerField()
    n_ratings = serializers.IntegerField()
    confidence = serializers.FloatField(help_text="Nominal coverage of the interval.")
    method = serializers.CharField(help_text="How the interval was made; none where there is none.")
    seed = serializers.IntegerField(allow_null=True)
    se = serializers.FloatField(allow_null=True, help_text="Standard error.")
    df = serializers.FloatField(allow_null=True, help_text="Effective degrees of freedom of the standard error.")


class Changed(serializers.Serializer[object]):
    """How much changed."""

    n = serializers.IntegerField()
