"""An option as a form field, as a field of a REST body and as an argument of a command, side by side."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from rest_framework import serializers

from core.errors import InputError
from core.options.model import INVALID, REQUIRED, WORDS, Option, Options, read_options

Given = type[serializers.Serializer[Any]]

FORM_FIELDS: dict[Any, Any] = {int: forms.IntegerField, float: forms.FloatField, str: forms.CharField}
REST_FIELDS: dict[Any, Any] = {
    int: serializers.IntegerField,
    float: serializers.FloatField,
    bool: serializers.BooleanField,
    str: serializers.CharField,
}


class OptionsForm(forms.Form):
    """A form whose fields come from options, and whose last check is the service that does the work.

    Its InputError is shown at the field that it names.
    """

    places: Mapping[str, str] = {}
    """Where what is wrong with an argument is shown, if the form has no field of that name."""

    def add(self, model: type[Options], *names: str, **renamed: str) -> None:
        """Add fields for these options, or for all; `seed="sample_seed"` gives one another name in this form."""
        options = read_options(model)
        for name, place in {**{name: name for name in names or options}, **renamed}.items():
            self.fields[place] = form_field(options[name])
        self.places = {**self.places, **renamed}

    def set(self, name: str, **attributes: Any) -> None:
        """Say of a field what depends on rows or on the page, such as its choices."""
        for attribute, value in attributes.items():
            setattr(self.fields[name], attribute, value)

    def arguments(self, *names: str, **renamed: str) -> dict[str, Any]:
        """What was entered, by argument of the service. What was left empty keeps its default."""
        places = {**{name: name for name in names}, **renamed}
        entered = {name: self.cleaned_data.get(place) for name, place in places.items()}
        chosen = {name for name, place in places.items() if isinstance(self.fields.get(place), forms.ChoiceField)}
        return {
            name: value for name, value in entered.items() if value is not None and (value != "" or name not in chosen)
        }

    def refuse(self, error: InputError) -> None:
        place = self.places.get(error.field or "", error.field or "")
        self.add_error(place if place in self.fields else None, error.message)


def form_field(option: Option) -> forms.Field:
    """A field of a Django form."""
    said: dict[str, Any] = {"label": option.title or None, "help_text": option.about, "initial": option.default}
    said["required"] = bool(option.shortest) or (option.required and option.type is not str)
    if option.type is bool:
        return forms.BooleanField(**{**said, "required": False})
    if option.many:
        choices = list(((option.item and option.item.choices) or {}).items())
        return forms.MultipleChoiceField(choices=choices, widget=forms.CheckboxSelectMultiple, **said)
    if option.choices is not None:
        widget = forms.RadioSelect if option.hint.radio else forms.Select
        return forms.ChoiceField(choices=list(option.choices.items()), widget=widget, **said)
    limits = {"min_value": option.least, "max_value": option.most} if option.type is not str else {}
    if option.type is str:
        limits = {"max_length": option.longest}
        if option.hint.rows:
            said["widget"] = forms.Textarea(attrs={"rows": option.hint.rows})
    field: forms.Field = FORM_FIELDS[option.type](**limits, **said)
    return field


def rest_fields(model: type[Options], nested: Given) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
    """The fields of a serializer for these options; `nested` is the class of one inside it."""
    return {name: rest_field(option, nested) for name, option in read_options(model).items()}


def serializer_of(model: type[Options], base: Given, nested: Given) -> Given:
    """A serializer with the fields and the name of the model, which is its name in the OpenAPI document too."""
    made: Given = type(model.__name__, (base,), {**rest_fields(model, nested), "__doc__": model.__doc__})
    return made


def rest_field(option: Option, nested: Given) -> Any:
    """A field of a REST framework serializer."""
    said: dict[str, Any] = {"required": option.required, "help_text": option.help or None}
    said["allow_null"] = option.hint.null
    if not option.required and option.default is not None:
        said["default"] = option.fresh_default if isinstance(option.default, list | dict) else option.default
    said["error_messages"] = {"required": REQUIRED, "blank": REQUIRED, "empty": REQUIRED, **SHARED}
    if isinstance(option.type, type) and issubclass(option.type, Options):
        del said["error_messages"]
        return serializer_of(option.type, nested, nested)(**said)
    if option.choices is not None:
        return serializers.ChoiceField(list(option.choices.items()), **said)
    said["error_messages"]["invalid"] = INVALID[option.type]
    if option.item is not None:
        inner = rest_field(option.item, nested)
        if option.by_name:
            return serializers.DictField(child=inner, allow_empty=not option.shortest, **said)
        lengths = {"min_length": option.shortest, "max_length": option.longest}
        return serializers.ListField(child=inner, **lengths, **said)
    limits: dict[str, Any] = {}
    if option.type is str:
        limits = {"max_length": option.longest, "allow_blank": not option.shortest}
    elif option.type is not bool:
        limits = {"min_value": option.least, "max_value": option.most}
    return REST_FIELDS[option.type](**limits, **said)


SHARED = {
    "min_value": WORDS["greater_than_equal"].replace("{ge}", "{min_value}"),
    "max_value": WORDS["less_than_equal"].replace("{le}", "{max_value}"),
    "max_length": WORDS["string_too_long"],
    "invalid_choice": WORDS["literal_error"],
}
"""REST framework's kinds of error in the words of all."""


def add_arguments(parser: ArgumentParser, model: type[Options], *, but: Iterable[str] = (), **defaults: Any) -> None:
    """Add an argument of a command for each option. `defaults` are those that only the command has."""
    for name, option in read_options(model).items():
        if name not in but:
            add_argument(parser, name, option, defaults)


def add_argument(parser: ArgumentParser, name: str, option: Option, defaults: Mapping[str, Any]) -> None:
    hint, default = option.hint, defaults.get(name, option.fresh_default())
    required = option.required and name not in defaults
    if option.type is bool:
        parser.add_argument(flag(name, hint.option), dest=name, action="store_true", help=escaped(option.help))
        return
    inner = option.item or option
    said: dict[str, Any] = {"default": default, "help": escaped(with_default(option.help, default))}
    if inner.type in (int, float):
        said["type"] = inner.type
    if option.choices is not None:
        said["choices"] = list(option.choices)
    if hint.metavar or inner.choices is None:
        said["metavar"] = hint.metavar
    if option.many:
        said["nargs"] = "*" if option.nullable and not option.shortest else "+"  # an empty list says more than none
    if hint.positional:
        parser.add_argument(name, **said, **({} if required or option.many else {"nargs": "?"}))
    else:
        parser.add_argument(flag(name, hint.option), dest=name, required=required, **said)


def flag(name: str, option: str) -> str:
    return "--" + (option or name).replace("_", "-")


def with_default(text: str, default: Any) -> str:
    shown = isinstance(default, int | float | str) and default != "" and not isinstance(default, bool)
    return f"{text} (default: {default})".strip() if shown else text


def escaped(text: str) -> str:
    """For argparse, which fills in what follows a percent sign."""
    return text.replace("%", "%%")


def read_arguments(model: type[Options], options: Mapping[str, Any], *, but: Iterable[str] = ()) -> dict[str, Any]:
    """What a command was given, by argument of the service. Lists may be one text with commas: `a,b` or `a b`."""
    known = {name: option for name, option in read_options(model).items() if name not in but}
    found = {name: split(options[name]) if known[name].many else options[name] for name in known}
    return {name: value for name, value in found.items() if value is not None}


def split(given: Iterable[str] | str | None) -> list[str] | None:
    """The names in one text or several, split at commas."""
    texts = [given] if isinstance(given, str) else given
    return None if texts is None else [name.strip() for text in texts for name in text.split(",") if name.strip()]
