from importlib import import_module

from django.apps import AppConfig


class SimulationConfig(AppConfig):
    name = "simulation"

    def ready(self) -> None:
        """Say whose its tables are."""
        import_module("simulation.walls")
