from django.db import migrations, models

from judging.assessment import row_triggers


def run(statements):
    def running(apps, schema_editor):
        with schema_editor.connection.cursor() as cursor:
            for statement in statements(schema_editor.connection.vendor):
                cursor.execute(statement)

    return running


KEPT = {"on_delete": models.DO_NOTHING}  # rows go behind the row that they belong to: see judging/models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0023_dependence_and_identity"),
        ("judging", "0017_locked_rules_and_signed_certificates"),
    ]
    operations = [
        migrations.AlterField(
            "revocation",
            "certificate",
            models.OneToOneField(to="judging.certificate", related_name="revocation", **KEPT),
        ),
        migrations.AlterField(
            "verdictrules",
            "study",
            models.ForeignKey(to="annotation.study", related_name="verdict_rules", **KEPT),
        ),
        migrations.RunPython(run(row_triggers.build_create_statements), run(row_triggers.build_drop_statements)),
    ]
