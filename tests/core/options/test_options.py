"""One declaration gives a form, a REST body, arguments of a command and the check of a service."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Annotated, Any, Self

import pytest
from django import forms
from pydantic import Field, model_validator
from rest_framework import serializers

from core.api.bodies import Given, resolve_shape
from core.errors import InputError
from core.options.fields import OptionsForm, add_arguments, build_form_field, read_arguments, split_names
from core.options.model import Choices, Hint, Options, check_options, read_options

COLOURS = {"red": "Bright red", "blue": "Deep blue"}


class Part(Options):
    """A part of a walk."""

    place: str = Field(min_length=1)


class Walk(Options):
    """Take a walk."""

    name: Annotated[str, Hint(positional=True)] = Field(min_length=1, max_length=5)
    steps: int = Field(3, ge=1, le=9, title="Steps", description="More than 100 % is too many.")
    share: float = Field(0.5, ge=0, le=1)
    colour: Annotated[str, Choices(COLOURS)] = "red"
    other: Annotated[str | None, Choices(COLOURS), Hint(option="second", radio=True)] = None
    friends: Annotated[list[str], Hint(metavar="NAME")] = []
    seen: list[str] | None = None
    notes: Annotated[str, Hint(rows=4)] = ""
    most: Annotated[int | None, Hint(null=True)] = Field(None, ge=2)
    fast: bool = Field(False, title="Walk fast")
    parts: list[Part] = []

    @model_validator(mode="after")
    def compare(self) -> Self:
        if self.most is not None and self.most < self.steps:
            raise InputError("It must not be less than the steps.", field="most")
        return self


@check_options(Walk, but=("parts",))
def walk(
    *,
    by: str,
    name: str,
    steps: int = 3,
    share: float = 0.5,
    colour: str = "red",
    other: str | None = None,
    friends: tuple[str, ...] = (),
    seen: list[str] | None = None,
    notes: str = "",
    most: int | None = None,
    fast: bool = False,
) -> dict[str, Any]:
    return {"by": by, "name": name, "steps": steps, "friends": friends, "colour": colour}


class WalkForm(OptionsForm):
    places = {"parts": "name"}

    def __init__(self, data: dict[str, Any] | None = None) -> None:
        super().__init__(data)
        self.add(Walk, "name", "steps", "colour", "friends", "notes", "most", "fast", other="second")
        self.set("friends", choices=[("ann", "Ann"), ("bob", "Bob")])


class Command(ArgumentParser):
    """As of Django: what is wrong is raised."""

    def error(self, message: str) -> Any:
        raise ValueError(message)


def parse(*words: str, **defaults: Any) -> dict[str, Any]:
    parser = Command()
    add_arguments(parser, Walk, but=("parts",), **defaults)
    return read_arguments(Walk, vars(parser.parse_args(words)), but=("parts",))


def body(**given: Any) -> serializers.Serializer[Any]:
    return resolve_shape(Walk)(data=given)


WRONG = [
    ({"name": ""}, "name", "This field is required."),
    ({"name": "longer"}, "name", "Ensure this value has at most 5 characters."),
    ({"steps": 0}, "steps", "Ensure this value is greater than or equal to 1."),
    ({"steps": 10}, "steps", "Ensure this value is less than or equal to 9."),
    ({"steps": "many"}, "steps", "Enter a whole number."),
    ({"colour": "pink"}, "colour", "Select a valid choice. pink is not one of the available choices."),
]


class TestWords:
    """Every interface refuses the same value with the same words at the same field."""

    @pytest.mark.parametrize(("given", "field", "words"), WRONG)
    def test_of_the_service(self, given, field, words):
        with pytest.raises(InputError) as wrong:
            walk(by="me", **{"name": "Hill", **given})
        assert (wrong.value.field, wrong.value.message) == (field, words)

    @pytest.mark.parametrize(("given", "field", "words"), WRONG)
    def test_of_the_body(self, given, field, words):
        serializer = body(**{"name": "Hill", **given})
        assert not serializer.is_valid()
        assert {name: [str(one) for one in errors] for name, errors in serializer.errors.items()} == {field: [words]}

    @pytest.mark.parametrize(("given", "field", "words"), WRONG)
    def test_of_the_form(self, given, field, words):
        form = WalkForm({"name": "Hill", "steps": 3, **given})
        assert form.errors.keys() == {field}
        assert form.errors[field][0].startswith(words.rstrip("."))  # Django adds how many characters there are

    def test_what_is_missing_or_unknown(self):
        with pytest.raises(InputError, match=r"^field name: This field is required\.$"):
            Walk.check({})
        with pytest.raises(InputError, match=r"^field stepps: There is no such field\.$"):
            Walk.check({"name": "Hill", "stepps": 3})
        wrong = body(name="Hill", stepps=3, parts=[{"place": "top", "high": 1}])
        assert not wrong.is_valid()
        assert wrong.errors.keys() == {"stepps"}
        inside = body(name="Hill", parts=[{"place": "top"}, {"place": "", "high": 1}])
        assert not inside.is_valid()
        assert inside.errors["parts"][1].keys() == {"high"}

    def test_an_error_of_the_model_keeps_its_field(self):
        with pytest.raises(InputError, match="not be less") as wrong:
            walk(by="me", name="Hill", most=2)
        assert wrong.value.field == "most"

    def test_a_part_is_named_by_its_place(self):
        with pytest.raises(InputError, match="required") as wrong:
            Walk.check({"name": "Hill", "parts": [{"place": "top"}, {"place": " "}]})
        assert wrong.value.field == "parts.1.place"

    def test_a_null_character_is_refused(self):
        with pytest.raises(InputError, match="cannot be kept") as wrong:
            Walk.check({"name": "a\0b"})
        assert wrong.value.field == "name"


class TestService:
    def test_defaults_are_the_models_and_texts_are_stripped(self):
        assert walk(by="me", name=" Hill ") == {
            "by": "me",
            "name": "Hill",
            "steps": 3,
            "friends": [],
            "colour": "red",
        }

    def test_another_default_is_found_when_the_module_is_loaded(self):
        def stroll(*, name: str, steps: int = 4) -> None: ...

        with pytest.raises(TypeError, match="another default of steps than Walk"):
            check_options(Walk, but=set(Walk.model_fields) - {"name", "steps"})(stroll)

    def test_a_default_where_the_model_asks_for_one_is_found_too(self):
        def stroll(*, name: str = "Hill") -> None: ...

        with pytest.raises(TypeError, match="another default of name"):
            check_options(Walk, but=set(Walk.model_fields) - {"name"})(stroll)


class TestForm:
    def test_fields_have_labels_helps_limits_and_widgets(self):
        fields = WalkForm().fields
        steps = fields["steps"]
        assert isinstance(steps, forms.IntegerField)
        assert (steps.label, steps.help_text, steps.initial) == ("Steps", "More than 100 % is too many.", 3)
        assert (steps.min_value, steps.max_value, steps.required) == (1, 9, False)
        assert fields["name"].required
        assert fields["notes"].widget.attrs["rows"] == 4
        assert isinstance(fields["second"].widget, forms.RadioSelect)
        assert fields["colour"].choices == list(COLOURS.items())

    def test_what_is_left_empty_keeps_its_default(self):
        form = WalkForm({"name": "Hill", "steps": "", "colour": "", "friends": ["ann"]})
        assert form.is_valid()
        entered = form.arguments("name", "steps", "colour", "friends", "most", "fast", other="second")
        assert entered == {"name": "Hill", "friends": ["ann"], "fast": False}
        assert walk(by="me", **entered)["steps"] == 3

    def test_an_error_of_the_service_stands_at_its_field(self):
        form = WalkForm({"name": "Hill"})
        assert form.is_valid()
        form.refuse(InputError("Not both.", field="other"))
        form.refuse(InputError("Too many.", field="parts"))
        form.refuse(InputError("Not now.", field="weather"))
        assert form.errors == {"second": ["Not both."], "name": ["Too many."], "__all__": ["Not now."]}

    def test_a_type_that_no_interface_shows_is_refused(self):
        class Odd(Options):
            """Several types."""

            value: int | str

        with pytest.raises(TypeError, match="several types"):
            read_options(Odd)
        with pytest.raises(KeyError):
            build_form_field(read_options(Walk)["parts"].item)


class TestBody:
    def test_it_is_named_and_described_by_the_model(self):
        shape = resolve_shape(Walk)
        assert (shape.__name__, shape.__doc__) == ("Walk", "Take a walk.")
        assert issubclass(shape, Given)
        assert shape().fields["steps"].help_text == "Steps. More than 100 % is too many."

    def test_defaults_are_filled_in_and_none_is_left_out(self):
        serializer = body(name="Hill", parts=[{"place": "top"}])
        assert serializer.is_valid()
        assert serializer.validated_data == {
            "name": "Hill",
            "steps": 3,
            "share": 0.5,
            "colour": "red",
            "friends": [],
            "notes": "",
            "fast": False,
            "parts": [{"place": "top"}],
        }

    def test_null_is_allowed_where_a_hint_says_so(self):
        assert body(name="Hill", most=None).is_valid()
        assert not body(name="Hill", other=None).is_valid()

    def test_a_default_list_is_not_shared(self):
        first, second = body(name="Hill"), body(name="Hill")
        assert first.is_valid()
        assert second.is_valid()
        first.validated_data["friends"].append("ann")
        assert second.validated_data["friends"] == []

    def test_what_makes_a_root_may_name_a_project(self):
        class Root(Options):
            """Make a root."""

            makes_root = True
            name: str

        assert list(resolve_shape(Root)().fields) == ["project", "name"]


class TestCommand:
    def test_every_option_has_an_argument(self):
        numbers = ["--steps", "4", "--most", "7", "--share", "0.25"]
        words = ["Hill", "--second", "blue", "--friends", "ann,bob", "eve", "--seen", "--fast", *numbers]
        assert parse(*words) == {
            "name": "Hill",
            "steps": 4,
            "share": 0.25,
            "colour": "red",
            "other": "blue",
            "friends": ["ann", "bob", "eve"],
            "seen": [],
            "notes": "",
            "most": 7,
            "fast": True,
        }

    def test_a_command_may_have_a_default_of_its_own(self):
        assert parse(name="Dale")["name"] == "Dale"
        with pytest.raises(ValueError, match="required: name"):
            parse()

    @pytest.mark.parametrize("words", ["--steps many", "--colour pink", "--friends"])
    def test_what_cannot_be_read_is_refused(self, words):
        with pytest.raises(ValueError, match=words.split()[0]):
            parse("Hill", *words.split())

    def test_the_help_says_texts_and_defaults(self):
        parser = Command()
        add_arguments(parser, Walk, but=("parts",))
        shown = " ".join(parser.format_help().split())
        assert "Steps. More than 100 % is too many. (default: 3)" in shown
        assert "--friends NAME [NAME ...]" in shown

    @pytest.mark.parametrize("given", ["a, b", ["a,b"], ["a", "b"], ["a", "", "b,"]])
    def test_names_are_split_at_commas(self, given):
        assert split_names(given) == ["a", "b"]
        assert split_names(None) == []
