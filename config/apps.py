from django.apps import AppConfig
from django.contrib.admin import apps as admin


class ConfigConfig(AppConfig):
    name = "config"
    default = True

    def ready(self) -> None:
        from django.conf import settings
        from django.utils.translation import gettext

        from config import audit_events, checks, data_folder  # noqa: F401 - connects signals, registers the checks
        from core import errors

        errors.gettext = gettext

        data_folder.tighten(settings.DATA_DIR, whole=settings.DATA_DIR == settings.BASE_DIR / "data")


class AdministrationConfig(admin.AdminConfig):
    default = False
    default_site = "config.administration.AuditedSite"
