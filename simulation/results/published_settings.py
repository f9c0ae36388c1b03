"""How PersonaLens (arXiv 2506.09902, with its authors' code) set up its experiments, as facts. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from simulation.results.published import load_table


@dataclass(frozen=True, slots=True)
class Side:
    """A model's part: its name as printed, its temperature, and the most tokens of a reply."""

    models: tuple[str, ...]
    temperature: float
    max_tokens: int


USER = Side(("Claude 3 Sonnet",), 0.5, 800)
ASSISTANT = Side(tuple(row[0] for row in load_table("table_3")["rows"]), 0.0, 800)
JUDGE = Side(("Claude 3.5 Sonnet 20241022",), 0.0, 4000)
REPEATS = 1
TURN_LEVEL = "one call for all turns, each scored in sight of later ones"
STRATEGY = "vanilla"
CONDITIONS = ("vanilla", "base", "base+D", "base+I", "base+S", "base+all")
"""Of the ablation; all other results are of base."""

EXCHANGES = {"single": 20, "multi": 30}
USERS, SINGLE_SCENARIOS, MULTI_SCENARIOS = 50, 3283, 813
"""A sample of users, with all scenarios that their masks allow."""


def is_model(name: str, printed: str) -> bool:
    """Whether a provider's name of a model, such as claude-3-sonnet-20240229, is of the one printed."""
    there, wanted = words(name), words(printed)
    return any(there[at : at + len(wanted)] == wanted for at in range(len(there)))


def words(name: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", name.lower())
