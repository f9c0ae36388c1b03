"""The tables of `simulation`: who speaks, experiments, dialogues and every turn; what preferences there may be."""

from simulation.models.agent import Agent
from simulation.models.experiment import Experiment, SimulatedDialogue, Turn
from simulation.models.schema import PreferenceType

__all__ = ["Agent", "Experiment", "PreferenceType", "SimulatedDialogue", "Turn"]
