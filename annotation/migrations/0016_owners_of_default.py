"""Every researcher that there is owns the project in which all is: nobody loses anything by an upgrade."""

from django.db import migrations


def make_owners(apps, schema_editor):
    project = apps.get_model("annotation", "Project").objects.get(slug="default")
    membership = apps.get_model("annotation", "Membership")
    people = apps.get_model("annotation", "User").objects.filter(is_researcher=True)
    membership.objects.bulk_create(
        [membership(project=project, user=one, role="owner") for one in people], ignore_conflicts=True
    )


class Migration(migrations.Migration):
    dependencies = [("annotation", "0015_projects")]

    operations = [migrations.RunPython(make_owners, migrations.RunPython.noop)]
