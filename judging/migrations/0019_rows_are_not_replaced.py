from django.db import migrations

from judging.assessment import row_triggers


def make(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        for statement in row_triggers.build_create_statements(schema_editor.connection.vendor):
            cursor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0024_adaptive_overlap"),
        ("judging", "0018_rows_stay_as_written"),
    ]
    operations = [migrations.RunPython(make, migrations.RunPython.noop)]
