"""What a request says: strict serializers, written out or made from the options of a verb."""

from __future__ import annotations

from functools import cache
from typing import Any

from rest_framework import serializers

from core.options.fields import build_serializer
from core.options.model import Options


class Given(serializers.Serializer[Any]):
    """What a request says. A name that is not known is refused: a slip of the pen must not go unnoticed."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := [str(name) for name in data if name not in self.fields]):
            known = ", ".join(self.fields) or "none"
            raise serializers.ValidationError(dict.fromkeys(unknown, f"There is no such field; there are: {known}."))
        return super().to_internal_value(data)


class IntoProject(Given):
    """What is made of such a body belongs to a project."""

    project = serializers.CharField(
        required=False, max_length=130, help_text="Address of the project it goes into; the chosen one if not given."
    )


Shape = type[serializers.Serializer[Any]] | type[Options]


@cache
def resolve_shape(given: Shape) -> type[serializers.Serializer[Any]]:
    """The serializer of a body or query: itself, or the one made from the options of a verb."""
    if not issubclass(given, Options):
        return given
    return build_serializer(given, IntoProject if given.makes_root else Given, Given)
