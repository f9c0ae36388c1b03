from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        from config import audit_events, checks  # noqa: F401 - connects signals, registers the system checks
