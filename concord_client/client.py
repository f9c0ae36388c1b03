"""The client: a method for every operation of the API."""

from __future__ import annotations

from concord_client.parts.account import Account
from concord_client.parts.benchmarks import Benchmarks
from concord_client.parts.experiments import Experiments
from concord_client.parts.judges import Judges
from concord_client.parts.labels import Labels
from concord_client.parts.material import Material
from concord_client.parts.projects import Projects
from concord_client.parts.queue import ComingIn
from concord_client.parts.studies import Studies
from concord_client.parts.trust import Trust
from concord_client.parts.work import Work
from concord_client.transport import ProblemError


class Concord(Account, Projects, Material, Studies, ComingIn, Labels, Work, Judges, Trust, Benchmarks, Experiments):
    """The API of one site with one token. `get`, `post`, `send` and `rows` take any address besides."""


__all__ = ["Concord", "ProblemError"]
