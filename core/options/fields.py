"""An option as a form field, as a field of a REST body and as an argument of a command, side by side."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cache, partial
from json import JSONDecodeError, JSONDecoder
from typing import Any, TypeVar

from django import forms
from django.utils.translation import gettext as _, gettext_lazy
from rest_framework import serializers

from core.audit.log import audit_batch
from core.errors import InputError
from core.files.json_text import parse_json
from core.options.model import DOLLARS, INVALID, REQUIRED, WORDS, Option, Options, read_options

Serializer = type[serializers.Serializer[Any]]

Result = TypeVar("Result")

FORM_FIELDS: dict[object, Callable[..., forms.Field]] = {
    int: forms.IntegerField,
    float: forms.FloatField,
    Decimal: partial(forms.DecimalField, **DOLLARS),
    date: partial(forms.DateField, widget=forms.DateInput(attrs={"type": "date"})),
}
REST_FIELDS: dict[object, Callable[..., object]] = {
    int: serializers.IntegerField,
    float: serializers.FloatField,
    Decimal: partial(serializers.DecimalField, **DOLLARS),
    date: serializers.DateField,
    bool: serializers.BooleanField,
}
REST_WORDS = {
    **dict.fromkeys(("required", "blank", "empty", "min_length"), REQUIRED),
    "min_value": WORDS["greater_than_equal"].replace("{ge}", "{min_value}"),
    "max_value": WORDS["less_than_equal"].replace("{le}", "{max_value}"),
    "max_length": WORDS["string_too_long"],
    "invalid_choice": WORDS["literal_error"],
}


class Decoder(JSONDecoder):
    """How fields of JSON are read."""

    def decode(self, s: str) -> object:  # type: ignore[override] # json's own has a private argument more
        try:
            return parse_json(s)
        except InputError as error:
            raise JSONDecodeError(error.message, s, 0) from error


class JsonField(forms.JSONField):
    """A JSON object, or nothing: an empty field is shown empty, not as null, and read as no values."""

    default_error_messages = {
        "invalid": gettext_lazy("This is not JSON, is nested more than 200 deep, or holds a NUL character.")
    }

    def __init__(self, *, rows: int = 3, texts: bool = False, **options: object) -> None:
        """With `texts`, each value of the object is a text."""
        widget = forms.Textarea(attrs={"rows": rows, "spellcheck": "false"})
        super().__init__(**{"decoder": Decoder, "widget": widget, **options})
        self.texts = texts

    def prepare_value(self, value: object) -> str:
        return "" if value in (None, "", {}) else super().prepare_value(value)

    def clean(self, value: object) -> dict[str, object]:
        found = super().clean(value)
        found = {} if found is None else found
        if not isinstance(found, dict):
            raise forms.ValidationError(_("Enter a JSON object, in braces."))
        if self.texts and not all(isinstance(one, str) for one in found.values()):
            raise forms.ValidationError(_("Enter a JSON object of texts."))
        return found


class OptionsForm(forms.Form):
    """A form whose fields come from options, and whose last check is the service: an InputError stands at its field."""

    verb: type[Options] | None = None
    """The model whose fields the form has from the start: those that `asks` names, or all."""

    asks: tuple[str, ...] = ()
    places: Mapping[str, str] = {}
    """Field of the form by argument of the service, where the names differ."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.inverted: set[str] = set()
        if self.verb:
            self.add(self.verb, *self.asks)

    def add(self, model: type[Options], *names: str, **renamed: str) -> None:
        """Add fields for these options, or for all; `seed="sample_seed"` gives one another name in this form."""
        options = read_options(model)
        for name, place in {**{name: name for name in names or options}, **renamed}.items():
            self.fields[place] = build_form_field(options[name])
            if options[name].hint.off:
                self.inverted.add(place)
        self.places = {**self.places, **renamed}

    def set(self, name: str, **attributes: object) -> None:
        """Set what depends on rows or on the page, such as the choices of a field."""
        field = self.fields[name]
        if "choices" in attributes and isinstance(field, forms.CharField):
            said = {part: getattr(field, part) for part in ("label", "help_text", "initial", "required")}
            self.fields[name] = forms.ChoiceField(**said)
            attributes["shows_default"] = getattr(field, "shows_default", False)
        for attribute in sorted(attributes, key="choices".__eq__):  # a widget takes the choices that are set after it
            setattr(self.fields[name], attribute, attributes[attribute])

    def arguments(self, *names: str, **renamed: str) -> dict[str, Any]:
        """Return what was entered by argument of the service; all of the form's own if none is named.

        What was left empty keeps its default.
        """
        own = (self.asks or read_options(self.verb)) if self.verb and not renamed else ()
        found = {}
        for name, place in {**{name: name for name in names or own}, **renamed}.items():
            value = self.cleaned_data.get(place)
            if value is not None and not (value == "" and self.is_left(place)):
                found[name] = not value if place in self.inverted else value
        return found

    def is_left(self, place: str) -> bool:
        """Whether nothing in this field means its default, rather than no text."""
        field = self.fields[place]
        return isinstance(field, forms.ChoiceField) or bool(field.initial)

    def done(self, action: Callable[[], Result]) -> Result | None:
        """What the action returns; None if it refused, which is then said at its field."""
        try:
            with audit_batch():
                return action()
        except InputError as error:
            self.refuse(error)
            return None

    def refuse(self, error: InputError) -> None:
        """Say an error at the field where the reader can do something about it."""
        place = self.places.get(error.field or "", error.field or "")
        self.add_error(place if place in self.fields else None, error.message)


def build_form_field(option: Option) -> Any:
    """Build the field. It `shows_default` where nothing in it means the value that it begins with."""
    field = choose_form_field(option)
    field.shows_default = option.default is not False and option.default not in (None, "", [], {})
    return field


def choose_form_field(option: Option) -> Any:
    said: dict[str, Any] = {
        "label": option.title or None,
        "help_text": option.description,
        "initial": option.default,
        "required": bool(option.shortest) or (option.required and option.type not in (str, list)),
    }
    labels = option.choices or (option.item.choices if option.item else None) or {}
    choices = [(value, gettext_lazy(label) if label else label) for value, label in labels.items()]
    if option.type is bool:
        off = {"label": option.hint.off, "initial": False} if option.hint.off else {}
        return forms.BooleanField(**said | {"required": False} | off)
    if option.type is list:
        return forms.MultipleChoiceField(choices=choices, widget=forms.CheckboxSelectMultiple, **said)
    if choices:
        widget = forms.RadioSelect if option.hint.radio else forms.Select
        return forms.ChoiceField(choices=choices, widget=widget, **said | {"required": option.required})
    if option.type is dict and option.item:
        return JsonField(rows=option.hint.rows or 3, texts=option.item.type is str, **said)
    if option.hint.rows:
        written = {"spellcheck": "false"} if option.strips is False else {}
        said["widget"] = forms.Textarea(attrs={"rows": option.hint.rows, **written})
    if option.type is str:
        return forms.CharField(max_length=option.longest, strip=option.strips is not False, **said)
    return FORM_FIELDS[option.type](**option.range, **said)


@cache
def build_serializer(model: type[Options], base: Serializer, nested: Serializer) -> Serializer:
    """Make a serializer of the model's name, which the OpenAPI document shows. `nested` is the base inside it."""
    fields = {name: build_rest_field(option, nested) for name, option in read_options(model).items()}
    made: Serializer = type(model.__name__.removesuffix("Options"), (base,), {**fields, "__doc__": model.__doc__})
    return made


def build_rest_field(option: Option, nested: Serializer) -> Any:
    said: dict[str, Any] = {
        "required": option.required,
        "help_text": option.help or None,
        "allow_null": option.hint.null,
        "error_messages": {**REST_WORDS, "invalid": INVALID.get(option.type, "")},
    }
    if not option.required and option.default is not None:
        said["default"] = partial(copy, option.default) if option.item else option.default
    if option.choices is not None:
        return serializers.ChoiceField(list(option.choices.items()), **said)
    if option.type is object:
        return serializers.JSONField(**said)
    if option.type is dict and option.item:
        child = {} if option.item.type is object else {"child": build_rest_field(option.item, nested)}
        return serializers.DictField(**child, allow_empty=not option.shortest, **said)
    if option.type is list and option.item:
        inner = build_rest_field(option.item, nested)
        return serializers.ListField(child=inner, min_length=option.shortest, max_length=option.longest, **said)
    if issubclass(option.type, Options):
        del said["error_messages"]
        return build_serializer(option.type, nested, nested)(**said)
    if option.type is str:
        said |= {"max_length": option.longest, "trim_whitespace": option.strips is not False}
        return serializers.CharField(allow_blank=not option.shortest, **said)
    return REST_FIELDS[option.type](**option.range, **said)


def add_arguments(parser: ArgumentParser, model: type[Options], *, but: Iterable[str] = (), **defaults: object) -> None:
    """Add an argument of a command for each option. `defaults` are those that only the command has."""
    for name, option in read_options(model).items():
        if name not in but:
            own = replace(option, default=defaults[name], required=False) if name in defaults else option
            add_argument(parser, name, own)


def add_argument(parser: ArgumentParser, name: str, option: Option) -> None:
    hint, inner = option.hint, option.item or option
    said: dict[str, Any] = {"help": option.help.replace("%", "%%")}
    flag = "--" + (hint.option or name).replace("_", "-")
    if option.type is bool:
        parser.add_argument(flag, dest=name, action="store_false" if option.default else "store_true", **said)
        return
    if option.default not in (None, "", [], {}):
        said["help"] = f"{said['help']} (default: %(default)s)".strip()
    if inner.type in ARGUMENTS:
        said["type"] = ARGUMENTS[inner.type]
    if option.choices:
        said["choices"] = list(option.choices)
    elif hint.metavar:
        said["metavar"] = hint.metavar
    if option.type is list:
        said["nargs"] = "*" if option.nullable and not option.shortest else "+"  # an empty list says more than none
    elif hint.positional and not option.required:
        said["nargs"] = "?"
    if not hint.positional:
        said |= {"dest": name, "required": option.required}
    parser.add_argument(name if hint.positional else flag, default=option.default, **said)


def read_arguments(model: type[Options], options: Mapping[str, Any], *, but: Iterable[str] = ()) -> dict[str, Any]:
    """Return what a command was given by argument of the service."""
    found = {
        name: split_names(options[name]) if option.is_listed and options[name] is not None else options[name]
        for name, option in read_options(model).items()
        if name not in but
    }
    return {name: value for name, value in found.items() if value is not None}


def parse_dollars(text: str) -> Decimal:
    try:
        found = Decimal(text)
    except InvalidOperation:
        found = Decimal("NaN")
    if not found.is_finite():
        raise ArgumentTypeError(f"{text!r} is not an amount of dollars")
    return found


ARGUMENTS: dict[object, object] = {int: int, float: float, Decimal: parse_dollars, date: date.fromisoformat}


def split_names(given: Iterable[str] | str | None) -> list[str]:
    """Split names in one text or several at commas: `a b` and `a,b` mean the same."""
    texts = [given] if isinstance(given, str) else given or []
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]


def parse_pairs(given: Sequence[str], field: str) -> dict[str, str]:
    """`a=b` -> {"a": "b"}; underscores stand for spaces. InputError where there is no equals sign."""
    found = {}
    for one in given:
        name, sign, value = one.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise InputError("{one!r} is not NAME=VALUE", field=field, one=one)
        found[name.strip().replace("_", " ")] = value.strip().replace("_", " ")
    return found


def parse_shares(given: Sequence[str]) -> dict[str, float]:
    """`train=0.8 test=0.2` as numbers."""
    found = {}
    for name, value in parse_pairs(given, "splits").items():
        try:
            found[name] = float(value)
        except ValueError:
            raise InputError("{value!r} is not a number", field="splits", value=value) from None
    return found
