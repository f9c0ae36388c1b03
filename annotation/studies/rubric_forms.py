"""The form of one criterion in the builder, which makes a document as a rubric file has it, and of its guideline.

The service checks the document.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.datastructures import MultiValueDict
from django.utils.text import format_lazy
from django.utils.translation import gettext as _, gettext_lazy, gettext_noop

from annotation.studies.criteria import RUBRICS
from annotation.studies.models.studies import Criterion, GuidelineVersion, Study
from annotation.studies.options import Edit
from annotation.studies.parsing.criterion_specs import (
    ANSWER_TYPES,
    LONGEST_IMAGE,
    NAMES_OF_TYPES,
    PICTURES,
    CriterionSpec,
    SpanLimits,
)
from annotation.studies.parsing.rubric_files import ENDINGS, LIMIT, read_text, spell_type, to_document
from annotation.studies.services import guidelines
from core.accounts.models.users import User
from core.errors import InputError
from core.options.fields import OptionsForm

Files = MultiValueDict[str, UploadedFile]
BETWEEN = " | "
MOST_BYTES = (LONGEST_IMAGE - 50) * 3 // 4
"""Of a picture, which base64 makes a third longer."""

TYPES = {
    "binary": gettext_noop("Yes or no"),
    "ordinal": gettext_noop("Ordered scale"),
    "choice": gettext_noop("One of several"),
    "multi_choice": gettext_noop("Any of several"),
    "number": gettext_noop("Number or slider"),
    "ranking": gettext_noop("Ranking of the responses, or best and worst"),
    "span": gettext_noop("Marked words with categories"),
    "text": gettext_noop("Text"),
    "rewrite": gettext_noop("Rewrite of a response"),
}
OF_PAIRS = ("ranking",)
UNITS = {
    "dialogue": {
        "item": gettext_noop("The whole dialogue"),
        "assistant_turn": gettext_noop("Each turn of the assistant"),
        "user_turn": gettext_noop("Each turn of the user"),
    },
    "pair": {"item": gettext_noop("The pair as a whole"), "response": gettext_noop("Each response")},
}
WHERE = {
    "dialogue": {
        "": gettext_noop("All turns"),
        "assistant_turns": gettext_noop("Turns of the assistant"),
        "user_turns": gettext_noop("Turns of the user"),
    },
    "pair": {"": gettext_noop("Both responses")},
}
OWN = {
    "number": ("least", "most", "step", "measure", "slider", "has_zero"),
    "multi_choice": ("fewest", "largest"),
    "ranking": ("ties", "best_worst"),
    "span": ("where", "severities"),
    "text": ("longest",),
    "rewrite": ("longest",),
}
"""Fields that only some types have. Each is the limit of its name, but for has_zero and those in OTHER_NAMES."""

OTHER_NAMES = {"measure": "unit", "fewest": "least", "largest": "most"}
LIMITS = {name: OTHER_NAMES.get(name, name) for names in OWN.values() for name in names if name != "has_zero"}
"""Field of the form -> limit of the criterion."""


def area(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows})


class CriterionForm(forms.Form):
    """One criterion of a type, in a study of dialogues or pairs; `earlier` are those that it may wait for."""

    type = forms.ChoiceField(label="Type of answer")
    question = forms.CharField(max_length=2000, widget=area(2))
    name = forms.CharField(max_length=120, required=False, help_text="Short, as it stands above the question.")
    key = forms.CharField(
        max_length=60, required=False, help_text="As files and figures call it; made from the name if empty."
    )
    unit = forms.ChoiceField(label="Asked of")
    categories = forms.CharField(
        required=False,
        label="Categories",
        widget=area(5),
        help_text="One per line; of a scale 2 to 11 steps in their order: value | label | when it applies.",
    )
    least = forms.FloatField(required=False, label="Least value")
    most = forms.FloatField(required=False, label="Largest value")
    step = forms.FloatField(required=False, label="Step")
    measure = forms.CharField(
        required=False, max_length=20, label="Unit of measure", help_text="Such as %, min, words."
    )
    slider = forms.BooleanField(required=False, label="Show a slider as well")
    has_zero = forms.BooleanField(required=False, label="Zero means none at all (ratio scale)")
    fewest = forms.IntegerField(required=False, min_value=0, label="Choose at least")
    largest = forms.IntegerField(required=False, min_value=1, label="Choose at most")
    ties = forms.BooleanField(required=False, label="Responses may tie")
    best_worst = forms.BooleanField(required=False, label="Ask only for the best and the worst")
    where = forms.ChoiceField(required=False, label="Words of")
    severities = forms.CharField(
        required=False, label="Severities", help_text="Two or more, separated by commas; empty for none."
    )
    longest = forms.IntegerField(required=False, min_value=1, label="Characters at most")
    help = forms.CharField(required=False, max_length=2000, widget=area(2), help_text="A line that is always in view.")
    guideline = forms.CharField(required=False, widget=area(4), help_text="How to judge; folded, one key away.")
    examples = forms.CharField(
        required=False, widget=area(3), help_text="One per line; begin with + for a good one and - for a bad one."
    )
    picture = forms.FileField(
        required=False,
        label="Picture of an example",
        help_text=format_lazy(gettext_lazy("PNG, JPEG or WebP of at most {size} kB."), size=MOST_BYTES // 1000),
    )
    picture_of = forms.IntegerField(
        required=False, min_value=1, label="Which example", help_text="By its line above: 1 is the first."
    )
    no_pictures = forms.BooleanField(required=False, label="Remove the pictures that examples have")
    required = forms.BooleanField(required=False, initial=True, label="An answer is required")
    waits_for = forms.ChoiceField(required=False, label="Asked only if")
    waits_values = forms.CharField(required=False, label="has one of the values", help_text="Separated by commas.")

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        files: Files | None = None,
        initial: dict[str, object] | None = None,
        kind: str,
        earlier: Sequence[CriterionSpec],
        has_pictures: bool = False,
    ) -> None:
        super().__init__(data, files, initial=initial)
        if not has_pictures:
            del self.fields["no_pictures"]
        types = {name: label for name, label in TYPES.items() if kind == Study.Kind.PAIR or name not in OF_PAIRS}
        asked = (data or self.initial).get("type")
        self.kind_of_answer = asked if asked in types else "ordinal"
        self.fill_choices(kind, types, earlier)
        self.drop_others(kind)

    def fill_choices(self, kind: str, types: Mapping[str, str], earlier: Sequence[CriterionSpec]) -> None:
        waits = [("", _("always")), *((one.key, one.name) for one in earlier if one.type in ("choice", "several"))]
        choices = {
            "type": translate_labels(types),
            "unit": translate_labels(UNITS[kind]),
            "where": translate_labels(WHERE[kind]),
            "waits_for": waits,
        }
        for name, pairs in choices.items():
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = pairs

    def drop_others(self, kind: str) -> None:
        """Leave out the fields that this type does not have."""
        mine = OWN.get(self.kind_of_answer, ())
        others = {name for names in OWN.values() for name in names} - set(mine)
        asked = ANSWER_TYPES[NAMES_OF_TYPES[self.kind_of_answer][0]]
        others |= set() if asked.n_categories else {"categories"}
        others |= {"unit"} if asked.units == ("item",) else set()
        others |= {"where"} if kind == Study.Kind.PAIR else set()
        for name in others:
            del self.fields[name]

    def clean_picture(self) -> str:
        """The picture as the data URI that a rubric holds; empty without one."""
        file = self.cleaned_data["picture"]
        return to_data_uri(file.read(MOST_BYTES + 1)) if file else ""

    def clean(self) -> dict[str, object]:
        given = self.cleaned_data
        n = len(read_examples(given.get("examples", "")))
        if given.get("picture") and not 1 <= (given.get("picture_of") or 0) <= n:
            says = _("Name one of the {n} examples.") if n else _("There is no example yet.")
            self.add_error("picture_of", says.format(n=n))
        return given

    def list_examples(self) -> list[dict[str, object]]:
        """The examples with the new picture at its place."""
        found = read_examples(self.cleaned_data["examples"])
        if picture := self.cleaned_data["picture"]:
            found[self.cleaned_data["picture_of"] - 1]["image"] = picture
        return found

    def to_document(self) -> dict[str, object]:
        """The criterion as a file has it. `is_valid` comes before."""
        given = self.cleaned_data
        name = given["name"] or given["key"].replace("_", " ").capitalize() or "Criterion"
        found = {
            "key": given["key"] or make_key(name),
            "name": name,
            "type": given["type"],
            "unit": given.get("unit", "item"),
            "required": given["required"],
            "limits": self.read_limits(),
            "example": self.list_examples(),
            **{text: given[text].replace("\r\n", "\n") for text in ("question", "help", "guideline")},
        }
        if categories := read_categories(given.get("categories", "")):
            found["category"] = categories
        if given.get("has_zero"):
            found["level"] = "ratio"
        if given["waits_for"]:
            found["condition"] = {"criterion": given["waits_for"], "values": split(given["waits_values"])}
        return found

    def read_limits(self) -> dict[str, object]:
        given = {LIMITS[name]: self.cleaned_data.get(name) for name in LIMITS if name in self.fields}
        if "severities" in self.fields:
            given["severities"] = split(self.cleaned_data["severities"])
        return {name: to_whole(value) for name, value in given.items() if value or is_zero(value)}

    def refuse(self, error: InputError) -> None:
        """Show what the service says at its field, else above the form."""
        parts = (error.field or "").split(".")
        fields = {limit: name for name, limit in LIMITS.items() if name in self.fields}
        meant = {**fields, "category": "categories", "condition": "waits_for", "example": "examples"}
        names = [meant.get(part, part) for part in parts[2:]]
        place = next((name for name in names if name in self.fields), None)
        self.add_error(place, error.message[:1].upper() + error.message[1:])


def translate_labels(labels: Mapping[str, str]) -> list[tuple[str, str]]:
    """Choices of a field, in the language of the page."""
    return [(value, _(label)) for value, label in labels.items()]


def is_zero(value: object) -> bool:
    """Whether a number was entered that is nothing; an empty box is not a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def to_whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def make_key(name: str) -> str:
    key = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name.lower()).strip("_")
    return key[:60] or "criterion"


def split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def read_categories(text: str) -> list[dict[str, str]]:
    """Categories from lines such as `1 | Poor | Nothing is right`."""
    found = []
    for line in filter(str.strip, text.splitlines()):
        value, label, guideline = [part.strip() for part in [*line.split("|", 2), "", ""][:3]]
        found.append({"value": value, "label": label or value, "guideline": guideline})
    return found


def to_data_uri(content: bytes) -> str:
    """A picture within a rubric. Raises ValidationError for what is none, or too large."""
    kind = next((kind for kind, begins in PICTURES.items() if content.startswith(begins)), None)
    if kind is None:
        raise forms.ValidationError(_("It is not a PNG, JPEG or WebP picture."))
    if len(content) > MOST_BYTES:
        raise forms.ValidationError(_("It has more than {size} kB.").format(size=MOST_BYTES // 1000))
    return f"data:{kind};base64,{b64encode(content).decode()}"


def read_examples(text: str) -> list[dict[str, object]]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return [{"good": not line.startswith("-"), "text": line.lstrip("+-").strip()} for line in lines]


def to_initial(one: CriterionSpec) -> dict[str, object]:
    """What the form shows of a criterion."""
    limits, kind = one.read_limits(), spell_type(one)
    given = limits.to_json()
    found = {name: given.get(limit) for name, limit in LIMITS.items() if name in OWN.get(kind, ())}
    if isinstance(limits, SpanLimits) and limits.severities:
        found["severities"] = ", ".join(limits.severities)
    lines = [
        BETWEEN.join(part for part in (c.value, c.label, c.guideline.replace("\n", " ")) if part)
        for c in one.categories
    ]
    signs = [f"{'+' if example.good else '-'} {' '.join(example.text.split())}" for example in one.examples]
    return {
        **{name: getattr(one, name) for name in ("key", "name", "unit", "question", "help", "guideline")},
        **found,
        "type": kind,
        "required": one.is_required,
        "has_zero": one.level == "ratio",
        "categories": "\n".join(lines),
        "examples": "\n".join(signs),
        "waits_for": one.condition.criterion if one.condition else "",
        "waits_values": ", ".join(one.condition.values) if one.condition else "",
    }


class RubricFileForm(forms.Form):
    """A whole rubric: a template, or a file."""

    template = forms.ChoiceField(required=False, label="A template")
    file = forms.FileField(required=False, label="Or a file", help_text="TOML, YAML or JSON.")

    def __init__(self, data: Mapping[str, object] | None = None, files: Files | None = None, *, kind: str) -> None:
        super().__init__(data, files)
        fitting = [(name, one.name) for name, one in RUBRICS.items() if one.kind in (None, kind)]
        template = self.fields["template"]
        assert isinstance(template, forms.ChoiceField)
        template.choices = [("", _("none")), *fitting]

    def clean(self) -> dict[str, object]:
        given = self.cleaned_data
        if bool(given.get("template")) == bool(given.get("file")):
            raise forms.ValidationError(_("Choose a template or a file."))
        return given

    def clean_file(self) -> object:
        """The document in the file, checked."""
        file = self.cleaned_data["file"]
        return read_upload(file) if file else None

    def to_document(self) -> dict[str, object]:
        if named := self.cleaned_data["template"]:
            return to_document(RUBRICS[named])
        document: dict[str, object] = self.cleaned_data["file"]
        return document


def read_upload(file: UploadedFile) -> dict[str, object]:
    """The rubric in an uploaded file as a document. Raises ValidationError that says where it is wrong."""
    name = str(file.name)
    fmt = ENDINGS.get(name.rpartition(".")[2].lower())
    if fmt is None:
        raise forms.ValidationError(_("Its name ends with .toml, .yaml or .json."))
    if (file.size or 0) > LIMIT:
        raise forms.ValidationError(_("A rubric has at most 1 MB."))
    try:
        return to_document(read_text(file.read().decode("utf-8-sig"), fmt))
    except UnicodeDecodeError as error:
        raise forms.ValidationError(_("It is not UTF-8.")) from error
    except InputError as error:
        raise forms.ValidationError(
            str(InputError(error.message, file=name, line=error.line, field=error.field))
        ) from error


class GuidelineForm(OptionsForm):
    """A new text of a criterion. The scale itself is not here: it stays."""

    places = {"categories": "guideline"}

    def __init__(self, data: Mapping[str, object] | None = None, *, criterion: Criterion) -> None:
        super().__init__(data, initial={"question": criterion.question, "guideline": criterion.guideline})
        self.add(Edit, "question", "guideline", "reason")
        self.criterion = criterion
        for place, category in enumerate(criterion.categories):
            self.fields[f"category_{place}"] = forms.CharField(
                required=False,
                label=_("When it is {label}").format(label=category["label"]),
                initial=category.get("guideline", ""),
                widget=forms.Textarea(attrs={"rows": 2}),
            )
        self.order_fields(["question", "guideline", *self.of_categories, "reason"])

    @property
    def of_categories(self) -> list[str]:
        return [f"category_{place}" for place, _ in enumerate(self.criterion.categories)]

    def save(self, by: User) -> GuidelineVersion | None:
        """The new version, or None if it was refused, with the reason at its field."""
        given = {name: text.replace("\r\n", "\n") for name, text in self.cleaned_data.items()}
        categories = [
            {**category, "guideline": given[name]}
            for name, category in zip(self.of_categories, self.criterion.categories, strict=True)
        ]
        texts = {name: given[name] for name in ("question", "guideline", "reason")}
        try:
            return guidelines.edit(by=by, criterion=self.criterion, categories=categories, **texts)
        except InputError as error:
            self.refuse(error)
            return None
