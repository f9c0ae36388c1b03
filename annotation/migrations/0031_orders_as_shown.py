from django.db import migrations
from django.db.models import OuterRef, Subquery


def keep_orders(apps, schema_editor):
    """Until now a slot kept its order whoever held it, so that each draft was made in the order of its slot."""
    Assignment, Draft = apps.get_model('annotation', 'Assignment'), apps.get_model('annotation', 'Draft')
    of_slot = Assignment.objects.filter(pk=OuterRef('assignment')).values('order')[:1]
    Draft.objects.filter(order='').update(order=Subquery(of_slot))


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0030_order_of_drafts'),
    ]

    operations = [
        migrations.RunPython(keep_orders, migrations.RunPython.noop),
    ]
