from importlib import import_module

from django.apps import AppConfig


class SimulationConfig(AppConfig):
    name = "simulation"

    def ready(self) -> None:
        """Say whose its tables are, and who warns of the dialogues made here."""
        import_module("simulation.tenancy")
        warnings = import_module("judging.assessment.material_warnings")
        warnings.register("simulation.results.services.differences.warn_of_study")
