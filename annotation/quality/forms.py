"""The forms of a study's queue: its rules, and items with known answers."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _, gettext_lazy

from annotation.quality import parsing as quality_parsing
from annotation.quality.models import KnownItem
from annotation.quality.options import NewRules
from annotation.quality.services import gold_questions
from annotation.quality.services.gold_questions import GoldAnswer, GoldEntry
from annotation.studies.models.studies import Criterion, Study
from core.accounts.models.users import User
from core.errors import InputError
from core.options.fields import OptionsForm

PURPOSES = [
    ("check", gettext_lazy("Check, among the work")),
    ("training", gettext_lazy("Training, with the answer explained at once")),
    ("qualification", gettext_lazy("Qualification, to be passed before the work")),
]


def round_field() -> forms.IntegerField:
    return forms.IntegerField(
        label="Round of the qualification",
        min_value=1,
        initial=1,
        required=False,
        help_text="2 for what is asked of those who may try again. A round without items of its own asks the same.",
    )


def turns_field(criterion: Criterion) -> forms.CharField:
    noun = _(criterion.part_noun)
    return forms.CharField(
        label=_("{name}, {noun} by {noun}").format(name=criterion.name, noun=noun),
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_(
            "A line for each {noun}: its number, the right value ({values}) and why. "
            "For example: 3: {value}; It asks back."
        ).format(noun=noun, values=", ".join(criterion.values), value=criterion.values[-1]),
    )


class RulesForm(OptionsForm):
    """How checks and repeats are mixed in, how much one person rates, and what newcomers must pass."""

    verb = NewRules

    def __init__(self, data: Mapping[str, object] | None = None, *, study: Study) -> None:
        super().__init__(data, initial={name: getattr(study, name) for name in gold_questions.RULES})
        self.study = study
        for name in ("check_every", "repeat_every", "repeat_after"):
            self.set(name, required=True)

    def save(self, by: User) -> bool:
        """Set what has changed; False if it was refused, with the reason at its field."""
        changed = {name: self.cleaned_data[name] for name in self.changed_data}
        rules = gold_questions.set_rules
        return not changed or self.done(lambda: rules(by=by, study=self.study, **changed)) is not None


class GoldQuestionForm(OptionsForm):
    """One item with its right answers."""

    purpose = forms.ChoiceField(choices=PURPOSES, label="What it is for")
    number = round_field()
    item = forms.CharField(
        max_length=400,
        label="Id of the dialogue or pair",
        help_text="As on the Datasets page; source:id if it is not unique.",
    )

    def __init__(self, data: Mapping[str, object] | None = None, *, study: Study) -> None:
        super().__init__(data)
        self.turns: dict[str, dict[int, tuple[tuple[str, ...], str]]] = {}
        self.study, self.criteria = study, [one for one in study.asked if one.can_be_known]
        for criterion in self.criteria:
            if criterion.unit != Criterion.Unit.ITEM:
                self.fields[criterion.key] = turns_field(criterion)
                continue
            labels = [(value, criterion.label_of(value)) for value in criterion.values]
            self.fields[criterion.key] = forms.ChoiceField(
                choices=[("", _("not known")), *labels], label=criterion.name, required=False
            )
            self.fields[f"{criterion.key}-why"] = forms.CharField(
                label=_("Why, on {name}").format(name=criterion.name),
                required=False,
                widget=forms.Textarea(attrs={"rows": 2}),
            )
        self.places = {"value": "item", "criterion": "item", "turn": "item", "round": "number"}

    def clean_number(self) -> int:
        return self.cleaned_data["number"] or 1

    def clean(self) -> dict[str, object]:
        """Read what is written of turns and responses, so that a slip is said at its field."""
        for criterion in self.criteria:
            if criterion.unit != Criterion.Unit.ITEM:
                try:
                    self.turns[criterion.key] = quality_parsing.group_by_turn(self.cleaned_data.get(criterion.key, ""))
                except InputError as error:
                    self.add_error(
                        criterion.key, _("Line {line}: {message}").format(line=error.line, message=error.message)
                    )
        return self.cleaned_data

    def save(self, by: User) -> bool:
        """Name the item; False if it was refused, with the reason at its field."""
        given = self.cleaned_data
        answers = {
            one.key: GoldAnswer(given[one.key], explanation=given[f"{one.key}-why"])
            for one in self.criteria
            if one.unit == Criterion.Unit.ITEM and given[one.key]
        }
        answers |= {
            f"{key}.{turn}": GoldAnswer(values[0], values[1:], why)
            for key, turns in self.turns.items()
            for turn, (values, why) in turns.items()
        }
        named = self.done(
            lambda: gold_questions.add(
                by=by,
                study=self.study,
                purpose=given["purpose"],
                entries=[GoldEntry(given["item"], answers)],
                origin="stated on the page",
                number=given["number"],
            )
        )
        return named is not None


class GoldQuestionsForm(OptionsForm):
    """Many items at once: those decided in a study, or those of a file."""

    purpose = forms.ChoiceField(choices=PURPOSES, label="Purpose")
    number = round_field()
    source = forms.ModelChoiceField(
        queryset=Study.objects.none(), required=False, label="All decided items of a study", empty_label="–"
    )
    file = forms.FileField(
        required=False,
        label="Or a CSV file",
        help_text="Columns item_id, criterion, value (3|4 where both are right) and explanation, and turn where a "
        "criterion is asked of turns or responses; a row per answer.",
    )

    def __init__(self, data: Mapping[str, object] | None = None, files: object = None, *, study: Study) -> None:
        super().__init__(data, files)
        self.study = study
        source = self.fields["source"]
        assert isinstance(source, forms.ModelChoiceField)
        decided = Study.objects.filter(project=study.project_id, kind=study.kind, items__adjudications__isnull=False)
        source.queryset = decided.distinct().order_by("name")

    def clean_number(self) -> int:
        return self.cleaned_data["number"] or 1

    def clean(self) -> dict[str, object]:
        given = self.cleaned_data
        if bool(given.get("source")) == bool(given.get("file")):
            self.add_error("source", _("Choose a study or a file."))
        return given

    def save(self, by: User) -> int | None:
        """Name the items and say how many; None if they were refused, with the reason at its field."""
        given = self.cleaned_data
        try:
            if given["source"]:
                named: list[KnownItem] = gold_questions.add_decided(
                    by=by, study=self.study, purpose=given["purpose"], source=given["source"], number=given["number"]
                )
            else:
                named = self.from_file(by, given["purpose"], given["file"], given["number"])
        except InputError as error:
            self.add_error("file" if given["file"] else "source", str(error))
            return None
        return len(named)

    def from_file(self, by: User, purpose: str, upload: UploadedFile, number: int) -> list[KnownItem]:
        with tempfile.NamedTemporaryFile(suffix=".csv") as kept:
            for chunk in upload.chunks():
                kept.write(chunk)
            kept.flush()
            return gold_questions.add_file(
                by=by, study=self.study, purpose=purpose, path=Path(kept.name), name=upload.name, number=number
            )
