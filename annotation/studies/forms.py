"""The forms of the study pages and of the rating page."""

from collections.abc import Mapping

from django import forms
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _, gettext_noop

from annotation.agreement.services.predicted_difficulty import load_predicted_tiers
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.options import CLUSTERING, STRATIFIED, Clustering, NewSample
from annotation.studies.queries import sampling_frame
from annotation.studies.queries.dependence import NAMED
from annotation.studies.services import samples, studies
from core.accounts.models.users import User
from core.errors import InputError
from core.options.fields import OptionsForm

Choices = list[tuple[str, str]]
FIELD_NAMES = {
    "source": gettext_noop("Source"),
    "assistant_model": gettext_noop("Assistant"),
    "condition": gettext_noop("Condition"),
    "domain": gettext_noop("Domain"),
    "kind": gettext_noop("Kind"),
    "source_tier": gettext_noop("Tier in the source"),
}


def boxes(choices: Choices, label: str, help_text: str = "", *, required: bool = False) -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(
        choices=choices,
        label=label,
        help_text=help_text,
        required=required,
        widget=forms.CheckboxSelectMultiple,
    )


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


class SampleForm(OptionsForm):
    """How the items of a study are drawn from the corpus."""

    places = {"filters": "filter_source"}

    def __init__(
        self, data: Mapping[str, object] | None = None, *, kind: str, study: Study | None = None, **kwargs: object
    ) -> None:
        super().__init__(data, **kwargs)
        self.kind = kind
        self.add(NewSample, "method", "size", "strata", "allocation", seed="sample_seed")
        self.set("method", required=True, initial="all", help_text="")
        self.set("allocation", label="Allocation")
        if study is not None and (rated := list_other_rated_criteria(study)):
            self.fields["predicted_from"] = PredictedFrom(rated)
        values = {field: sampling_frame.choices(kind, field) for field in sampling_frame.FILTERS[kind]}
        self.names = {field: _(FIELD_NAMES[field]) for field in values}
        for field, found in sampling_frame.list_own_columns(kind).items():
            if field not in values:
                values[field] = found
                self.names[field] = _("{field} (column of the source)").format(field=field)
        for field, found in values.items():
            if len(found) > 1 or field == "source":
                self.fields[f"filter_{field}"] = boxes([(value, value) for value in found], self.names[field])
        fields = ", ".join(dict.fromkeys(sum(sampling_frame.STRATA.values(), ())))
        self.set("strata", choices=list(self.names.items()), help_text=_(STRATIFIED).format(fields=fields))

    @property
    def has_records(self) -> bool:
        """Whether there is anything of the kind to draw from."""
        return sampling_frame.list_records(self.kind).exists()

    @property
    def filters(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith("filter_")]

    def draw(self, by: User, study: Study) -> None:
        given = self.arguments("method", "size", "strata", "allocation", "predicted_from", seed="sample_seed")
        if given["method"] == "all":
            given.pop("size", None)
        if given["method"] != "stratified":
            given = {name: given[name] for name in given if name not in ("strata", "allocation", "predicted_from")}
        elif "predicted_from" in given:
            given["strata"] = [*given["strata"], sampling_frame.PREDICTED_TIER]
            given["tiers"] = load_predicted_tiers(given["predicted_from"])
        filters = {field: self.cleaned_data.get(f"filter_{field}") for field in self.names}
        samples.draw(by=by, study=study, filters=filters, **given)

    def save(self, by: User, study: Study) -> bool:
        """Draw; False if it was refused, with the reason at its field."""
        try:
            self.draw(by, study)
        except InputError as error:
            self.refuse(error)
            return False
        return True


class ClusteringForm(OptionsForm):
    """What the items of a study depend on each other by."""

    places = {"cluster": "clustering"}

    def __init__(self, data: Mapping[str, object] | None = None, *, study: Study) -> None:
        super().__init__(data, initial={"clustering": study.clustering})
        self.study = study
        self.add(Clustering)
        self.set("clustering", help_text=_(CLUSTERING).format(names=", ".join(NAMED)))

    def save(self, by: User) -> str | None:
        """What is independent now, in words; None if it was refused, with the reason at its field."""
        try:
            return studies.name_clustering(by=by, study=self.study, **self.arguments("clustering"))
        except InputError as error:
            self.refuse(error)
            return None


class PeopleField(forms.ModelMultipleChoiceField[User]):
    """Accounts of people who can sign in. With `says`, one must be chosen: it is said where none is."""

    widget = forms.CheckboxSelectMultiple

    def __init__(self, label: str, people: QuerySet[User] | None = None, *, says: str = "") -> None:
        everybody = User.objects.filter(is_active=True, kind=User.Kind.PERSON).order_by("username")
        found = everybody if people is None else people
        super().__init__(found, label=label, required=bool(says), error_messages={"required": says})


class AnnotatorsForm(forms.Form):
    """People to add to a study."""

    def __init__(self, data: Mapping[str, object] | None = None, *, people: QuerySet[User]) -> None:
        super().__init__(data)
        self.fields["annotators"] = PeopleField("People", people, says=_("Choose at least one person."))
