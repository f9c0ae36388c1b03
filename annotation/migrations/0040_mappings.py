
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0035_content'),
    ]

    operations = [
        migrations.CreateModel(
            name='SavedMapping',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80)),
                ('document', models.JSONField(help_text='The mapping as its file has it.')),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.AddField(
            model_name='dialogue',
            name='inclusion_probability',
            field=models.FloatField(db_default=1.0, default=1.0, help_text='Chance that the draw had of taking it out of the file it came from; 1 where all was imported.'),
        ),
        migrations.AddField(
            model_name='responsepair',
            name='inclusion_probability',
            field=models.FloatField(db_default=1.0, default=1.0, help_text='Chance that the draw had of taking it out of the file it came from; 1 where all was imported.'),
        ),
        migrations.AddConstraint(
            model_name='dialogue',
            constraint=models.CheckConstraint(condition=models.Q(('inclusion_probability__gt', 0), ('inclusion_probability__lte', 1)), name='dialogue_inclusion_probability_in_range'),
        ),
        migrations.AddConstraint(
            model_name='responsepair',
            constraint=models.CheckConstraint(condition=models.Q(('inclusion_probability__gt', 0), ('inclusion_probability__lte', 1)), name='pair_inclusion_probability_in_range'),
        ),
        migrations.AddField(
            model_name='savedmapping',
            name='created_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='savedmapping',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.project'),
        ),
        migrations.AddConstraint(
            model_name='savedmapping',
            constraint=models.UniqueConstraint(fields=('project', 'name'), name='mapping_name_once_per_project'),
        ),
        migrations.AddConstraint(
            model_name='savedmapping',
            constraint=models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='mapping_has_a_name'),
        ),
    ]
