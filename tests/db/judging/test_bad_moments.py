"""What is bad or goes away at the wrong moment: a template, a judge that runs, the text of an item."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db.models import ProtectedError

from annotation.corpus.models import Dialogue
from core.errors import InputError
from judging.assessment.options import JudgedOptions
from judging.assessment.services import agreement
from judging.assessment.services.agreement import StudyRatings
from judging.judges.models import Judge
from judging.judges.services import judges
from judging.runs.models.runs import JudgeRun
from judging.runs.services import runs, work
from tests.support import factories
from tests.support.judging import dialogue_study, judged, scripted
from tests.support.labelled import people_say

pytestmark = pytest.mark.django_db


class TestATemplateWithoutTheConversation:
    OWN = json.dumps({"template": "Rate $criterion on $scale."})

    def test_the_command_refuses_it_and_defines_no_judge(self):
        study = dialogue_study(1)

        with pytest.raises(CommandError, match=r"lacks \$conversation") as refused:
            call_command("judge", study.slug, judge="Own", provider="local", parameters=self.OWN, stderr=StringIO())

        assert refused.value.returncode == 2
        assert not Judge.objects.exists()
        assert not JudgeRun.objects.exists()

    def test_one_that_got_into_the_database_starts_no_run(self):
        judge = factories.JudgeFactory(provider="local", parameters=json.loads(self.OWN))

        with pytest.raises(InputError, match=r"lacks \$conversation"):
            runs.plan(study=dialogue_study(1), judge=judge)


class TestAJudgeDeletedWhileItRuns:
    def test_it_stays_and_the_run_goes_on_to_its_end(self):
        study, judge = dialogue_study(3), scripted(concurrency=1)
        run = runs.make(by=None, plan=runs.plan(study=study, judge=judge), queue=False)

        steps = work.work_through(run)
        next(steps)
        with pytest.raises(InputError, match="1 of them still going: stop it there first"):
            judges.delete(by=None, judge=judge)
        for _ in steps:
            pass

        run.refresh_from_db()
        assert (run.state, run.judgments.count()) == ("finished", 6)
        assert all(chunk.error == "" for chunk in run.chunks.all())

    def test_not_even_past_the_service(self):
        run = factories.JudgeRunFactory()

        with pytest.raises(ProtectedError):
            run.judge.delete()

    def test_a_newer_version_does_not_change_the_run(self):
        study, judge = dialogue_study(1), scripted(otherwise="1")
        run = runs.make(by=None, plan=runs.plan(study=study, judge=judge), queue=False)

        newer = judges.define(by=None, name=judge.name, provider="scripted", parameters={"otherwise": "2"})
        for _ in work.work_through(run):
            pass

        assert newer.version == judge.version + 1
        assert set(run.judgments.filter(criterion__key="personalization").values_list("value", flat=True)) == {"1"}


class TestAnItemEditedAfterItWasJudged:
    """The edit comes as edits do: the same id is imported again with another text."""

    def imported(self, tmp_path, answer: str) -> None:
        lines = [
            {"id": f"d{n}", "turns": [{"role": "user", "content": "A table."}, {"role": "assistant", "content": said}]}
            for n, said in ((1, answer), (2, "At nine?"))
        ]
        path = tmp_path / "dialogues.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)))
        call_command("import_dialogues", str(path), stdout=StringIO())

    @pytest.fixture
    def run(self, tmp_path):
        self.imported(tmp_path, "At eight?")
        study = factories.StudyFactory()
        factories.CriterionFactory(study=study, key="personalization")
        for dialogue in Dialogue.objects.order_by("external_id"):
            factories.ItemFactory(study=study, dialogue=dialogue)
        run = judged(study, scripted())
        people_say(study.criteria.get(), {"bob": ["1", "2"], "dana": ["1", "2"]})
        return run

    def warnings(self, run) -> list[str]:
        ratings = StudyRatings.read(run.study)
        found = agreement.load_or_compute(by=None, study=run.study, options=JudgedOptions(bootstrap=0), ratings=ratings)
        document = found.result["criteria"]["personalization"]
        return [warning["message"] for warning in document["warnings"] if warning["code"] == "stale_judgments"]

    def test_its_judgments_are_stale_and_agreement_says_so(self, run, tmp_path):
        assert self.warnings(run) == []

        self.imported(tmp_path, "At the Thai place, at eight?")

        assert [judgment.item.external_id for judgment in run.judgments.stale()] == ["d1"]
        assert self.warnings(run) == [f"{run.judge}: items edited after it judged them: 1."]

    def test_importing_the_same_text_again_makes_nothing_stale(self, run, tmp_path):
        self.imported(tmp_path, "At eight?")

        assert not run.judgments.stale().exists()

    def test_a_new_run_is_of_the_new_text(self, run, tmp_path):
        self.imported(tmp_path, "At the Thai place, at eight?")

        again = judged(run.study, run.judge)

        assert again.input_hash != run.input_hash
        assert not again.judgments.stale().exists()
        assert self.warnings(run) == [], "the newest run speaks for the judge"

    def test_judgments_of_its_turns_are_stale_too(self, run, tmp_path):
        turns = judged(run.study, run.judge, every_turn=True)

        self.imported(tmp_path, "At the Thai place, at eight?")

        assert [(judgment.item.external_id, judgment.turn) for judgment in turns.judgments.stale()] == [("d1", 2)]
