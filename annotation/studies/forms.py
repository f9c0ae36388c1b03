"""The forms of the study pages and of the rating page."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.db.models import Exists, OuterRef, QuerySet

from annotation.agreement.services.predicted_difficulty import load_predicted_tiers
from annotation.studies.criteria import TEMPLATES, default_keys
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries import sampling_frame
from annotation.studies.queries.context import PARTS
from annotation.studies.queries.dependence import LONGEST
from annotation.studies.services import samples, studies
from annotation.workbench.services import assignments
from core.accounts.models.users import User
from core.audit.log import audit_batch
from core.errors import InputError

Choices = list[tuple[str, str]]
FIELD_NAMES = {
    "source": "Source",
    "assistant_model": "Assistant",
    "condition": "Condition",
    "domain": "Domain",
    "kind": "Kind",
    "source_tier": "Tier in the source",
}
METHODS = {
    "all": "All eligible items",
    "simple": "Simple random sample",
    "stratified": "Stratified random sample",
}
ALLOCATIONS = {"proportional": "in proportion to their sizes", "equal": "evenly"}


def boxes(choices: Choices, label: str, help_text: str = "", *, required: bool = False) -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(
        choices=choices,
        label=label,
        help_text=help_text,
        required=required,
        widget=forms.CheckboxSelectMultiple,
    )


def seed_field(label: str, help_text: str) -> forms.IntegerField:
    return forms.IntegerField(
        label=label, help_text=help_text, min_value=0, max_value=studies.LARGEST_SEED, initial=0, required=False
    )


class ServiceForm(forms.Form):
    """A form whose last check is the service that does the work: its InputError is shown at the field it names."""

    places: Mapping[str, str] = {}

    def refuse(self, error: InputError) -> None:
        place = self.places.get(error.field or "", error.field or "")
        self.add_error(place if place in self.fields else None, error.message)


class PredictedFrom(forms.ModelChoiceField[Criterion]):
    """A criterion of another study, whose labels tell how difficult items are."""

    def __init__(self, rated: QuerySet[Criterion]) -> None:
        super().__init__(
            rated,
            required=False,
            label="Strata by tier, predicted from",
            help_text="Only for a stratified sample: a criterion that people have rated in another study.",
            empty_label="no prediction",
        )

    def label_from_instance(self, criterion: Criterion) -> str:
        return f"{criterion.study.name}: {criterion.name}"


def list_other_rated_criteria(study: Study) -> QuerySet[Criterion]:
    """Criteria of whole items with labels, in other studies of the project with items of the same kind."""
    labels = Annotation.objects.filter(criterion=OuterRef("pk"))
    there = Criterion.objects.filter(study__project=study.project_id, study__kind=study.kind, unit=Criterion.Unit.ITEM)
    return there.filter(Exists(labels)).exclude(study=study).select_related("study").order_by("study__name", "position")


class SampleForm(ServiceForm):
    """How the items of a study are drawn from the corpus."""

    places: Mapping[str, str] = {
        "filters": "filter_source",
        "seed": "sample_seed",
        "predicted-from": "predicted_from",
    }

    method = forms.ChoiceField(
        choices=list(METHODS.items()), initial="all", widget=forms.RadioSelect, label="Which of them"
    )
    size = forms.IntegerField(
        min_value=1, required=False, label="How many items", help_text="Not needed when all are taken."
    )

    def __init__(
        self, data: Mapping[str, Any] | None = None, *, kind: str, study: Study | None = None, **kwargs: Any
    ) -> None:
        super().__init__(data, **kwargs)
        self.kind = kind
        if study is not None and (rated := list_other_rated_criteria(study)):
            self.fields["predicted_from"] = PredictedFrom(rated)
        fields = sampling_frame.FILTERS[kind]
        for field in fields:
            found = sampling_frame.choices(kind, field)
            if len(found) > 1 or field == "source":
                self.fields[f"filter_{field}"] = boxes([(value, value) for value in found], FIELD_NAMES[field])
        self.fields["strata"] = boxes(
            [(field, FIELD_NAMES[field]) for field in fields], "Strata", "Only for a stratified sample."
        )
        self.fields["allocation"] = forms.ChoiceField(
            choices=list(ALLOCATIONS.items()), label="Allocation", required=False
        )
        self.fields["sample_seed"] = seed_field("Seed of the draw", "The same seed draws the same items again.")

    @property
    def filters(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith("filter_")]

    def draw(self, by: User, study: Study) -> None:
        given = self.cleaned_data
        stratified = given["method"] == "stratified"
        predicted_from = given.get("predicted_from") if stratified else None
        samples.draw(
            by=by,
            study=study,
            method=given["method"],
            size=None if given["method"] == "all" else given["size"],
            strata=[*given["strata"], *([sampling_frame.PREDICTED_TIER] if predicted_from else [])]
            if stratified
            else (),
            filters={field: given.get(f"filter_{field}") for field in sampling_frame.FILTERS[self.kind]},
            seed=given["sample_seed"] or 0,
            allocation="equal" if stratified and given["allocation"] == "equal" else "proportional",
            predicted_from=predicted_from,
            tiers=load_predicted_tiers(predicted_from) if predicted_from else None,
        )

    def save(self, by: User, study: Study) -> bool:
        """Draw; False if it was refused, with the reason at its field."""
        try:
            self.draw(by, study)
        except InputError as error:
            self.refuse(error)
            return False
        return True


class StudyForm(SampleForm):
    """A new study with its items and its people, all made together or not at all."""

    name = forms.CharField(max_length=120)
    instructions = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Shown to annotators beside the guidelines.",
    )
    overlap = forms.IntegerField(
        min_value=1,
        max_value=studies.LARGEST_OVERLAP,
        initial=3,
        label="Annotators per item",
        help_text="Agreement needs at least 2; three is usual.",
    )
    most_overlap = forms.IntegerField(
        min_value=2,
        max_value=studies.LARGEST_OVERLAP,
        required=False,
        label="Annotators per item at most",
        help_text="Adaptive overlap: items whose tier is unclear are asked about again, up to this number. It needs 20 "
        "items or more and scales of at most 20 categories. Empty: every item gets the same number.",
    )

    def __init__(self, data: Mapping[str, Any] | None = None, *, kind: str, **kwargs: Any) -> None:
        super().__init__(data, kind=kind, **kwargs)
        fitting = [(key, found.name) for key, found in TEMPLATES.items() if found.kind == kind]
        self.fields["criteria"] = boxes(fitting, "Criteria", required=True)
        self.fields["criteria"].initial = default_keys(kind)
        self.fields["shown"] = boxes(
            list(PARTS[kind].items()), "Context that annotators see", "Never shown: models, condition, labels, judges."
        )
        self.fields["shown"].initial = list(PARTS[kind])
        if kind == Study.Kind.DIALOGUE:
            about = [(key, f"{name}: each turn of the {TEMPLATES[key].turn}") for key, name in fitting]
            self.fields["each_turn"] = boxes(about, "Rated turn by turn", "The others are asked of the whole dialogue.")
        if kind == Study.Kind.PAIR:
            self.fields["allow_tie"] = forms.BooleanField(required=False, label="Allow a tie")
            self.fields["asks_strength"] = forms.BooleanField(
                required=False, label="Ask whether a response is much or slightly better"
            )
        self.fields["annotators"] = PeopleField(label="Annotators", required=False)
        self.fields["seed"] = seed_field("Seed of the study", "Of the order of items, and of which response is A.")
        self.fields["clustering"] = build_clustering_field()

    def create(self, by: User) -> Study | None:
        """The study, or None if something was refused, with the reason at its field."""
        try:
            with audit_batch():
                study = self.create_study(by)
                self.draw(by, study)
                assignments.add_annotators(by=by, study=study, annotators=self.cleaned_data["annotators"])
        except InputError as error:
            self.refuse(error)
            return None
        return study

    def create_study(self, by: User) -> Study:
        given = self.cleaned_data
        return studies.create(
            by=by,
            name=given["name"],
            kind=self.kind,
            criteria=given["criteria"],
            overlap=given["overlap"],
            most_overlap=given["most_overlap"],
            shown=given["shown"],
            allow_tie=given.get("allow_tie", False),
            asks_strength=given.get("asks_strength", False),
            each_turn=given.get("each_turn", ()),
            seed=given["seed"] or 0,
            instructions=given["instructions"],
            clustering=given["clustering"],
        )


class ClusteringForm(ServiceForm):
    """What the items of a study depend on each other by."""

    places: Mapping[str, str] = {"cluster": "clustering"}

    def __init__(self, data: Mapping[str, Any] | None = None, *, study: Study) -> None:
        super().__init__(data, initial={"clustering": study.clustering})
        self.study = study
        self.fields["clustering"] = build_clustering_field()

    def save(self, by: User) -> str | None:
        """What is independent now, in words; None if it was refused, with the reason at its field."""
        try:
            return studies.name_clustering(by=by, study=self.study, clustering=self.cleaned_data["clustering"])
        except InputError as error:
            self.refuse(error)
            return None


def build_clustering_field() -> forms.CharField:
    return forms.CharField(
        required=False,
        max_length=LONGEST,
        label="What dependent items share",
        help_text="Empty for their profile, else their question; none, a grouping such as domain, or a key of "
        "their source.",
    )


class PeopleField(forms.ModelMultipleChoiceField[User]):
    """Accounts of people who can sign in."""

    widget = forms.CheckboxSelectMultiple

    def __init__(self, **kwargs: Any) -> None:
        people = User.objects.filter(is_active=True, kind=User.Kind.PERSON).order_by("username")
        super().__init__(kwargs.pop("queryset", people), **kwargs)


class AnnotatorsForm(forms.Form):
    """People to add to a study."""

    def __init__(self, data: Mapping[str, Any] | None = None, *, people: Any, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        self.fields["annotators"] = PeopleField(
            queryset=people, label="People", error_messages={"required": "Choose at least one person."}
        )
