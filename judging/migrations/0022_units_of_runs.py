from django.db import migrations, models
from django.db.models import Q


def carry_over(apps, schema_editor):
    """A run on single turns keeps its unit; of pairs the numbers were those of responses."""
    turned = apps.get_model("judging", "JudgeRun").objects.filter(every_turn=True)
    turned.filter(study__kind="pair").update(unit="response")
    turned.exclude(study__kind="pair").update(unit="turn")


def carry_back(apps, schema_editor):
    apps.get_model("judging", "JudgeRun").objects.exclude(unit="item").update(every_turn=True)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0043_labels_changed_since"), ("judging", "0021_responses")]
    operations = [
        migrations.AddField(
            "judgerun",
            "unit",
            models.CharField(
                choices=[
                    ("item", "the whole item"),
                    ("turn", "every turn of the assistant"),
                    ("response", "every response"),
                ],
                default="item",
                help_text="What one judgment is about.",
                max_length=8,
            ),
        ),
        migrations.RunPython(carry_over, carry_back),
        migrations.RemoveConstraint("judgerun", "run_probe_asks_each_copy_once"),
        migrations.RemoveField("judgerun", "every_turn"),
        migrations.AddConstraint(
            "judgerun",
            models.CheckConstraint(
                condition=~Q(kind="probe") | (Q(repeats=1, unit="item") & ~Q(order_policy="both")),
                name="run_probe_asks_each_copy_once",
            ),
        ),
        migrations.AddConstraint(
            "judgerun",
            models.CheckConstraint(condition=Q(unit__in=["item", "turn", "response"]), name="run_unit_is_known"),
        ),
        migrations.AddConstraint(
            "judgerun",
            models.CheckConstraint(
                condition=~Q(unit="response") | ~Q(order_policy="both"), name="run_response_alone_has_no_order"
            ),
        ),
        migrations.AlterField(
            "judgechunk",
            "n_units",
            models.PositiveIntegerField(
                help_text="How many items, turns or responses were to be asked about when it was made.", null=True
            ),
        ),
        migrations.AlterField(
            "judgment",
            "turn",
            models.PositiveSmallIntegerField(
                default=0, help_text="The turn or response that was judged, from 1; 0 for the whole item."
            ),
        ),
    ]
