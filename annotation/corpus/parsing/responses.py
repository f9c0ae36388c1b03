"""The responses of a record: under names of their own, or as a list of 1 to 12 texts, contents or dialogues (pure).

{"question": "…", "responses": ["a text", {"text": "…", "model": "m-1"}, {"turns": [{"role": "user", …}, …]}]}
{"question": "…", "response_1": "…", "response_2": "…", "response_3": "…", "model_3": "m-3"}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

from annotation.corpus.parsing.contents import read_content, read_message, write_talk
from annotation.stats.orders import MOST

FROM = range(3, MOST + 1)
"""Numbers of the responses that have no columns of their own."""

TEXT_KEYS = ("text", "content", "response", "completion")
TALK_KEYS = ("turns", "messages", "conversation")


def gather(given: dict[str, Any]) -> dict[str, Any]:
    """The record with the first two responses under their names and the others in `further`. ValueError says what is
    wrong with them; a plain pair comes back as it is."""
    found = [] if "responses" not in given else read_list(given)
    numbered = [number for number in FROM if f"response_{number}" in given]
    if not found and not numbered:
        return given
    told = given.get("parts") or {}
    if not isinstance(told, dict):
        raise ValueError("parts: should be an object")  # noqa: TRY004 — pydantic tells it to the person
    found = found or read_numbered(given, numbered[-1], told)
    used = {"responses", *(f"{name}_{number}" for number in FROM for name in ("response", "model"))}
    rest = {name: value for name, value in given.items() if name not in used}
    return {**rest, **spread(found, told)}


def read_list(given: Mapping[str, object]) -> list[dict[str, object]]:
    """The responses of a list. ValueError where it is none, or has too few or too many."""
    both = [name for name in ("response_1", "response_2", "further") if given.get(name)]
    if both:
        raise ValueError(f"responses: there is also {both[0]}; give the responses in one way")
    listed = given["responses"]
    if not isinstance(listed, list):
        raise ValueError("responses: should be a list")  # noqa: TRY004 — pydantic tells it to the person
    check_count(len(listed))
    return [read_response(one, number) for number, one in enumerate(listed, start=1)]


def check_count(n: int) -> None:
    if not 1 <= n <= MOST:
        raise ValueError(f"responses: an item has 1 to {MOST} responses, not {n}")


def read_numbered(given: Mapping[str, object], last: int, told: Mapping[str, object]) -> list[dict[str, object]]:
    """The responses 1 to `last` under their names. ValueError where one is missing in between."""
    for number in range(1, last):
        if f"response_{number}" not in given:
            raise ValueError(f"response_{number}: is missing, and there is a response_{last}")
    return [
        read_response(given[f"response_{n}"], n)
        | {"model": str(given.get(f"model_{n}") or "")}
        | ({"parts": told[f"response_{n}"]} if f"response_{n}" in told else {})
        for n in range(1, last + 1)
    ]


def read_response(given: object, number: int) -> dict[str, object]:
    """Text, model and parts of one response. ValueError names it by its number."""
    try:
        if not isinstance(given, dict):
            return read_text(given) | {"model": ""}
        read = read_text(find_text(given))
        return read | {"model": str(given.get("model") or ""), "parts": given.get("parts") or read["parts"]}
    except ValueError as error:
        raise ValueError(f"responses.{number}: {error}") from error


def find_text(given: Mapping[str, object]) -> object:
    """What a response says, under the name that it goes by."""
    for name in (*TALK_KEYS, *TEXT_KEYS):
        if name in given:
            return given[name]
    raise ValueError(f"has none of {', '.join((*TEXT_KEYS, *TALK_KEYS))}")


def read_text(given: object) -> dict[str, object]:
    """A text, a list of parts, or a list of messages as the text of a dialogue."""
    if is_talk(given):
        text, parts = write_talk(normalise(one) for one in given)
    else:
        text, parts = read_content(given)
    return {"text": text, "parts": parts}


def is_talk(given: object) -> TypeGuard[list[dict[str, object]]]:
    """Whether it is a list of messages."""
    return isinstance(given, list) and bool(given) and all(isinstance(one, dict) and "role" in one for one in given)


def normalise(message: Mapping[str, object]) -> dict[str, object]:
    """A message as role, content and parts. ValueError where it says nothing."""
    read = read_message(message)
    content = read.get("content")
    if not isinstance(content, str):
        raise ValueError("a message has a role and a content")  # noqa: TRY004 — as above
    content = content.replace("\r\n", "\n").replace("\r", "\n") if not read.get("parts") else content
    return {"role": read["role"], "content": content, "parts": read.get("parts") or []}


def spread(found: list[dict[str, object]], told: Mapping[str, object]) -> dict[str, object]:
    """The fields of a record that hold these responses. `told` are the parts of other texts."""
    names = [f"response_{number}" for number in (1, 2)]
    first = dict(zip(names, found, strict=False))
    parts = {name: value for name, value in told.items() if not name.startswith("response_")}
    return {
        **{name: first.get(name, {"text": ""})["text"] for name in names},
        **{f"model_{n}": first.get(name, {}).get("model", "") for n, name in enumerate(names, start=1)},
        "parts": parts | {name: one["parts"] for name, one in first.items() if one.get("parts")},
        "n_responses": len(found),
        "further": found[2:],
    }
