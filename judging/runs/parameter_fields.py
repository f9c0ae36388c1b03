"""A provider's parameters as form fields; what has no field stays in the JSON beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from django import forms
from django.utils.translation import gettext as _, gettext_noop

from core.errors import InputError
from core.options.fields import build_form_field
from core.options.model import Option, read_field
from judging.judges import providers

PREFIX = "p_"
FIRST = ("temperature", "max_tokens", "explanation", "context_window", "context", "logprobs", "pictures")
"""Parameters that stand outside the fold."""

OTHERWISE = ("base_url", "template", "templates", "system", "examples")
"""Those with a field of their own, or too long for one."""

SIMPLE = (int, float, bool, str)
LABELS = {
    "cache_mb": gettext_noop("Cache (MB)"),
    "timeout": gettext_noop("Timeout (s)"),
    "linger": gettext_noop("Linger (s)"),
    "max_retries": gettext_noop("Retries at most"),
}
YES_NO: dict[object, object] = {"yes": True, "no": False}


def list_parameters(provider: str) -> dict[str, Option]:
    """The parameters of a provider that can be a field."""
    found = {}
    for name, field in providers.load(provider).Parameters.model_fields.items():
        if name in OTHERWISE:
            continue
        try:
            option = read_field(field)
        except TypeError:  # no interface can show it: JSON holds it
            continue
        if option.choices or option.type in SIMPLE:
            found[name] = option
    return dict(sorted(found.items(), key=lambda one: FIRST.index(one[0]) if one[0] in FIRST else len(FIRST)))


def build_fields(provider: str) -> dict[str, forms.Field]:
    """A field by its name in the form. Nothing in it means the provider's default, which its help says."""
    return {f"{PREFIX}{name}": build_field(name, option) for name, option in list_parameters(provider).items()}


def build_field(name: str, option: Option) -> forms.Field:
    title = LABELS.get(name, name.replace("_", " ").capitalize())
    text = _(option.description).rstrip(".") if option.description else ""
    if option.type is bool:
        usual = _("Default ({value})").format(value=_("yes") if option.default else _("no"))
        choices = [("", usual), ("yes", _("Yes")), ("no", _("No"))]
        return forms.ChoiceField(choices=choices, required=False, label=title, help_text=text)
    default = _("Default: {value}").format(value=_("none") if option.default in (None, "") else option.default)
    help_text = ". ".join(part for part in (text, default) if part)
    shown = replace(option, title=title, description=f"{help_text}.", default=None, required=False, shortest=None)
    field: forms.Field = build_form_field(shown)
    field.required = False
    return field


def read_given(cleaned: Mapping[str, object]) -> dict[str, object]:
    """The parameters that the fields name."""
    given = {name.removeprefix(PREFIX): value for name, value in cleaned.items() if name.startswith(PREFIX)}
    return {name: YES_NO.get(value, value) for name, value in given.items() if value not in (None, "")}


def to_initial(provider: str, parameters: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """What the fields hold of a judge's parameters, and the others, which JSON holds."""
    named = list_parameters(provider)
    words = {True: "yes", False: "no"}
    fields = {
        f"{PREFIX}{name}": words[value] if isinstance(value, bool) else value
        for name, value in parameters.items()
        if name in named
    }
    return fields, {name: value for name, value in parameters.items() if name not in named}


def check_once(given: Mapping[str, object], written: Mapping[str, object]) -> None:
    """Raise InputError where JSON and a field both name a parameter, with different values."""
    if twice := [name for name, value in given.items() if name in written and written[name] != value]:
        raise InputError("{twice} has a field of its own: name it there or here.", field="parameters", twice=twice[0])
