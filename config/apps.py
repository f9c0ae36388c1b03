from django.apps import AppConfig
from django.contrib.admin import apps as admin


class ConfigConfig(AppConfig):
    name = "config"
    default = True

    def ready(self) -> None:
        from config import checks  # noqa: F401 - registers the system checks


class AdministrationConfig(admin.AdminConfig):
    default = False
    default_site = "config.administration.Administration"
