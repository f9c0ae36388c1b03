"""Limits count exchanges from now on. Experiments that are there keep their limits in messages and their prompts.

`vanilla` was without instruction, which is `none` now, and the other conditions had the text below.
"""

from django.db import migrations, models

ASSISTANT = """You are the personal assistant of the user you talk with. You can reach every service that is needed: look \
up and book as if it were done, and name what you found rather than saying that you cannot. Use what you know of the user \
without being told again, and ask for what you do not know. Answer in at most four sentences. Speak for yourself only, \
never for the user.

$demographics

$interactions

$retrieved

$situation"""
UNITS = [("exchanges", "exchanges"), ("messages", "messages")]


def unit(default):
    return models.CharField(
        choices=UNITS,
        default=default,
        help_text="What limits count, and so whether the assistant closes the dialogue.",
        max_length=10,
    )


def kept_as_they_were(apps, schema_editor):
    for experiment in apps.get_model("simulation", "Experiment").objects.only("pk", "conditions", "prompts").iterator():
        experiment.conditions = ["none" if key == "vanilla" else key for key in experiment.conditions]
        if any(key.startswith("base") for key in experiment.conditions):
            experiment.prompts = {"assistant": ASSISTANT} | experiment.prompts
        experiment.save(update_fields=["conditions", "prompts"])
    apps.get_model("annotation", "Dialogue").objects.filter(simulated__condition="vanilla").update(condition="none")
    apps.get_model("simulation", "SimulatedDialogue").objects.filter(condition="vanilla").update(condition="none")


class Migration(migrations.Migration):
    dependencies = [("simulation", "0009_candidates_from_seeds")]

    operations = [
        migrations.AddField("experiment", "limit_unit", unit("messages")),
        migrations.AlterField("experiment", "limit_unit", unit("exchanges")),
        migrations.AlterField(
            "experiment",
            "single_turns",
            models.PositiveSmallIntegerField(help_text="The limit of a dialogue about one domain."),
        ),
        migrations.AlterField(
            "experiment", "multi_turns", models.PositiveSmallIntegerField(help_text="The limit of one about several.")
        ),
        migrations.RemoveConstraint("experiment", "experiment_two_turns_at_least"),
        migrations.AddConstraint(
            "experiment",
            models.CheckConstraint(
                condition=models.Q(single_turns__gte=2, multi_turns__gte=2)
                | models.Q(single_turns__gte=1, multi_turns__gte=1, limit_unit="exchanges"),
                name="experiment_two_turns_at_least",
            ),
        ),
        migrations.AddConstraint(
            "experiment",
            models.CheckConstraint(
                condition=models.Q(limit_unit__in=["exchanges", "messages"]), name="experiment_limit_unit_is_known"
            ),
        ),
        migrations.AddField(
            "turn",
            "cut_off",
            models.JSONField(blank=True, default=list, help_text="Replies before that met the limit of tokens."),
        ),
        migrations.RunPython(kept_as_they_were, migrations.RunPython.noop),
    ]
