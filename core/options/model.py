"""The model of a verb's options, what is read from its fields, and the check of a service's arguments against it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, ParamSpec, Self, TypeVar, Union, get_args, get_origin

from annotated_types import Ge, Le, MaxLen, MinLen
from django.db.models import Choices as DatabaseChoices
from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, ErrorDetails, PydanticUndefined, core_schema

from core.errors import InputError

P = ParamSpec("P")
R = TypeVar("R")

LARGEST = 2**63 - 1
"""The largest number that a database keeps."""


class Options(BaseModel):
    """What a verb takes. A subclass is named for its verb and declares every limit, default and text of its fields.

    `title` of a field is its label in a form, `description` the help that all show.
    """

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    makes_root: ClassVar[bool] = False
    """Whether it makes something that has nothing above it but a project: then the REST body may name the project."""

    @field_validator("*")
    @classmethod
    def refuse_null_characters(cls, value: Any) -> Any:
        """No database keeps them."""
        if isinstance(value, str) and "\0" in value:
            raise ValueError("A text holds a character that cannot be kept.")
        return value

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Check what was given. InputError with the first field that is wrong."""
        try:
            return cls.model_validate(dict(given))
        except ValidationError as error:
            raise to_input_error(error.errors()[0]) from error

    def arguments(self) -> dict[str, Any]:
        """The options as keyword arguments of the service."""
        return {name: getattr(self, name) for name in type(self).model_fields}


@dataclass(frozen=True)
class Hint:
    """How a field looks in one of the interfaces, where the rule does not say it."""

    option: str = ""
    """Its name on the command line, where that is not the name of the field."""

    positional: bool = False
    metavar: str | None = None
    rows: int = 0
    """Height of the text area that a form shows; 0 for one line."""

    radio: bool = False
    null: bool = False
    """Whether a REST body may say null, besides leaving the field out."""


@dataclass(frozen=True, init=False)
class Choices:
    """The values that a text may have, with what each is called."""

    labels: Mapping[str, str]

    def __init__(self, choices: Mapping[str, str] | Iterable[str] | type[DatabaseChoices]) -> None:
        pairs: Any = choices
        if isinstance(choices, type):
            pairs = choices.choices
        elif not isinstance(choices, Mapping):
            pairs = [(name, name) for name in choices]
        object.__setattr__(self, "labels", dict(pairs))

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.literal_schema(list(self.labels))


@dataclass(frozen=True)
class Option:
    """One field of a model as the interfaces need it. `item`: what a list or a mapping (by name) holds."""

    type: Any
    many: bool = False
    by_name: bool = False
    item: Option | None = None
    nullable: bool = False
    least: float | None = None
    most: float | None = None
    shortest: int | None = None
    longest: int | None = None
    choices: Mapping[str, str] | None = None
    hint: Hint = Hint()
    required: bool = True
    default: Any = None
    title: str = ""
    about: str = ""

    @property
    def help(self) -> str:
        """Label and help in one text, for those who see no label."""
        return " ".join(part for part in (self.title and self.title.rstrip(".") + ".", self.about) if part)

    def fresh_default(self) -> Any:
        """The default; of a list or mapping a new one."""
        return type(self.default)(self.default) if isinstance(self.default, list | dict) else self.default


@cache
def read_options(model: type[Options]) -> Mapping[str, Option]:
    """The fields of a model by name, in its order."""
    return {name: read_field(field) for name, field in model.model_fields.items()}


def read_field(field: FieldInfo) -> Option:
    read = read_type(field.annotation, field.metadata)
    default = field.get_default(call_default_factory=True, validated_data={})
    required = default is PydanticUndefined
    texts = {"title": field.title or "", "about": field.description or ""}
    return Option(**{**vars(read), "required": required, "default": None if required else default, **texts})


def read_type(annotation: Any, metadata: Sequence[Any]) -> Option:
    """A type with what is declared beside it. TypeError where the interfaces could not show it."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return read_type(inner[0], [*inner[1:], *metadata])
    said: dict[str, Any] = {}
    for one in metadata:
        if isinstance(one, FieldInfo):
            return read_type(annotation, [*one.metadata, *(other for other in metadata if other is not one)])
        for kind, name, part in LIMITS:
            if isinstance(one, kind):
                said[name] = getattr(one, part) if part else one
    if origin in (Union, UnionType):
        rest = [part for part in inner if part is not type(None)]
        if len(rest) != 1:
            raise TypeError(f"{annotation} is several types")
        return Option(**{**vars(read_type(rest[0], metadata)), "nullable": True})
    if origin is Literal:
        return Option(str, choices={str(value): str(value) for value in inner}, **said)
    if origin is list:
        return Option(list, many=True, item=read_type(inner[0], ()), **said)
    if origin is dict:
        return Option(dict, by_name=True, item=read_type(inner[1], ()), **said)
    return Option(annotation, **said)


LIMITS = (
    (Ge, "least", "ge"),
    (Le, "most", "le"),
    (MinLen, "shortest", "min_length"),
    (MaxLen, "longest", "max_length"),
    (Choices, "choices", "labels"),
    (Hint, "hint", ""),
)

INVALID: dict[Any, str] = {
    int: "Enter a whole number.",
    float: "Enter a number.",
    bool: "Enter true or false.",
    list: "Enter a list of values.",
    dict: "Enter values by name.",
    str: "Enter a text.",
}
REQUIRED = "This field is required."
WORDS = {
    "missing": REQUIRED,
    "string_too_short": REQUIRED,
    "too_short": REQUIRED,
    "greater_than_equal": "Ensure this value is greater than or equal to {ge}.",
    "less_than_equal": "Ensure this value is less than or equal to {le}.",
    "string_too_long": "Ensure this value has at most {max_length} characters.",
    "too_long": "Ensure this list has at most {max_length} values.",
    "literal_error": "Select a valid choice. {input} is not one of the available choices.",
    "extra_forbidden": "There is no such field.",
}
"""Django's words by pydantic's kind of error: forms, bodies, commands and services say the same."""


def to_input_error(error: ErrorDetails) -> InputError:
    """One error of pydantic in the words of the site."""
    context = error.get("ctx", {})
    cause = context.get("error")
    field = ".".join(map(str, error["loc"])) or None
    if isinstance(cause, InputError):
        return InputError(cause.message, field=cause.field or field)
    if cause is not None:
        return InputError(str(cause), field=field)
    kind = error["type"]
    if kind in WORDS:
        return InputError(WORDS[kind].format(**{**context, "input": error["input"]}), field=field)
    invalid = next((words for type_, words in INVALID.items() if kind.startswith(type_.__name__)), None)
    return InputError(invalid or f"{error['msg']}.", field=field)


def checked_by(model: type[Options], *, but: Collection[str] = ()) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check the keyword arguments of a service against the options of its verb: InputError names the argument.

    `but` are options that the service takes in another form, such as a row in place of its name. A default in the
    signature must be the model's: TypeError otherwise, when the module is loaded.
    """
    options = {name: one for name, one in read_options(model).items() if name not in but}

    def decorate(service: Callable[P, R]) -> Callable[P, R]:
        for name, one in options.items():
            there = inspect.signature(service).parameters[name].default
            if (there is inspect.Parameter.empty) != one.required or (not one.required and not same(there, one)):
                raise TypeError(f"{service.__qualname__} has another default of {name} than {model.__name__}")

        @wraps(service)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            given = {name: value for name, value in kwargs.items() if name in options}
            found = model.of(given).arguments()
            kwargs.update({name: found[name] for name in options})
            return service(*args, **kwargs)

        return checked

    return decorate


def same(default: Any, option: Option) -> bool:
    return list(default) == option.default if isinstance(default, tuple) else bool(default == option.default)
