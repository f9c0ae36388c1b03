from django.core.management.base import CommandError
from django.db import migrations, models, transaction
from django.utils import timezone

from core.audit import heads as audit_digest
from core.audit import triggers
from core.audit.heads import write_head

MARK = "log.key"
REFUSAL = (
    "The log of acts would be lost, or could no longer be checked: {n} acts are in it, and it stays as it is. "
    "Run `manage.py migrate` to bring all tables forward again. "
    "To go back to an older version, restore a backup that was made with it into a new site."
)


def guard(apps, schema_editor):
    """Make the triggers anew: SQLite loses them with a table that is altered, whichever way."""
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        for statement in triggers.build_create_statements(connection.vendor):
            cursor.execute(statement)


def begin(apps, schema_editor):
    """Guard the log, and let a keyed act cover those there are."""
    guard(apps, schema_editor)
    model = apps.get_model("annotation", "Act")
    last = model.objects.using(schema_editor.connection.alias).order_by("-number").first()
    if last:
        mark(model, last)


def mark(model, last):
    """The first act with a keyed digest, from which on all have one."""
    from core.audit.models import Act

    columns = {
        "number": last.number + 1,
        "at": timezone.now(),
        "verb": MARK,
        "through": "other",
        "previous": last.digest,
        "digest_key_id": audit_digest.current_key_id(),
    }
    digest = Act(**columns).compute_digest()
    model(**columns, digest=digest).save(force_insert=True)
    transaction.on_commit(lambda: write_head(columns["number"], digest, columns["at"]), robust=True)


def refuse(apps, schema_editor):
    n = apps.get_model("annotation", "Act").objects.using(schema_editor.connection.alias).count()
    if n:
        raise CommandError(REFUSAL.format(n=n))


class Migration(migrations.Migration):
    dependencies = [("annotation", "0021_erased_accounts")]

    operations = [
        migrations.RunPython(migrations.RunPython.noop, guard),
        migrations.AddField(
            model_name="act",
            name="digest_key_id",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Key of the digest; empty where it is a SHA-256 without a key.",
                max_length=16,
            ),
        ),
        migrations.RunPython(begin, refuse),
    ]
