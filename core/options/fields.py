"""An option as a form field, as a field of a REST body and as an argument of a command, side by side."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

from django import forms
from rest_framework import serializers

from core.errors import InputError
from core.options.model import INVALID, REQUIRED, WORDS, Option, Options, read_options

Serializer = type[serializers.Serializer[Any]]

FORM_FIELDS: dict[Any, Any] = {int: forms.IntegerField, float: forms.FloatField, str: forms.CharField}
REST_FIELDS: dict[Any, Any] = {
    int: serializers.IntegerField,
    float: serializers.FloatField,
    bool: serializers.BooleanField,
    str: serializers.CharField,
}
REST_WORDS = {
    **dict.fromkeys(("required", "blank", "empty", "min_length"), REQUIRED),
    "min_value": WORDS["greater_than_equal"].replace("{ge}", "{min_value}"),
    "max_value": WORDS["less_than_equal"].replace("{le}", "{max_value}"),
    "max_length": WORDS["string_too_long"],
    "invalid_choice": WORDS["literal_error"],
}


class OptionsForm(forms.Form):
    """A form whose fields come from options, and whose last check is the service: an InputError stands at its field."""

    places: Mapping[str, str] = {}
    """Field of the form by argument of the service, where the names differ."""

    def add(self, model: type[Options], *names: str, **renamed: str) -> None:
        """Add fields for these options, or for all; `seed="sample_seed"` gives one another name in this form."""
        options = read_options(model)
        for name, place in {**{name: name for name in names or options}, **renamed}.items():
            self.fields[place] = build_form_field(options[name])
        self.places = {**self.places, **renamed}

    def set(self, name: str, **attributes: Any) -> None:
        """Set what depends on rows or on the page, such as the choices of a field."""
        for attribute, value in attributes.items():
            setattr(self.fields[name], attribute, value)

    def arguments(self, *names: str, **renamed: str) -> dict[str, Any]:
        """Return what was entered by argument of the service. What was left empty keeps its default."""
        found = {}
        for name, place in {**{name: name for name in names}, **renamed}.items():
            value = self.cleaned_data.get(place)
            if value is not None and not (value == "" and isinstance(self.fields[place], forms.ChoiceField)):
                found[name] = value
        return found

    def refuse(self, error: InputError) -> None:
        place = self.places.get(error.field or "", error.field or "")
        self.add_error(place if place in self.fields else None, error.message)


def build_form_field(option: Option) -> Any:
    said: dict[str, Any] = {
        "label": option.title or None,
        "help_text": option.description,
        "initial": option.default,
        "required": bool(option.shortest) or (option.required and option.type is not str),
    }
    choices = option.choices or (option.item.choices if option.item else None) or {}
    if option.type is bool:
        return forms.BooleanField(**said | {"required": False})
    if option.type is list:
        return forms.MultipleChoiceField(choices=list(choices.items()), widget=forms.CheckboxSelectMultiple, **said)
    if choices:
        widget = forms.RadioSelect if option.hint.radio else forms.Select
        return forms.ChoiceField(choices=list(choices.items()), widget=widget, **said | {"required": option.required})
    if option.hint.rows:
        said["widget"] = forms.Textarea(attrs={"rows": option.hint.rows})
    limits = {"max_length": option.longest} if option.type is str else option.range
    return FORM_FIELDS[option.type](**limits, **said)


def build_serializer(model: type[Options], base: Serializer, nested: Serializer) -> Serializer:
    """Make a serializer of the model's name, which the OpenAPI document shows. `nested` is the base inside it."""
    fields = {name: build_rest_field(option, nested) for name, option in read_options(model).items()}
    made: Serializer = type(model.__name__, (base,), {**fields, "__doc__": model.__doc__})
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
    if option.type is dict and option.item:
        return serializers.DictField(child=build_rest_field(option.item, nested), **said)
    if option.type is list and option.item:
        lengths: dict[str, Any] = {"min_length": option.shortest, "max_length": option.longest}
        return serializers.ListField(child=build_rest_field(option.item, nested), **lengths, **said)
    if issubclass(option.type, Options):
        del said["error_messages"]
        return build_serializer(option.type, nested, nested)(**said)
    if option.type is str:
        lengths = {"max_length": option.longest}
        return serializers.CharField(allow_blank=not option.shortest, **lengths, **said)
    return REST_FIELDS[option.type](**option.range, **said)


def add_arguments(parser: ArgumentParser, model: type[Options], *, but: Iterable[str] = (), **defaults: Any) -> None:
    """Add an argument of a command for each option. `defaults` are those that only the command has."""
    for name, option in read_options(model).items():
        if name not in but:
            says = {"default": defaults[name], "required": False} if name in defaults else {}
            add_argument(parser, name, replace(option, **says))


def add_argument(parser: ArgumentParser, name: str, option: Option) -> None:
    hint, inner = option.hint, option.item or option
    said: dict[str, Any] = {"help": option.help.replace("%", "%%")}
    flag = "--" + (hint.option or name).replace("_", "-")
    if option.type is bool:
        parser.add_argument(flag, dest=name, action="store_true", **said)
        return
    if option.default not in (None, "", [], {}):
        said["help"] = f"{said['help']} (default: %(default)s)".strip()
    if inner.type in (int, float):
        said["type"] = inner.type
    if option.choices:
        said["choices"] = list(option.choices)
    elif hint.metavar:
        said["metavar"] = hint.metavar
    if option.type is list:
        said["nargs"] = "*" if option.nullable and not option.shortest else "+"  # an empty list says more than none
    elif hint.positional and not option.required:
        said["nargs"] = "?"
    called: dict[str, Any] = {} if hint.positional else {"dest": name, "required": option.required}
    parser.add_argument(name if hint.positional else flag, default=option.default, **called, **said)


def read_arguments(model: type[Options], options: Mapping[str, Any], *, but: Iterable[str] = ()) -> dict[str, Any]:
    """Return what a command was given by argument of the service."""
    found = {
        name: split_names(options[name]) if option.type is list and options[name] is not None else options[name]
        for name, option in read_options(model).items()
        if name not in but
    }
    return {name: value for name, value in found.items() if value is not None}


def split_names(given: Iterable[str] | str | None) -> list[str]:
    """Split names in one text or several at commas: `a b` and `a,b` mean the same."""
    texts = [given] if isinstance(given, str) else given or []
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]
