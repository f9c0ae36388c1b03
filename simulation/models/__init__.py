"""The tables of `simulation`: who speaks, experiments, their dialogues and every turn."""

from simulation.models.agent import Agent
from simulation.models.experiment import Experiment, SimulatedDialogue, Turn

__all__ = ["Agent", "Experiment", "SimulatedDialogue", "Turn"]
