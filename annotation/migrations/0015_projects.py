"""Projects, and all that there is in one of them."""

import django.db.models.deletion
from django.apps import apps as now
from django.conf import settings
from django.db import migrations, models


def make_default(apps, schema_editor):
    """The project in which a site begins. It is made everywhere: a new site needs one as well."""
    apps.get_model("annotation", "Project").objects.get_or_create(slug="default", defaults={"name": "Default"})


def default_project():
    """The key that existing rows get. Only columns that this migration makes are asked."""
    return now.get_model("annotation", "Project").objects.order_by().values_list("pk", flat=True).get(slug="default")


def in_project():
    return models.ForeignKey(
        "annotation.project", default=default_project, on_delete=django.db.models.deletion.PROTECT, related_name="+"
    )


class Migration(migrations.Migration):
    dependencies = [("annotation", "0014_rounds_and_known_turns")]

    operations = [
        migrations.CreateModel(
            name="Project",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=120, unique=True)),
                ("slug", models.SlugField(max_length=130, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"ordering": ["name"]},
        ),
        migrations.RunPython(make_default, migrations.RunPython.noop),
        migrations.AddField("study", "project", in_project(), preserve_default=False),
        migrations.AddField("benchmark", "project", in_project(), preserve_default=False),
        migrations.AddField("webhook", "project", in_project(), preserve_default=False),
        migrations.AddField(
            "user",
            "working_in",
            models.ForeignKey(
                blank=True,
                help_text="Where new things of theirs go.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="annotation.project",
            ),
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[("owner", "owner"), ("researcher", "researcher"), ("adjudicator", "adjudicator")],
                        max_length=16,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to="annotation.project",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "user"), name="membership_one_per_project"),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["owner", "researcher", "adjudicator"])),
                        name="membership_role_is_known",
                    ),
                ],
            },
        ),
    ]
