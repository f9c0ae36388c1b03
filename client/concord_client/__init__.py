"""A typed client of Concord's API.

    from concord_client import Concord

    concord = Concord("http://localhost:8000", token="concord_…")
    for study in concord.studies():
        print(study["name"], study["n_items"])

Every operation of the API is a method; `concord_client.types` has what it takes and answers. An answer that is a
problem is raised as `ProblemError`, with file, line and field as far as they are known.
"""

from concord_client.client import Concord, ProblemError
from concord_client.signatures import is_signed

__all__ = ["Concord", "ProblemError", "is_signed"]
