"""Pictures of an item as the parts of a message in which providers send them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path

from core.jobs.backoff import PermanentError
from judging.judges.providers.requests import Picture


def read_base64(picture: Picture) -> str:
    """The picture's bytes. PermanentError where the data folder has lost them."""
    try:
        return b64encode(Path(picture.path).read_bytes()).decode("ascii")
    except OSError as error:
        raise PermanentError(f"The picture {picture.name} cannot be read: {error.strerror}.") from error


def to_anthropic(pictures: Iterable[Picture]) -> list[dict[str, object]]:
    """Each picture behind a line that says which it is."""
    parts: list[dict[str, object]] = []
    for one in pictures:
        source = {"type": "base64", "media_type": one.type, "data": read_base64(one)}
        parts += [{"type": "text", "text": f"{one.name}:"}, {"type": "image", "source": source}]
    return parts


def to_openai(pictures: Iterable[Picture]) -> list[dict[str, object]]:
    """Each picture behind a line that says which it is."""
    parts: list[dict[str, object]] = []
    for one in pictures:
        url = {"url": f"data:{one.type};base64,{read_base64(one)}"}
        parts += [{"type": "text", "text": f"{one.name}:"}, {"type": "image_url", "image_url": url}]
    return parts
