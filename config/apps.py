from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        from django.conf import settings

        from config import checks, privacy  # noqa: F401 - registers the system checks

        privacy.tighten(settings.DATA_DIR, whole=settings.DATA_DIR == settings.BASE_DIR / "data")
