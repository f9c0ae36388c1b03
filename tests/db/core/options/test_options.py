"""One declaration gives a form, a REST body, arguments of a command and the check of a service."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Self

import pytest
from django import forms
from pydantic import Field, StringConstraints, model_validator
from rest_framework import serializers

from core.api.schema import Given, resolve_shape
from core.errors import InputError
from core.options.fields import OptionsForm, add_arguments, build_form_field, read_arguments, split_names
from core.options.model import Choices, Dollars, Hint, Options, check_options, read_options

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


class Trip(Options):
    """Plan a trip."""

    day: date = Field(title="Day")
    fare: Annotated[Dollars | None, Hint(null=True)] = Field(None, ge=0)
    is_kept: Annotated[bool, Hint(option="no-keeping", off="Forget it")] = True
    nights: Annotated[int, Hint(wrong="From 1 to 9 nights.")] = Field(1, ge=1, le=9)
    stops: list[Annotated[int, Field(ge=1)]] = []
    poem: Annotated[str, StringConstraints(strip_whitespace=False), Hint(rows=2)] = ""
    settings: dict[str, Any] = {}
    texts: dict[str, str] | None = None
    guide: Part | None = None
    road: str = Field("", title="Road")


@check_options(Trip, but=("day", "settings", "guide"))
def travel(*, day: str, nights: int = 1, **others: Any) -> dict[str, Any]:
    return {"day": day, "nights": nights, **others}


class TripForm(OptionsForm):
    verb, asks = Trip, ("day", "fare", "nights", "poem", "settings", "texts")

    def __init__(self, data: dict[str, Any] | None = None) -> None:
        super().__init__(data)
        self.add(Trip, "road", is_kept="forget")
        self.set("road", choices=[("a1", "A1")], widget=forms.RadioSelect())


class TestMoreTypes:
    def test_a_service_may_take_some_in_another_form_and_others_by_name(self):
        assert travel(day="tomorrow", fare="2.50", stops=["1"]) == {
            "day": "tomorrow",
            "nights": 1,
            "fare": Decimal("2.50"),
            "is_kept": True,
            "stops": [1],
            "poem": "",
            "texts": None,
            "road": "",
        }

    @pytest.mark.parametrize(
        ("given", "field", "words"),
        [
            ({"nights": 0}, "nights", "From 1 to 9 nights."),
            ({"fare": -1}, "fare", "Ensure this value is greater than or equal to 0."),
            ({"fare": "much"}, "fare", "Enter a number."),
            ({"fare": Decimal("1e400")}, "fare", "Ensure that there are no more than 12 digits in total."),
            ({"fare": "0.00001"}, "fare", "Ensure that there are no more than 4 decimal places."),
            ({"fare": 10**8}, "fare", "Ensure that there are no more than 8 digits before the decimal point."),
            ({"stops": [1, 0]}, "stops", "Ensure this value is greater than or equal to 1."),
            ({"is_kept": "perhaps"}, "is_kept", "Enter true or false."),
        ],
    )
    def test_a_service_says_what_is_wrong(self, given, field, words):
        with pytest.raises(InputError) as wrong:
            travel(day="tomorrow", **given)
        assert (wrong.value.field, wrong.value.message) == (field, words)

    @pytest.mark.parametrize(
        ("given", "field", "words"),
        [
            ({"day": "soon"}, "day", "Enter a valid date."),
            ({"guide": {"place": ""}}, "guide.place", "This field is required."),
        ],
    )
    def test_so_do_options_when_they_are_made(self, given, field, words):
        with pytest.raises(InputError) as wrong:
            Trip(**{"day": "2026-01-02", **given})
        assert (wrong.value.field, wrong.value.message) == (field, words)

    def test_a_form_has_fields_of_every_type(self):
        fields = TripForm().fields
        assert fields["day"].widget.input_type == "date"
        assert isinstance(fields["fare"], forms.DecimalField)
        assert fields["poem"].widget.attrs == {"rows": 2, "spellcheck": "false", "cols": "40"}
        assert isinstance(fields["road"], forms.ChoiceField)
        assert (fields["road"].label, fields["road"].required) == ("Road", False)
        assert list(fields["road"].widget.choices) == [("a1", "A1")]
        assert [name for name, field in fields.items() if field.shows_default] == ["nights", "forget"]
        assert (fields["forget"].label, fields["forget"].initial) == ("Forget it", False)

    def test_what_turns_off_is_turned_round(self):
        form = TripForm({"day": "2026-01-02", "forget": "on", "poem": " o \n", "settings": '{"a": [1]}'})
        assert form.is_valid(), form.errors
        assert form.arguments(is_kept="forget") == {"is_kept": False}
        assert form.arguments() == {"day": date(2026, 1, 2), "poem": " o \n", "settings": {"a": [1]}, "texts": {}}

    @pytest.mark.parametrize(
        ("field", "text", "words"),
        [
            ("settings", "[1]", "Enter a JSON object, in braces."),
            ("settings", "{", "This is not JSON, is nested more than 200 deep, or holds a NUL character."),
            ("texts", '{"a": 1}', "Enter a JSON object of texts."),
        ],
    )
    def test_a_field_of_json_takes_an_object(self, field, text, words):
        assert TripForm({"day": "2026-01-02", field: text}).errors == {field: [words]}

    @pytest.mark.django_db
    def test_what_a_service_refuses_stands_at_its_field(self):
        form = TripForm({"day": "2026-01-02"})
        assert form.is_valid()
        assert form.done(lambda: travel(day="tomorrow")) == travel(day="tomorrow")
        assert form.done(lambda: travel(day="tomorrow", nights=0)) is None
        assert form.errors == {"nights": ["From 1 to 9 nights."]}

    def test_a_body_has_fields_of_every_type(self):
        given = {"day": "2026-01-02", "fare": "1.5", "is_kept": False, "poem": " o ", "settings": {"a": [1]}}
        serializer = resolve_shape(Trip)(data={**given, "guide": {"place": "top"}, "stops": [2]})
        assert serializer.is_valid(), serializer.errors
        found = serializer.validated_data
        assert (found["day"], found["fare"], found["poem"]) == (date(2026, 1, 2), Decimal("1.5"), " o ")
        assert (found["settings"], found["guide"], found["stops"]) == ({"a": [1]}, {"place": "top"}, [2])
        assert "texts" not in found

    def test_a_command_has_arguments_of_every_type(self):
        parser = Command()
        but = ("settings", "texts", "guide", "poem")
        add_arguments(parser, Trip, but=but)
        words = ["--day", "2026-01-02", "--fare", "2.5", "--no-keeping", "--stops", "1", "2"]
        found = read_arguments(Trip, vars(parser.parse_args(words)), but=but)
        assert found["day"] == date(2026, 1, 2)
        assert (found["fare"], found["is_kept"], found["stops"]) == (Decimal("2.5"), False, [1, 2])
        with pytest.raises(ValueError, match="not an amount of dollars"):
            parser.parse_args(["--day", "2026-01-02", "--fare", "NaN"])

    def test_the_shape_of_options_is_named_without_that_word(self):
        class HikeOptions(Options):
            """Take a hike."""

        assert resolve_shape(HikeOptions).__name__ == "Hike"
