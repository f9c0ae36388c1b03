"""What becomes of each case after a round of votes: a stated rule, and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from annotation.stats.bands import DEFAULT_CUTS, Cuts, check_cuts
from annotation.stats.benchmarks.votes import STATES, CaseVotes
from annotation.stats.tiers import Chance

KEPT, DROPPED, AGAIN = "kept", "dropped", "asked again"
OUTCOMES = (KEPT, DROPPED, AGAIN)
USUAL: Mapping[str, str] = {
    "too few": AGAIN,
    "tied": AGAIN,
    "no preference": DROPPED,
    "contested": DROPPED,
    "hard": KEPT,
    "medium": KEPT,
    "easy": KEPT,
}


@dataclass(frozen=True)
class Rule:
    """Which state of the votes leads to which outcome, and how the states are made.

    Raises
    ------
    ValueError
        If a state or outcome does not exist, a number is out of range, or what cannot have gold is to be kept.
    """

    outcomes: Mapping[str, str] = field(default_factory=dict)
    cuts: Cuts = DEFAULT_CUTS
    chance: Chance = "uniform"
    min_votes: int = 2

    def __post_init__(self) -> None:
        check_cuts(self.cuts)
        if self.min_votes < 1:
            raise ValueError(f"the least number of votes is {self.min_votes}; it must be 1 or more")
        for state, outcome in self.outcomes.items():
            if state not in STATES:
                raise ValueError(f"{state!r} is not one of {', '.join(STATES)}")
            if outcome not in OUTCOMES:
                raise ValueError(f"{outcome!r} is not one of {', '.join(OUTCOMES)}")
        object.__setattr__(self, "outcomes", {**USUAL, **self.outcomes})

    def decide_outcome(self, case: CaseVotes) -> str:
        """The outcome of a case."""
        return self.outcomes[case.state]

    def to_json(self) -> dict[str, object]:
        """As it is kept with a round."""
        return {
            "outcomes": dict(self.outcomes),
            "cuts": list(self.cuts),
            "chance": self.chance,
            "min_votes": self.min_votes,
        }
