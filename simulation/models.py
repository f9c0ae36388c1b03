"""The tables of `simulation`: who speaks, experiments, dialogues and turns; preference types, and what models make."""

from simulation.agents.models import Agent
from simulation.experiments.models.experiments import DialogueMeasures, Experiment, SimulatedDialogue, Turn
from simulation.experiments.models.schemas import PreferenceType
from simulation.generation.models.candidates import Candidate, CandidateRun
from simulation.generation.models.orders import Conflict, ConflictReview, Making

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
