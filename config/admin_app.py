from django.contrib.admin.apps import AdminConfig


class AuditedAdminConfig(AdminConfig):
    """In the place of django.contrib.admin among the installed apps; no models may be imported here."""

    default_site = "config.audited_admin.AuditedSite"
