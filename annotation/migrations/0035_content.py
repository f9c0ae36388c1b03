
import django.db.models.deletion
from django.db import migrations, models

from core.audit.triggers import DroppedTriggers


triggers = DroppedTriggers("annotation_study")


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0032_item_messages'),
    ]

    operations = [
        migrations.RunPython(triggers.drop, triggers.make),
        migrations.CreateModel(
            name='Attachment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sha256', models.CharField(help_text='Of the bytes, in hexadecimal.', max_length=64, unique=True)),
                ('type', models.CharField(help_text='What the bytes are, which was looked at: image/png, …', max_length=20)),
                ('size', models.PositiveBigIntegerField(help_text='In bytes.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='AttachmentUse',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ],
        ),
        migrations.AddField(
            model_name='responsepair',
            name='parts',
            field=models.JSONField(blank=True, default=dict, help_text='Of each text that is more than text: which of its characters are what.'),
        ),
        # Who has begun to rate goes on seeing what they saw; new studies show texts rendered.
        migrations.AddField(
            model_name='study',
            name='content_form',
            field=models.CharField(choices=[('rendered', 'as its users saw it: Markdown, code, tables and formulas are rendered'), ('plain', 'as it is written')], default='plain', help_text='How annotators see texts: as their users saw them, or as they are written.', max_length=16),
        ),
        migrations.AlterField(
            model_name='study',
            name='content_form',
            field=models.CharField(choices=[('rendered', 'as its users saw it: Markdown, code, tables and formulas are rendered'), ('plain', 'as it is written')], default='rendered', help_text='How annotators see texts: as their users saw them, or as they are written.', max_length=16),
        ),
        migrations.AlterField(
            model_name='dialogue',
            name='turns',
            field=models.JSONField(help_text='[{"role": "user"|"assistant"|"system"|"tool", "content": "…", "parts": […]}, …]; parts where some of the content is more than text.'),
        ),
        migrations.AddConstraint(
            model_name='study',
            constraint=models.CheckConstraint(condition=models.Q(('content_form__in', ['rendered', 'plain'])), name='study_content_form_is_known'),
        ),
        migrations.AddField(
            model_name='attachmentuse',
            name='attachment',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='uses', to='annotation.attachment'),
        ),
        migrations.AddField(
            model_name='attachmentuse',
            name='dialogue',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='attachment_uses', to='annotation.dialogue'),
        ),
        migrations.AddField(
            model_name='attachmentuse',
            name='pair',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='attachment_uses', to='annotation.responsepair'),
        ),
        migrations.AddConstraint(
            model_name='attachmentuse',
            constraint=models.UniqueConstraint(fields=('attachment', 'dialogue'), name='attachment_once_per_dialogue'),
        ),
        migrations.AddConstraint(
            model_name='attachmentuse',
            constraint=models.UniqueConstraint(fields=('attachment', 'pair'), name='attachment_once_per_pair'),
        ),
        migrations.AddConstraint(
            model_name='attachmentuse',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('dialogue', None), ('pair__isnull', False)), models.Q(('dialogue__isnull', False), ('pair', None)), _connector='OR'), name='attachment_of_dialogue_or_pair'),
        ),
        migrations.RunPython(triggers.make, triggers.drop),
    ]
