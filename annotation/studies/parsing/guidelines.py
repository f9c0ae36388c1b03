"""A guideline in a file: TOML as the templates of criteria have it, or plain text."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

from core.files.input_files import InputFile, not_utf8, read_document

FIELDS = ("question", "guideline", "categories")
OF_CATEGORY = ("value", "label", "guideline")


@dataclass(frozen=True)
class GuidelineText:
    """What a file says; None for what it does not say."""

    question: str | None = None
    guideline: str | None = None
    categories: list[dict[str, str]] | None = None


def read_guideline(file: InputFile) -> GuidelineText:
    """The question, the guideline and the categories of a .toml file; the guideline alone of any other text.

    Raises InputError naming the file, and the field where it knows.
    """
    data = read_document(file)
    if wrong := not_utf8(data):
        raise file.error(wrong[0], line=wrong[1])
    text = data.decode("utf-8")
    if not file.name.endswith(".toml"):
        return GuidelineText(guideline=text)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise file.error(f"is not TOML: {error}") from error
    except RecursionError as error:
        raise file.error("is not TOML that can be read: it is nested too deep") from error
    given = {name: document[name] for name in FIELDS if name in document}
    if not given:
        raise file.error(f"says none of {', '.join(FIELDS)}")
    for name in ("question", "guideline"):
        if not isinstance(given.get(name, ""), str):
            raise file.error("is a text", field=name)
    return GuidelineText(given.get("question"), given.get("guideline"), categories(file, given.get("categories")))


def categories(file: InputFile, given: object) -> list[dict[str, str]] | None:
    """Each [[categories]] with its value, label and guideline."""
    if given is None:
        return None
    if not isinstance(given, list) or not all(isinstance(one, dict) and "value" in one for one in given):
        raise file.error("is a list of tables, each with a value", field="categories")
    return [{name: str(one[name]) for name in OF_CATEGORY if name in one} for one in given]
