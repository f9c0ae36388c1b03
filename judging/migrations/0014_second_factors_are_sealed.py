"""Secrets of authenticator apps and recovery codes, which stood readable in the database, are sealed."""

from django.db import migrations

from judging.judges.second_factors import change_secrets, seal, unseal


def change_all(apps, change):
    for row in apps.get_model("mfa", "Authenticator").objects.exclude(type="webauthn"):
        row.data = change_secrets(row.data, change)
        row.save(update_fields=["data"])


def seal_all(apps, schema_editor):
    change_all(apps, seal)


def unseal_all(apps, schema_editor):
    change_all(apps, unseal)


class Migration(migrations.Migration):

    dependencies = [
        ('judging', '0013_judgments_of_a_run'),
        ('mfa', '0003_authenticator_type_uniq'),
    ]

    operations = [migrations.RunPython(seal_all, unseal_all)]
