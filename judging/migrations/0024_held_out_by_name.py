"""What is held out is told by lasting names; what was drawn by numbers of rows stays as it was drawn."""

import hashlib

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

FIELDS = {
    "dialogue": (
        "dialogue__scenario__profile_id",
        "dialogue__scenario__profile__source",
        "dialogue__scenario__profile__external_id",
        "dialogue_id",
        "dialogue__source",
        "dialogue__external_id",
    ),
    "pair": ("pair__profile_id", "pair__profile__source", "pair__profile__external_id"),
}


def settle(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:  # noqa: ARG001
    item = apps.get_model("annotation", "Item")
    for split in apps.get_model("judging", "HoldOut").objects.select_related("study"):
        rows = item.objects.filter(study=split.study).values_list(*FIELDS[split.study.kind])
        split.settled = {}
        for profile, source, name, *own in rows.iterator():
            if profile is not None:
                split.settled[f"profile {source}\n{name}"] = is_held_out(split, f"profile {profile}")
            elif own:  # pairs without a profile have always been told by their question
                dialogue, source, name = own
                split.settled[f"dialogue {source}\n{name}"] = is_held_out(split, f"dialogue {dialogue}")
        split.save(update_fields=["settled"])


def is_held_out(split: models.Model, cluster: str) -> bool:
    digest = hashlib.sha256(f"{split.seed}:{cluster}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64 < split.share


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0044_tiers_of_parts'),
        ('judging', '0023_probes_of_parts'),
    ]

    operations = [
        migrations.AddField(
            model_name='holdout',
            name='settled',
            field=models.JSONField(blank=True, default=dict, help_text='Cluster -> whether it is held out, of those that were drawn by the number of a row.'),
        ),
        migrations.RunPython(settle, migrations.RunPython.noop),
    ]
