"""Errors that tell a person what is wrong with what they gave."""

from __future__ import annotations

from collections.abc import Callable

gettext: Callable[[str], str] = str
"""Says a text in the language of the moment; the site puts Django's here."""


def gettext_noop(text: str) -> str:
    """Mark a text that a page translates, in a module that does not import Django."""
    return text


class InputError(ValueError):
    """Something given from outside cannot be used. Says where: file, line and field, as far as they are known.

    With `parts`, the message is a template for `str.format`.
    """

    status = 400
    """Status of the HTTP answer."""

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        field: str | None = None,
        **parts: object,
    ) -> None:
        super().__init__(message)
        self.template, self.parts = message, parts
        self.file, self.line, self.field = file, line, field

    @property
    def message(self) -> str:
        """What is wrong, in the language of the moment."""
        template = gettext(self.template)
        return template.format(**self.parts) if self.parts else template

    def __str__(self) -> str:
        place = [
            part
            for part in (
                self.file,
                gettext("line {line}").format(line=self.line) if self.line is not None else None,
                gettext("field {field}").format(field=self.field) if self.field else None,
            )
            if part
        ]
        return f"{', '.join(place)}: {self.message}" if place else self.message


class NotComputedError(InputError):
    """What was asked for takes longer than one waits for an answer: a worker computes it, once it is asked to."""

    status = 409
