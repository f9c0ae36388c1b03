
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0018_written'),
        ('judging', '0012_model_keys'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='judgment',
            index=models.Index(fields=['run', 'id'], name='judgment_of_run'),
        ),
        migrations.AddIndex(
            model_name='judgment',
            index=models.Index(condition=models.Q(('value', '')), fields=['run', 'unscored_reason', 'id'], name='judgment_unscored'),
        ),
        migrations.AlterField(
            model_name='judgment',
            name='run',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='judgments', to='judging.judgerun'),
        ),
    ]
