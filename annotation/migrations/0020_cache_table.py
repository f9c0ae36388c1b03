"""The table of the cache that several hosts share where there is no Redis."""

from django.core.management import call_command
from django.db import migrations

TABLE = "concord_cache"


def make(apps, schema_editor):
    call_command("createcachetable", TABLE, database=schema_editor.connection.alias, verbosity=0)


def drop(apps, schema_editor):
    schema_editor.execute(schema_editor.sql_delete_table % {"table": schema_editor.quote_name(TABLE)})


class Migration(migrations.Migration):
    dependencies = [("annotation", "0019_assignment_rated")]
    operations = [migrations.RunPython(make, drop)]
