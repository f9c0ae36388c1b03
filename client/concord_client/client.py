"""The client: a method for every operation of the API."""

from __future__ import annotations

from concord_client.renamed import Renamed
from concord_client.transport import ProblemError


class Concord(Renamed):
    """The API of one site with one token. `get`, `post`, `send` and `rows` take any address besides."""


__all__ = ["Concord", "ProblemError"]
