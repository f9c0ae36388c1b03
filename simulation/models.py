"""The tables of `simulation`: who speaks, experiments, dialogues and turns; preference types, and what models make."""

from simulation.agents.models import Agent
from simulation.experiments.models import DialogueMeasures, Experiment, PreferenceType, SimulatedDialogue, Turn
from simulation.generation.models import Candidate, CandidateRun, Conflict, ConflictReview, Making

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
