from importlib import import_module

from django.apps import AppConfig


class JudgingConfig(AppConfig):
    name = "judging"

    def ready(self) -> None:
        """Tell the line of a study about judges, whose they are, and what they answer."""
        import_module("judging.assessment.steps")
        import_module("judging.tenancy")
        import_module("judging.runs.queries.labels")
