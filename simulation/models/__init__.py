"""The tables of `simulation`: who speaks, experiments, dialogues and turns; preference types, and what models make."""

from simulation.models.agent import Agent
from simulation.models.candidate import Candidate, CandidateRun
from simulation.models.experiment import DialogueMeasures, Experiment, SimulatedDialogue, Turn
from simulation.models.making import Conflict, ConflictReview, Making
from simulation.models.schema import PreferenceType

__all__ = [
    "Agent",
    "Candidate",
    "CandidateRun",
    "Conflict",
    "ConflictReview",
    "DialogueMeasures",
    "Experiment",
    "Making",
    "PreferenceType",
    "SimulatedDialogue",
    "Turn",
]
