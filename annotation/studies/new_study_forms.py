"""The form of a new study, which is filled in four steps."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django import forms
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from django.utils.functional import cached_property
from django.utils.translation import gettext as _, gettext_noop

from annotation.quality.options import NewRules
from annotation.quality.services import gold_questions
from annotation.recruitment.services import completions
from annotation.studies.criteria import RUBRICS, TEMPLATES, default_keys
from annotation.studies.forms import PeopleField, SampleForm
from annotation.studies.models.studies import Study
from annotation.studies.options import NewStudy
from annotation.studies.parsing.rubric_files import to_document
from annotation.studies.queries.context import PARTS
from annotation.studies.queries.sampling_frame import Record, count_matching
from annotation.studies.rubric_forms import Files, read_upload, translate_labels
from annotation.studies.services import samples, studies
from annotation.workbench.services import assignments
from core.accounts.models.users import User
from core.audit.log import audit_batch
from core.errors import InputError

Entered = dict[str, list[str]]
"""What is in each field, as a request sends it."""

NEVER_SHOWN = gettext_noop("Never shown: models, condition, labels, judges.")
PUBLISHED, CHOSEN, OWN = "published", "chosen", "own"
PAPERS = {
    "dialogue": gettext_noop("PersonaLens: task, personalization, naturalness, coherence"),
    "pair": gettext_noop("PersonaFeedback: preference"),
}
ACCESS = {
    "invited": gettext_noop("By invitation only: accounts that you add, and people with an invitation link"),
    "public": gettext_noop("Open: anybody who knows the study's public address"),
}
RULES = tuple(gold_questions.RULES)


@dataclass(frozen=True)
class FormStep:
    """One step: the fields that it shows, and those in its fold. Fields of filters belong to the first."""

    key: str
    name: str
    fields: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Its name in the language of the page."""
        return _(self.name)


STEPS = (
    FormStep(
        "items",
        gettext_noop("Items"),
        ("name", "method", "size"),
        ("strata", "allocation", "sample_seed", "clustering"),
    ),
    FormStep(
        "criteria",
        gettext_noop("Criteria"),
        ("template", "criteria", "rubric_file", "allow_tie", "asks_strength"),
        ("each_turn", "instructions", "shown", "content_form"),
    ),
    FormStep(
        "people",
        gettext_noop("People"),
        ("overlap", "access", "annotators", "check_every"),
        ("most_overlap", "repeat_every", "repeat_after", "item_limit", "pass_mark", "seed"),
    ),
    FormStep("check", gettext_noop("Check and create")),
)
OF_THE_KIND = ("strata", "template", "criteria", "each_turn", "shown", "allow_tie", "asks_strength", "rubric")
"""Fields, besides filters, whose values mean nothing for another kind of item."""


class StudyForm(SampleForm):
    """A new study with its items, its people and the rules of its queue, all made together or not at all."""

    def __init__(self, data: MultiValueDict[str, str] | None = None, *, kind: str, files: Files | None = None) -> None:
        super().__init__(data, kind=kind, files=files)
        self.asked = ["name", "instructions", "overlap", "most_overlap", "criteria", "shown", "content_form"]
        self.asked += ["seed", "clustering"]
        self.asked += ["each_turn"] if kind == Study.Kind.DIALOGUE else ["allow_tie", "asks_strength"]
        self.add(NewStudy, *self.asked)
        self.add(NewRules, *RULES)
        self.set_choices()
        self.fields["annotators"] = PeopleField("Accounts that rate")
        self.fields["access"] = forms.ChoiceField(
            label="Who may join", choices=translate_labels(ACCESS), initial="invited", widget=forms.RadioSelect
        )
        self.fields["rubric_file"] = forms.FileField(required=False, label="File of the rubric", help_text=FILE)
        self.fields["rubric"] = forms.JSONField(required=False, widget=forms.HiddenInput)

    def set_choices(self) -> None:
        kind = self.kind
        fitting = [(key, found.name) for key, found in TEMPLATES.items() if found.kind == kind]
        rubrics = [(key, one.name) for key, one in RUBRICS.items() if one.kind in (None, kind)]
        self.fields["template"] = forms.ChoiceField(
            label="What is asked",
            choices=[
                (PUBLISHED, _(PAPERS[kind])),
                *rubrics,
                (CHOSEN, _("Single criteria, chosen below")),
                (OWN, _("A rubric of your own, from a file")),
            ],
            initial=PUBLISHED,
            widget=forms.RadioSelect,
        )
        self.set("overlap", required=True)
        self.set("criteria", required=False, choices=fitting, help_text="")
        parts = translate_labels(PARTS[kind])
        self.set("shown", choices=parts, initial=list(PARTS[kind]), help_text=NEVER_SHOWN)
        if kind == Study.Kind.DIALOGUE:
            turns = {"assistant": _("{name}: each turn of the assistant"), "user": _("{name}: each turn of the user")}
            about = [(key, turns[TEMPLATES[key].turn].format(name=name)) for key, name in fitting]
            self.set("each_turn", choices=about)
        usual = Study()
        for name in RULES:
            default = getattr(usual, name)
            self.set(name, initial=default, required=default is not None)
        self.set("check_every", label="Gold questions: one item in", help_text=CHECKS)

    def list_fields(self, step: FormStep) -> list[str]:
        """The fields of a step that there are for this kind of item, those of its fold last."""
        filters = [name for name in self.fields if name.startswith("filter_")] if step is STEPS[0] else []
        return [name for name in (*step.fields, *filters, *step.folded) if name in self.fields]

    def list_folded(self, step: FormStep) -> list[str]:
        """Those in its fold. Of the filters, that by source stands outside."""
        outside = (*step.fields, "filter_source")
        return [name for name in self.list_fields(step) if name not in outside]

    def find_wrong(self, step: FormStep) -> list[str]:
        """The fields of a step with something wrong in them."""
        return [name for name in self.list_fields(step) if name in self.errors]

    def clean_rubric_file(self) -> dict[str, object] | None:
        """The document in the file."""
        file = self.cleaned_data["rubric_file"]
        return read_upload(file) if file else None

    def clean(self) -> dict[str, object]:
        """What the chosen template needs. An uploaded rubric becomes the rubric."""
        given = self.cleaned_data
        if given.get("rubric_file"):
            given["rubric"] = given["rubric_file"]
        if given.get("template") == CHOSEN and not given.get("criteria"):
            self.add_error("criteria", _("Choose at least one criterion."))
        if given.get("template") == OWN and not given.get("rubric") and "rubric_file" not in self.errors:
            self.add_error("rubric_file", _("Choose the file of your rubric."))
        if given.get("method") in ("simple", "stratified") and not {"size", "strata"} & set(self.errors):
            self.check_draw()
        return given

    def check_draw(self) -> None:
        """Refuse a sample that cannot be drawn on the step that asks for it."""
        given = self.cleaned_data
        strata = given["strata"] if given["method"] == "stratified" else ()
        try:
            samples.check(Study(), given["method"], given["size"], strata)
            samples.check_size(given["size"], self.matching[0])
        except InputError as error:
            self.refuse(error)

    @cached_property
    def matching(self) -> tuple[int, Record | None]:
        """How many records the sample can be drawn from, and the first of them."""
        return count_matching(self.kind, {name: self.cleaned_data.get(f"filter_{name}") for name in self.names})

    def create(self, by: User) -> Study | None:
        """The study, or None if something was refused, with the reason at its field.

        Criteria are named, or a rubric stands in their place.
        """
        given = self.arguments(*self.asked)
        template = self.cleaned_data["template"]
        if template == PUBLISHED:
            given["criteria"] = default_keys(self.kind)
        elif template != CHOSEN:
            given = {name: given[name] for name in given if name not in ("criteria", "each_turn", "allow_tie")}
            given["rubric"] = self.cleaned_data["rubric"] if template == OWN else to_document(RUBRICS[template])
        try:
            with audit_batch():
                study = studies.create(by=by, kind=self.kind, **given)
                self.draw(by, study)
                assignments.add_annotators(by=by, study=study, annotators=self.cleaned_data["annotators"])
                self.set_people(by, study)
        except InputError as error:
            self.refuse(error)
            return None
        return study

    def set_people(self, by: User, study: Study) -> None:
        """Set the rules of the queue and who may join, where they are not what they are anyway."""
        given = {name: self.cleaned_data[name] for name in RULES}
        if changed := {name: value for name, value in given.items() if value != getattr(study, name)}:
            gold_questions.set_rules(by=by, study=study, **changed)
        if self.cleaned_data["access"] == "public":
            completions.set_intake(by=by, study=study, is_public=True)


FILE = gettext_noop(
    "In TOML, YAML or JSON. Without a file choose single criteria, and edit the rubric on the page of the draft."
)
CHECKS = gettext_noop(
    "Has a known answer, to check annotators. 0 for none, else 2 or more. Name the items on the page Queue."
)


def read_entered(form: StudyForm) -> Entered:
    """What each field begins with."""
    return {name: to_texts(form.get_initial_for_field(field, name)) for name, field in form.fields.items()}


def to_texts(value: object) -> list[str]:
    if isinstance(value, list | tuple):
        return [str(one) for one in value]
    return [] if value is None or value is False or value == "" else [str(value)]


def iterate_posted(form: StudyForm, posted: QueryDict, step: FormStep | None) -> Iterator[tuple[str, list[str]]]:
    """The fields of the step that was sent, or all of them, with what is in them: nothing where nothing is ticked."""
    for name in form.list_fields(step) if step else form.fields:
        if name not in ("rubric_file", "rubric"):
            yield name, [str(text) for text in posted.getlist(name)]


def write_rubric(document: Mapping[str, object]) -> list[str]:
    """A rubric as the hidden field holds it."""
    return [json.dumps(document, ensure_ascii=False)]
