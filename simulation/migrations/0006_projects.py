"""All that there is comes into one project."""

import django.db.models.deletion
from django.apps import apps as now
from django.db import migrations, models


def default_project():
    """The key that existing rows get."""
    return now.get_model("annotation", "Project").objects.order_by().values_list("pk", flat=True).get(slug="default")


def in_project():
    return models.ForeignKey(
        "annotation.project", default=default_project, on_delete=django.db.models.deletion.PROTECT, related_name="+"
    )


class Migration(migrations.Migration):
    dependencies = [("annotation", "0015_projects"), ("simulation", "0005_reserved_usd")]

    operations = [
        migrations.AddField("experiment", "project", in_project(), preserve_default=False),
        migrations.AddField("making", "project", in_project(), preserve_default=False),
        migrations.AddField("candidaterun", "project", in_project(), preserve_default=False),
    ]
