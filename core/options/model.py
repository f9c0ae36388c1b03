"""The model of a verb's options, what the interfaces read from it, and the check of a service's arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import cache, wraps
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, ParamSpec, Self, TypeVar, Union, get_args, get_origin

from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    StringConstraints,
    ValidationError,
    create_model,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, ErrorDetails, PydanticUndefined, core_schema

from core.errors import InputError, gettext_noop

P = ParamSpec("P")
R = TypeVar("R")
LARGEST = 2**63 - 1
"""The largest number that a database keeps."""

DOLLARS: dict[str, Any] = {"max_digits": 12, "decimal_places": 4}
"""Decimal numbers are amounts of US dollars."""

Dollars = Annotated[Decimal, Field(**DOLLARS)]

REQUIRED = gettext_noop("This field is required.")
INVALID: dict[type, str] = {
    int: gettext_noop("Enter a whole number."),
    float: gettext_noop("Enter a number."),
    Decimal: gettext_noop("Enter a number."),
    date: gettext_noop("Enter a valid date."),
    bool: gettext_noop("Enter true or false."),
    str: gettext_noop("Enter a text."),
    list: gettext_noop("Enter a list of values."),
    dict: gettext_noop("Enter values by name."),
}
WORDS = {
    "missing": REQUIRED,
    "string_too_short": REQUIRED,
    "too_short": REQUIRED,
    "greater_than_equal": gettext_noop("Ensure this value is greater than or equal to {ge}."),
    "less_than_equal": gettext_noop("Ensure this value is less than or equal to {le}."),
    "string_too_long": gettext_noop("Ensure this value has at most {max_length} characters."),
    "too_long": gettext_noop("Ensure this list has at most {max_length} values."),
    "decimal_max_digits": gettext_noop("Ensure that there are no more than {max_digits} digits in total."),
    "decimal_max_places": gettext_noop("Ensure that there are no more than {decimal_places} decimal places."),
    "decimal_whole_digits": gettext_noop(
        "Ensure that there are no more than {whole_digits} digits before the decimal point."
    ),
    "literal_error": gettext_noop("Select a valid choice. {input} is not one of the available choices."),
    "extra_forbidden": gettext_noop("There is no such field."),
    "string_type": INVALID[str],
    "finite_number": INVALID[float],
    **{
        f"{kind.__name__.lower()}_{end}": words
        for kind, words in INVALID.items()
        for end in ("type", "parsing", "from_float", "from_date_parsing", "from_datetime_parsing")
    },
}
"""Django's words by pydantic's type of error, so that forms, bodies, commands and services say the same."""


OUT_OF_RANGE = ("greater_than_equal", "less_than_equal", "literal_error")


class Options(BaseModel):
    """What a verb takes. A subclass declares every limit, default and text of its fields.

    `title` of a field is its label in a form, `description` the help that every interface shows.
    """

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True, allow_inf_nan=False)

    makes_root: ClassVar[bool] = False
    """Whether it makes something that has nothing above it but a project: then a REST body may name the project."""

    @field_validator("*")
    @classmethod
    def refuse_null_characters(cls, value: object) -> object:
        """No database keeps them."""
        if isinstance(value, str) and "\0" in value:
            raise ValueError(gettext_noop("A text holds a character that cannot be kept."))
        return value

    def __init__(self, **given: object) -> None:
        """Check the options. InputError with the first field that is wrong."""
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise to_input_error(error.errors()[0], type(self)) from error

    @classmethod
    def check(cls, given: Mapping[str, object]) -> Self:
        """Return the options of these names."""
        return cls(**given)


@dataclass(frozen=True)
class Hint:
    """How one of the interfaces shows a field, where that does not follow from its type."""

    option: str = ""  # its name on the command line; of a switch that is on by default, of what turns it off
    positional: bool = False  # without a name on the command line
    metavar: str | None = None
    rows: int = 0  # height of the text area in a form; 0 for one line
    radio: bool = False
    null: bool = False  # whether a REST body may say null, besides leaving the field out
    off: str = ""  # label in a form of what turns off a switch that is on by default
    wrong: str = ""  # what a service says of an {input} that is none of the {known}, in place of Django's words


@dataclass(frozen=True)
class Choices:
    """The values that a text may have, with the label of each."""

    labels: Mapping[str, str]

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.literal_schema(list(self.labels))


@dataclass(frozen=True)
class Option:
    """A field of a model as the interfaces read it. `item` is what a list, or a mapping by name, holds."""

    type: Any
    item: Option | None = None
    nullable: bool = False
    least: float | None = None
    most: float | None = None
    shortest: int | None = None
    longest: int | None = None
    strips: bool | None = True
    choices: Mapping[str, str] | None = None
    hint: Hint = Hint()
    required: bool = True
    default: object = None
    title: str = ""
    description: str = ""

    @property
    def help(self) -> str:
        """Title and description in one text, for those who see no label."""
        return f"{self.title.rstrip('.')}. {self.description}".strip() if self.title else self.description

    @property
    def range(self) -> dict[str, object]:
        """Smallest and largest value, as Django and REST framework call them."""
        return {} if self.type in (bool, date) else {"min_value": self.least, "max_value": self.most}

    @property
    def is_listed(self) -> bool:
        """Whether it is a list of texts, which a command takes with spaces or commas between."""
        return self.type is list and self.item is not None and self.item.type is str


READ = (
    (Ge, "least", "ge"),
    (Le, "most", "le"),
    (MinLen, "shortest", "min_length"),
    (MaxLen, "longest", "max_length"),
    (StringConstraints, "strips", "strip_whitespace"),
    (Choices, "choices", "labels"),
    (Hint, "hint", ""),
)


@cache
def read_options(model: type[Options]) -> Mapping[str, Option]:
    """Return the fields of a model by name, in its order."""
    return {name: read_field(field) for name, field in model.model_fields.items()}


def read_field(field: FieldInfo) -> Option:
    default = field.get_default(call_default_factory=True, validated_data={})
    option = read_type(field.annotation, field.metadata)
    option = replace(option, title=field.title or "", description=field.description or "")
    return option if default is PydanticUndefined else replace(option, required=False, default=default)


def read_type(annotation: object, metadata: Sequence[object]) -> Option:
    """Read a type with what is declared beside it. TypeError where no interface could show it."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        nested = [part for one in inner[1:] for part in (one.metadata if isinstance(one, FieldInfo) else [one])]
        return read_type(inner[0], [*nested, *metadata])
    if origin in (Union, UnionType):
        kinds = [part for part in inner if part is not type(None)]
        if len(kinds) > 1:
            raise TypeError(f"{annotation} is several types")
        return replace(read_type(kinds[0], metadata), nullable=True)
    said: dict[str, Any] = {
        name: getattr(one, part) if part else one
        for one in metadata
        for kind, name, part in READ
        if isinstance(one, kind)
    }
    if origin is Literal:
        return Option(str, choices={value: value for value in inner}, **said)
    if origin in (list, dict):
        return Option(origin, item=read_type(inner[-1], ()), **said)
    return Option(object if annotation is Any else annotation, **said)


def to_input_error(error: ErrorDetails, model: type[Options]) -> InputError:
    """Say one of pydantic's errors in the words of the site."""
    context = error.get("ctx", {})
    cause = context.get("error")
    loc = [str(part) for part in error["loc"]]
    if isinstance(cause, InputError):
        return InputError(cause.message, field=".".join([*loc, *filter(None, [cause.field])]) or None)
    field = ".".join(loc[:-1] if loc and loc[-1].isdecimal() else loc) or None
    option = read_options(model).get(field or "")
    if option and option.hint.wrong and error["type"] in OUT_OF_RANGE:
        known = ", ".join(option.choices or ())
        return InputError(option.hint.wrong, field=field, input=error["input"], known=known)
    if error["type"] in WORDS:
        return InputError(WORDS[error["type"]], field=field, **context, input=error["input"])
    return InputError(str(cause) if isinstance(cause, ValueError) else error["msg"], field=field)


def check_options(model: type[Options], *, but: Collection[str] = ()) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check the keyword arguments of a service against the options of its verb: InputError names the argument.

    `but` are options that the service takes in another form, such as a row in place of its name. TypeError, when the
    module is loaded, where the signature has another default than the model. Stands above `@audited`, so that the log
    keeps what was filled in.
    """
    options = {name: one for name, one in read_options(model).items() if name not in but}
    elsewhere: dict[str, Any] = dict.fromkeys(but, (object, None))
    checked = create_model(model.__name__, __base__=model, **elsewhere)

    def decorate(service: Callable[P, R]) -> Callable[P, R]:
        parameters = inspect.signature(service).parameters
        takes_more = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
        for name, one in options.items():
            if takes_more and name not in parameters:
                continue  # among the further arguments there are no defaults
            default = parameters[name].default
            default = list(default) if isinstance(default, tuple) else default
            if default != (inspect.Parameter.empty if one.required else one.default):
                raise TypeError(f"{service.__qualname__} has another default of {name} than {model.__name__}")

        @wraps(service)
        def check_arguments(*args: P.args, **kwargs: P.kwargs) -> R:
            found = checked(**{name: value for name, value in kwargs.items() if name in options})
            kwargs.update({name: getattr(found, name) for name in options})
            return service(*args, **kwargs)

        return check_arguments

    return decorate
