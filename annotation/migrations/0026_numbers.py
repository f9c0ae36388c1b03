from django.db import migrations


def call_numbers_numbers(apps, schema_editor):
    """Criteria without categories came from imports and took any number."""
    criteria = apps.get_model("annotation", "Criterion").objects.using(schema_editor.connection.alias)
    criteria.filter(type="choice", level__in=["interval", "ratio"], categories=[]).update(type="number")


def call_numbers_choices(apps, schema_editor):
    criteria = apps.get_model("annotation", "Criterion").objects.using(schema_editor.connection.alias)
    criteria.filter(type="number").update(type="choice")


class Migration(migrations.Migration):

    dependencies = [
        ("annotation", "0025_answer_types"),
    ]

    operations = [migrations.RunPython(call_numbers_numbers, call_numbers_choices)]
