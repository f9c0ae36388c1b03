"""The forms of the mapping page: a file to look at, and which of its columns is what."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _

from annotation.corpus.formats.registry import CHAT_FORMATS
from annotation.corpus.imports.surveys import FirstLook, list_drawable
from annotation.corpus.parsing.drawing_rules import RELATIONS
from annotation.corpus.parsing.guessing import FoundColumn, guess_columns
from annotation.corpus.parsing.mapped_fields import JUDGMENTS, KINDS, LABELS, RATINGS
from annotation.corpus.parsing.mappings import ColumnMapping, Reading, parse_mapping
from annotation.corpus.services import NewMapping
from core.errors import InputError
from core.files.input_files import MEGABYTE
from core.files.tables.layout import CSV, ENCODINGS, JSON, SEPARATORS, XLSX
from core.options.fields import OptionsForm
from judging.runs.options import ImportItems

FORMAT = "format:"
N_RULES = 3
READING = ("encoding", "separator", "sheet", "at")
LONGEST_EXAMPLE = 50
TARGETS = ("source", "study", "judge", "on_error")


class FileForm(OptionsForm):
    """Any table or export, to be looked at before anything is imported."""

    file = forms.FileField(label="File", allow_empty_file=True)

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].help_text = _(
            "CSV, TSV, Excel (.xlsx), JSON, JSON Lines or Parquet; a dataset saved by Hugging Face as one ZIP file. "
            "At most {most} MB; the command import_items takes more."
        ).format(most=settings.MAX_UPLOAD_BYTES // MEGABYTE)

    def clean_file(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["file"]
        if file.size and file.size > settings.MAX_UPLOAD_BYTES:
            said = _(
                "{file} has more than {most} MB: import it with the command import_items, which has no such limit."
            )
            raise forms.ValidationError(said.format(file=file.name, most=settings.MAX_UPLOAD_BYTES // MEGABYTE))
        return file


class MappingForm(OptionsForm):
    """How the file is read, what its rows become, which column is which field, what is drawn, and where it goes."""

    def __init__(
        self, *args: object, shown: FirstLook, mapping: ColumnMapping, sheets: list[str], **kwargs: object
    ) -> None:
        super().__init__(*args, **kwargs)
        self.shown, self.mapping = shown, mapping
        self.add_reading(sheets)
        self.fields["what"] = forms.ChoiceField(label="What the rows are", choices=list_kinds(), initial=spell(mapping))
        self.add_columns()
        if mapping.kind not in LABELS and self.drawable:
            self.add_rules()
        self.add_targets()
        self.add(NewMapping)
        self.fields["name"].required = False

    def add_reading(self, sheets: list[str]) -> None:
        """Add what can be said of the layout of a file of this form."""
        layout, empty = self.shown.layout, [("", _("as found"))]
        as_found = _("as found: {value}")
        if layout.is_text:
            found = as_found.format(value=ENCODINGS[layout.encoding])
            self.add_choice("encoding", _("Encoding"), [("", found), *ENCODINGS.items()], self.mapping.read.encoding)
        if layout.form == CSV:
            found = as_found.format(value=SEPARATORS[layout.separator])
            self.add_choice(
                "separator", _("Separator"), [("", found), *SEPARATORS.items()], self.mapping.read.separator
            )
        if layout.form == XLSX and len(sheets) > 1:
            self.add_choice("sheet", _("Sheet"), [*empty, *((one, one) for one in sheets)], self.mapping.read.sheet)
        if layout.form == JSON:
            self.fields["at"] = forms.CharField(
                label="Path of the list of rows",
                required=False,
                initial=self.mapping.read.at,
                help_text="With dots, such as data.items. Empty: the document itself, or its only list.",
            )

    def add_choice(self, name: str, label: str, choices: list[tuple[str, str]], initial: str, help: str = "") -> None:
        self.fields[name] = forms.ChoiceField(
            label=label, choices=choices, required=False, initial=initial, help_text=help
        )

    def add_columns(self) -> None:
        """Add a select of the file's columns for each field, and a text where one value may hold for all rows."""
        if not self.mapping.kind:
            return
        choices = [("", _("not in the file")), *((one.path, describe(one)) for one in self.shown.columns)]
        for one in self.mapping.of_kind.fields:
            chosen = self.mapping.columns.get(one.key, "")
            known = (
                choices
                if chosen in dict(choices)
                else [*choices, (chosen, _("{column} (not in the file)").format(column=chosen))]
            )
            self.add_choice(f"column_{one.key}", one.title, known, chosen, one.help)
            if one.may_be_constant:
                self.fields[f"constant_{one.key}"] = forms.CharField(
                    label=_("{field} of all rows").format(field=_(one.title)),
                    required=False,
                    initial=self.mapping.constants.get(one.key, ""),
                )
        if self.mapping.kind == RATINGS.key:
            self.fields["raters"] = forms.MultipleChoiceField(
                label="Columns that are raters",
                choices=[(one.path, describe(one)) for one in self.shown.columns],
                widget=forms.CheckboxSelectMultiple,
                required=False,
                initial=self.mapping.raters,
                help_text="For a wide table, in which each rater has a column with their values.",
            )
        if self.mapping.kind not in LABELS:
            self.fields["keeps_others"] = forms.BooleanField(
                label="Keep the other columns with each record",
                required=False,
                initial=self.mapping.keeps_others,
                help_text="Studies can group items by them.",
            )

    @property
    def drawable(self) -> list[str]:
        """The columns of the records that a draw may look at; none where the kind has no inclusion probability."""
        kind = CHAT_FORMATS[self.mapping.format].kind if self.mapping.format else self.mapping.kind
        if kind not in ("dialogues", "pairs"):
            return []
        known = list_drawable(self.shown, self.mapping)
        return known or ["id"]

    def add_rules(self) -> None:
        """Add rules of a draw: of which rows which share is kept."""
        rules, drawn = (self.mapping.draw.rules if self.mapping.draw else []), self.mapping.draw
        columns = [("", _("no rule")), *((one, one) for one in self.drawable)]
        for number in range(1, N_RULES + 1):
            rule = rules[number - 1] if number <= len(rules) else None
            chosen = rule.column if rule else ""
            known = columns if chosen in dict(columns) else [*columns, (chosen, chosen)]
            self.add_choice(f"rule_{number}_column", _("Column of rule {n}").format(n=number), known, chosen)
            relation = rule.relation if rule else "below"
            self.add_choice(
                f"rule_{number}_relation", _("Relation of rule {n}").format(n=number), list(RELATIONS.items()), relation
            )
            self.fields[f"rule_{number}_value"] = forms.CharField(
                label=_("Value of rule {n}").format(n=number), required=False, initial=rule.value if rule else ""
            )
            self.fields[f"rule_{number}_share"] = build_share(
                _("Share kept by rule {n} (%)").format(n=number), 100 * rule.share if rule else 100.0
            )
        rest = 100 * drawn.rest if drawn else 100.0
        self.fields["rest"] = build_share(_("Share kept of all other rows (%)"), rest)
        self.fields["seed"] = forms.IntegerField(
            label="Seed of the draw",
            min_value=0,
            max_value=2**63 - 1,
            required=False,
            initial=drawn.seed if drawn else 0,
            help_text="The same seed keeps the same rows again.",
        )

    def add_targets(self) -> None:
        """Add where the rows go: a source, or a study and a judge."""
        label = self.mapping.kind in LABELS
        judged = ("judge",) if self.mapping.kind == JUDGMENTS.key else ()
        self.add(ImportItems, *((("study", *judged)) if label else ("source",)), "on_error")
        if self.mapping.format:
            self.fields["source"].initial = self.mapping.format

    @property
    def column_fields(self) -> list[forms.BoundField]:
        """The selects of columns that are needed, mapped or wrong."""
        return [bound for bound in self.iterate_column_fields() if self.is_telling(bound)]

    @property
    def further_fields(self) -> list[forms.BoundField]:
        """The other selects, and the texts where one value may hold for all rows."""
        return [bound for bound in self.iterate_column_fields() if not self.is_telling(bound)]

    def iterate_column_fields(self) -> Iterator[forms.BoundField]:
        for one in self.mapping.of_kind.fields if self.mapping.kind else ():
            for name in (f"column_{one.key}", f"constant_{one.key}"):
                if name in self.fields:
                    yield self[name]

    def is_telling(self, bound: forms.BoundField) -> bool:
        needed = {f"column_{name}" for names in self.mapping.of_kind.needed[:1] for name in ("id", *names)}
        return bound.name in needed or bool(bound.value()) or bool(bound.errors)

    @property
    def reading_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in READING if name in self.fields]

    @property
    def target_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in TARGETS if name in self.fields]

    @property
    def rule_fields(self) -> list[list[forms.BoundField]]:
        """The fields of each rule."""
        parts = ("column", "relation", "value", "share")
        numbers = range(1, N_RULES + 1) if "rule_1_column" in self.fields else ()
        return [[self[f"rule_{number}_{part}"] for part in parts] for number in numbers]

    def find(self, name: str) -> forms.BoundField | None:
        return self[name] if name in self.fields else None

    @property
    def chosen_columns(self) -> dict[str, str]:
        """Column -> what it is mapped to, as the page has it now, whether that can be used or not."""
        fields = [name for name in self.fields if name.startswith("column_") and self[name].value()]
        titles = {self[name].value(): self.mapping.of_kind.field(name.removeprefix("column_")).title for name in fields}
        raters = self["raters"].value() if "raters" in self.fields else None
        return titles | dict.fromkeys(raters or (), _("Rater"))

    def read_mapping(self) -> ColumnMapping | None:
        """The mapping as it was entered; None where it cannot be used, with the reason at its field."""
        try:
            return parse_mapping(self.to_document())
        except InputError as error:
            self.refuse_mapping(error)
            return None

    def to_document(self) -> dict[str, object]:
        """The mapping as its file would have it."""
        given = self.cleaned_data
        read = {name: given[name] for name in READING if given.get(name)}
        document: dict[str, object] = {"read": read} if read else {}
        if draw := self.read_rules():
            document["draw"] = draw
        if self.mapping.format:
            return {**document, "format": self.mapping.format}
        columns = strip_prefix(given, "column_")
        constants = strip_prefix(given, "constant_")
        kept = {} if given.get("keeps_others", True) else {"keeps_others": False}
        more = {"raters": raters} if (raters := given.get("raters")) else {}
        return {**document, "kind": self.mapping.kind, "columns": columns, "constants": constants, **more, **kept}

    def read_rules(self) -> dict[str, object] | None:
        """The draw; None where all rows are kept."""
        given = self.cleaned_data
        if "rest" not in self.fields:
            return None
        numbers = [number for number in range(1, N_RULES + 1) if given.get(f"rule_{number}_column")]
        rules = [self.read_rule(number) for number in numbers]
        rest = 100.0 if given.get("rest") is None else given["rest"]
        if not rules and rest == 100:
            return None
        return {"rules": rules, "rest": rest / 100, "seed": given.get("seed") or 0}

    def read_rule(self, number: int) -> dict[str, object]:
        given = {
            part: self.cleaned_data.get(f"rule_{number}_{part}") for part in ("column", "relation", "value", "share")
        }
        share = 100.0 if given["share"] is None else given["share"]
        return {**given, "relation": given["relation"] or "below", "share": share / 100}

    def refuse_mapping(self, error: InputError) -> None:
        """Say what is wrong at the field that an entry of the mapping stands for."""
        part, _, rest = (error.field or "").partition(".")
        name = {"columns": f"column_{rest}", "constants": f"constant_{rest}", "read": rest}.get(part, part)
        if part == "draw" and rest.startswith("rules."):
            numbers = [number for number in range(1, N_RULES + 1) if self.cleaned_data.get(f"rule_{number}_column")]
            number = numbers[int(rest.split(".")[1])]
            name = f"rule_{number}_{(rest.split('.')[2:] or ['value'])[0]}"
        name = {"kind": "what", "format": "what"}.get(name, name)
        self.add_error(name if name in self.fields else None, error.message[:1].upper() + error.message[1:])


def build_share(label: str, initial: float) -> forms.FloatField:
    return forms.FloatField(label=label, min_value=0, max_value=100, required=False, initial=f"{initial:g}")


def strip_prefix(given: Mapping[str, object], prefix: str) -> dict[str, str]:
    """What was entered in the fields of that prefix."""
    return {name.removeprefix(prefix): str(value) for name, value in given.items() if name.startswith(prefix) and value}


def list_kinds() -> list[tuple[str, list[tuple[str, str]]]]:
    """Kinds of records, and formats by name in their groups."""
    groups: dict[str, list[tuple[str, str]]] = {
        _("Columns that you map"): [(one.key, one.title) for one in KINDS.values()]
    }
    for one in CHAT_FORMATS.values():
        groups.setdefault(one.group, []).append((f"{FORMAT}{one.key}", one.title))
    return list(groups.items())


def spell(mapping: ColumnMapping) -> str:
    """What the rows are, as the select has it."""
    return f"{FORMAT}{mapping.format}" if mapping.format else mapping.kind


def describe(column: FoundColumn) -> str:
    """A column with its first value, as an option shows it."""
    if column.is_empty:
        return _("{column} (empty)").format(column=column.path)
    return f"{column.path} — {shorten(column.examples[0])}"


def shorten(value: object, most: int = LONGEST_EXAMPLE) -> str:
    """A value on one line, cut where it is long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def choose_mapping(shown: FirstLook, what: str, read: Reading) -> ColumnMapping:
    """The mapping to begin with where the rows are said to be that: a format, or a kind with guessed columns."""
    if what.startswith(FORMAT) and what.removeprefix(FORMAT) in CHAT_FORMATS:
        return ColumnMapping(format=what.removeprefix(FORMAT), read=read)
    if what in KINDS:
        return ColumnMapping(kind=what, columns=guess_columns(KINDS[what], shown.columns), read=read)
    return shown.guess.model_copy(update={"read": read})
