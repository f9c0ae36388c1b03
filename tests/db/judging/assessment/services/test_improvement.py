"""Another version of a judge: its examples, what it is asked, and whether it is better than the one before."""

from __future__ import annotations

import io
import json

import pytest
import scipy
from django.core.management import CommandError, call_command

from annotation.corpus.models import Dialogue
from annotation.studies.models.labels import Adjudication, Annotation
from annotation.studies.models.studies import Criterion
from core.errors import InputError
from judging.assessment.options import AssessmentOptions
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import disagreements, hold_out as holding_out, improvement
from judging.assessment.services.assessment import AssessmentRequest
from judging.judges.models import Judge
from judging.judges.providers.base import OWN_EXAMPLE, Example
from judging.judges.queries import study_items
from judging.judges.queries.study_items import DEVELOPMENT, HELD_OUT
from judging.judges.services import judges
from judging.runs.queries.requests import Frame, build_requests
from judging.runs.services.request_pool import Ask, build_example_answer
from tests.db.judging.assessment.services.judged import QUICK, study
from tests.support.factories import (
    CriterionFactory,
    ItemFactory,
    JudgeFactory,
    JudgeRunFactory,
    ResearcherFactory,
    StudyFactory,
)
from tests.support.judging import judged
from tests.support.labelled import add_verdicts, judge_says, people_say
from tests.support.shared_rows import share_rows

pytestmark = pytest.mark.django_db

N = 40
TRUTH = [str(k % 4 + 1) for k in range(N)]


@pytest.fixture(scope="module", params=["dialogue", "pair"])
def known(request, django_db_setup, django_db_blocker):
    yield from share_rows(django_db_blocker, lambda: settled(request.param).pk)


@pytest.fixture
def criterion(known, db):
    return Criterion.objects.get(pk=known)


def settled(kind):
    """40 items with content of their own, labelled, adjudicated and split; a judge that is asked in words."""
    made = StudyFactory(kind=kind, name="Known", slug="known")
    ItemFactory.create_batch(N, study=made)
    more = {"preference": True} if kind == "pair" else {}
    found = CriterionFactory(study=made, key="suits", name="Suits", **more)
    values = [("1", "2", "tie")[k % 3] for k in range(N)] if kind == "pair" else TRUTH
    people_say(found, {"bob": values, "dana": values})
    boss = ResearcherFactory()
    for item, value in zip(made.items.order_by("position"), values, strict=True):
        why = f"Because {item.position}."
        Adjudication.objects.create(item=item, criterion=found, value=value, decided_by=boss, reason=why)
    holding_out.hold_out(by=None, study=made, share=0.5, seed=1)
    return found


def local(name="gpt", **parameters) -> Judge:
    return JudgeFactory(name=name, provider="local", parameters=parameters)


def run(command, **options):
    out = io.StringIO()
    call_command(command, json=True, stdout=out, **options)
    return json.loads(out.getvalue())


class TestExamples:
    @pytest.mark.long
    def test_they_are_adjudicated_items_of_the_development_part(self, criterion):
        masked = study_items.positions(criterion.study)
        for seed in range(12):
            made = improvement.new_version(by=None, judge=local(f"gpt{seed}"), study=criterion.study, n=4, seed=seed)
            shown = made.parameters["examples"]
            assert (made.version, len(shown)) == (2, 4)
            assert not masked & {one["item"] for one in shown}
            for one in shown:
                decided = Adjudication.objects.get(item__study=criterion.study, item__position=one["item"])
                assert (one["value"], one["why"]) == (decided.value, decided.reason)

    def test_values_of_the_scale_come_in_turn_and_pairs_in_either_order(self, criterion):
        n = len(criterion.values)
        shown = improvement.new_version(by=None, judge=local(), study=criterion.study, n=n).parameters["examples"]
        assert {one["value"] for one in shown} == set(criterion.values)
        if criterion.study.kind == "pair":
            assert {one["order"] for one in shown} == {"AB", "BA"}

    def test_through_the_api(self, criterion, client):
        client.force_login(ResearcherFactory())
        judge = local()
        at = f"/api/v1/studies/known/judges/{judge.pk}/versions"
        made = client.post(at, {"examples": 2, "seed": 5}, content_type="application/json")
        assert (made.status_code, made.json()["version"]) == (201, 2)
        assert len(Judge.objects.get(pk=made.json()["id"]).parameters["examples"]) == 2
        wrong = client.post(at, {"examples": 2, "criteria": ["charm"]}, content_type="application/json")
        assert (wrong.status_code, wrong.json()["field"]) == (400, "criteria")

    def test_the_same_seed_gives_the_same_version(self, criterion):
        first = improvement.new_version(by=None, judge=local(), study=criterion.study, n=2, seed=5)
        assert improvement.new_version(by=None, judge=first, study=criterion.study, n=2, seed=5) == first
        other = improvement.new_version(by=None, judge=first, study=criterion.study, n=2, seed=6)
        assert other.version == 3
        assert "examples" not in improvement.new_version(by=None, judge=other, study=criterion.study, n=0).parameters

    def test_a_held_out_item_cannot_be_named(self, criterion):
        masked = study_items.positions(criterion.study)
        with pytest.raises(InputError, match="not a settled item of the development part"):
            improvement.new_version(by=None, judge=local(), study=criterion.study, items=[min(masked)])

    def test_nor_put_among_the_parameters_by_hand(self, criterion):
        made = improvement.new_version(by=None, judge=local(), study=criterion.study, n=1)
        (good,) = made.parameters["examples"]
        held = criterion.study.items.get(position=min(study_items.positions(criterion.study)))
        place = {"item": held.position, "external_id": held.external_id, "content_hash": held.subject.content_hash}
        text = dict.fromkeys(good["material"], "Something else.")

        def define(example):
            return judges.define(
                by=None, name="gpt", provider="local", parameters={"examples": [example], "context": 2048}
            )

        for wrong in (place, {"value": "nonsense"}, {"criterion": "other"}, {"material": text}):
            with pytest.raises(InputError, match="draw the examples again"):
                define({**good, **wrong})
        with pytest.raises(InputError, match="which is not there"):
            define({**good, "study": "other"})
        assert define(good).version == 3

    def test_nor_an_item_whose_content_is_also_held_out(self, criterion):
        if criterion.study.kind == "pair":
            pytest.skip("one kind is enough")
        masked = study_items.positions(criterion.study)
        free = sorted(set(range(1, N + 1)) - masked)
        twin = Dialogue.objects.get(items__study=criterion.study, items__position=min(masked))
        Dialogue.objects.filter(items__study=criterion.study, items__position=free[0]).update(turns=twin.turns)
        with pytest.raises(InputError, match=f"item {free[0]} is not a settled item"):
            improvement.new_version(by=None, judge=local(), study=criterion.study, items=[free[0]])

    def test_without_a_held_out_part_there_are_none(self):
        criterion = study(n=12, name="Whole")
        with pytest.raises(InputError, match="hold a part out first"):
            improvement.new_version(by=None, judge=local("other"), study=criterion.study, n=1)

    def test_too_few_are_settled(self, criterion):
        Adjudication.objects.filter(item__position__gt=3).delete()
        Annotation.objects.filter(assignment__item__position__gt=3).delete()
        with pytest.raises(InputError, match="settled items in the development part, fewer than 9"):
            improvement.new_version(by=None, judge=local(), study=criterion.study, n=9)

    def test_gold_settles_where_nobody_adjudicated_and_a_dispute_does_not(self, criterion):
        Adjudication.objects.all().delete()
        free = sorted(set(range(1, N + 1)) - study_items.positions(criterion.study))
        dana = Annotation.objects.filter(assignment__annotator__username="dana", criterion=criterion)
        for one in dana.filter(assignment__item__position=free[0]):
            one.value = "2" if one.value == "1" else "1"
            one.save()
        judge, some = local(), free[1:8]
        version = improvement.new_version(by=None, judge=judge, study=criterion.study, items=some)
        assert {one["item"] for one in version.parameters["examples"]} == set(some)
        with pytest.raises(InputError, match="is not a settled item"):
            improvement.new_version(by=None, judge=judge, study=criterion.study, items=[free[0]])

    @pytest.mark.parametrize(("n", "message"), [(-1, "from 1 to 20"), (21, "from 1 to 20")])
    def test_how_many(self, criterion, n, message):
        with pytest.raises(InputError, match=message):
            improvement.new_version(by=None, judge=local(), study=criterion.study, n=n)

    @pytest.mark.parametrize("provider", ["baseline", "scripted", "imported"])
    def test_a_judge_that_is_asked_in_no_words_takes_none(self, criterion, provider):
        with pytest.raises(InputError, match="not asked in words"):
            improvement.new_version(by=None, judge=JudgeFactory(provider=provider), study=criterion.study, n=1)

    def test_a_template_needs_a_place_for_them(self, criterion):
        words = "$conversation $asked" if criterion.study.kind == "dialogue" else "$response_a $response_b $asked"
        judge = local(template=words)
        with pytest.raises(InputError, match=r"no \$examples"):
            improvement.new_version(by=None, judge=judge, study=criterion.study, n=1)
        made = improvement.new_version(by=None, judge=judge, study=criterion.study, n=1, template=f"{words} $examples")
        assert made.parameters["template"].endswith("$examples")


class TestOwnExamples:
    """A judge is not asked about an item whose answer stands in its prompt."""

    def example(self, criterion, position):
        item = criterion.study.items.get(position=position)
        return {
            "study": criterion.study.slug,
            "item": position,
            "source": item.subject.source,
            "external_id": item.external_id,
            "content_hash": item.subject.content_hash,
            "criterion": criterion.key,
            "order": "",
            "material": {},
            "value": "1",
            "why": "",
        }

    def test_it_is_not_asked_and_counts_nowhere(self, criterion, monkeypatch):
        free = sorted(set(range(1, N + 1)) - study_items.positions(criterion.study))
        judge = JudgeFactory(provider="scripted", parameters={"otherwise": "1"}, name="gpt")
        # the scripted judge takes no examples: it is given them past its checks, to see what a run makes of them
        examples = [self.example(criterion, position) for position in free[:2]]
        monkeypatch.setattr(Judge, "examples", examples)
        known = [Example(**one) for one in examples]
        monkeypatch.setattr("judging.judges.queries.contents.list_examples", lambda _, key: known * (key == "suits"))
        done = judged(criterion.study, judge)
        assert done.finished_at
        own = done.judgments.filter(unscored_reason=OWN_EXAMPLE.unscored)
        assert sorted(own.values_list("item__position", flat=True)) == free[:2]
        assert done.judgments.count() == N
        assert not own.filter(details__has_key="cached").exists()
        evidence = StudyData.load(criterion.study).load_judge(judge)
        assert evidence.examples == {"suits": 2}
        said = evidence.evidence["suits"].said
        assert not said.asked[:2].any()
        assert said.asked[2:].all()
        assert not said.unscored.any()
        assert evidence.reasons["suits"] == {}
        assert disagreements.counts(evidence)["suits"].examples == 2

    def test_the_request_says_so(self, criterion):
        free = sorted(set(range(1, N + 1)) - study_items.positions(criterion.study))
        judge = improvement.new_version(by=None, judge=local(), study=criterion.study, items=free[:1])
        items = list(
            criterion.study.items.filter(position__in=free[:2]).order_by("position").values_list("pk", flat=True)
        )
        frame = Frame(judge, criterion.study.shown, [criterion], repeats=1, order_policy="AB", seed=0)
        first, second = build_requests(frame, items, with_prompt=True)
        assert (first.request.is_example, second.request.is_example) == (True, False)
        assert "example 1" in second.request.prompt.user
        answer = build_example_answer(Ask(first, key="kept"))
        assert (answer.ask.key, answer.reply.unscored) == ("", "own_example")


class TestChange:
    @pytest.fixture
    def versions(self):
        """80 items; version 2 says what people say on 20 items on which version 1 did not."""
        criterion = study(n=80, name="Judged")
        holding_out.hold_out(by=None, study=criterion.study, share=0.3, seed=2)
        good = [one.value for one in criterion.judgments.order_by("item__position")]
        worse = [{"1": "4", "2": "4", "3": "1", "4": "1"}[v] if k % 4 == 0 else v for k, v in enumerate(good)]
        old = Judge.objects.get(name="gpt")
        old.runs.get().judgments.all().delete()
        add_verdicts(old.runs.get(), criterion, worse)
        new = JudgeRunFactory(study=criterion.study, judge=JudgeFactory(name="gpt", version=2), criteria=[criterion])
        add_verdicts(new, criterion, good)
        return criterion

    def found(self, criterion, **options):
        return run("judge_change", study="Judged", judge="gpt", **options)

    @pytest.mark.any_database
    def test_the_better_version_gains(self, versions):
        found = self.found(versions)
        assert (found["old"], found["new"], found["part"]) == ("gpt", "gpt v2", DEVELOPMENT)
        one = found["criteria"]["personalization"]
        figure = one["figures"][one["figure"]]
        assert one["figure"] == "mean_weighted_cohen_kappa"
        assert figure["difference"]["value"] == pytest.approx(figure["new"]["value"] - figure["old"]["value"], abs=1e-9)
        assert figure["difference"]["low"] > 0
        gained, lost = one["mcnemar"]["gained"], one["mcnemar"]["lost"]
        assert gained > lost
        assert one["mcnemar"]["p_value"] == pytest.approx(scipy.stats.binomtest(gained, gained + lost).pvalue)
        assert one["n_items"] == StudyData.load(versions.study).material.n
        assert self.found(versions) == found

    def test_in_words(self, versions):
        out = io.StringIO()
        call_command("judge_change", study="Judged", judge="gpt v2", against="v1", stdout=out)
        assert "gpt v2 − gpt on development items" in out.getvalue()

    def test_the_held_out_part_is_never_compared(self, versions):
        parts = StudyData.load(versions.study, HELD_OUT)
        old, new = parts.load_judges(parts.judges())
        with pytest.raises(InputError, match="development part"):
            improvement.change(old, new)
        with pytest.raises(InputError, match="not shown one by one"):
            disagreements.list_disagreements(new)

    def test_bad_usage(self, versions):
        with pytest.raises(CommandError, match="'v7' is no other version"):
            self.found(versions, against="v7")
        judge_says(versions, "alone", ["1"] * 80)
        with pytest.raises(CommandError, match="no other version of alone"):
            run("judge_change", study="Judged", judge="alone")
        with pytest.raises(CommandError, match="must be between 0 and"):
            self.found(versions, seed=-1)


class TestDisagreements:
    def found(self, **options):
        return run("disagreements", study="Judged", judge="gpt", **options)

    @pytest.fixture
    def split(self):
        criterion = study(n=60, noise=1.2, name="Judged")
        holding_out.hold_out(by=None, study=criterion.study, share=0.4)
        return criterion

    def test_only_the_development_part_the_largest_first(self, split):
        found = self.found()
        masked = study_items.positions(split.study)
        positions = [one["item"] for one in found["disagreements"]]
        assert found["part"] == DEVELOPMENT
        assert positions
        assert not masked & set(positions)
        sizes = [one["size"] for one in found["disagreements"]]
        assert sizes == sorted(sizes, reverse=True)
        assert found["criteria"]["personalization"]["differing"] == len(positions)
        first = found["disagreements"][0]
        assert first["size"] == pytest.approx(abs(float(first["label"]) - float(first["judge"])), abs=1e-6)
        assert set(first["people"]) == {"p0", "p1", "p2"}
        assert [one["item"] for one in self.found(sort="position")["disagreements"]] == sorted(positions)
        assert len(self.found(limit=2)["disagreements"]) == 2

    def test_next_to_the_mean_is_no_disagreement(self, split):
        evidence = StudyData.load(split.study).load_judge(Judge.objects.get(name="gpt"))
        one = evidence.evidence["personalization"]
        for row in disagreements.list_disagreements(evidence):
            place = one.material.names.index(str(row.position))
            others = [abs(value - one.people.mean[place]) for value in one.table.scores]
            assert row.size > min(others)

    def test_an_unscored_item_is_no_disagreement(self, split):
        judge_says(split, "mute", ["", *["1"] * 59])
        free = [p for p in range(1, 61) if p not in study_items.positions(split.study)]
        evidence = StudyData.load(split.study).load_judge(Judge.objects.get(name="mute"))
        assert disagreements.counts(evidence)["personalization"].unscored == (1 in free)
        assert 1 not in [row.position for row in disagreements.list_disagreements(evidence)]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"criterion": "other"}, "no criterion is called 'other'"),
            ({"sort": "colour"}, "is not an order"),
            ({"limit": 0}, "at least 1"),
        ],
    )
    def test_bad_usage(self, split, options, message):
        with pytest.raises(CommandError, match=message):
            self.found(**options)


def test_the_command_makes_versions_and_says_what_is_missing(criterion, tmp_path):
    local()
    found = run("judge_version", judge="gpt", examples=2, from_study="Known", seed=3)
    assert (found["version"], found["is_new"], len(found["examples"])) == (2, True, 2)
    assert run("judge_version", judge="gpt", examples=2, from_study="Known", seed=3)["is_new"] is False
    for options, message in (
        ({"examples": 2}, "which study"),
        ({"from_study": "Known"}, "how many"),
        ({}, "nothing is asked for"),
        ({"examples": 2, "from_study": "Known", "seed": -1}, "between 0 and"),
        ({"examples": 2, "from_study": "Known", "criteria": ["other"]}, "no criterion is called"),
        ({"template": tmp_path / "none.txt"}, "cannot be read"),
    ):
        with pytest.raises(CommandError, match=message):
            run("judge_version", judge="gpt", **options)
    file = tmp_path / "words.txt"
    placeholders = "$conversation" if criterion.study.kind == "dialogue" else "$response_a $response_b"
    file.write_text(f"{placeholders}\n\n$examples\n\n$asked\n$scale\n$answer")
    assert run("judge_version", judge="gpt", template=file)["version"] == 3


@pytest.mark.long
def test_a_version_is_scored_on_the_held_out_part_once():
    criterion = study(n=60, name="Judged")
    holding_out.hold_out(by=None, study=criterion.study)
    judge = StudyData.load(criterion.study).judge("gpt")

    def look(options=QUICK):
        return holding_out.record_access(by=None, study=criterion.study, judge=judge, asked=AssessmentRequest(options))

    first = look()
    assert look().calibration == first.calibration
    with pytest.raises(InputError, match="A version is scored there once"):
        look(AssessmentOptions(bootstrap=40, seed=1))
    assert criterion.study.looks.count() == 2
    run_of = criterion.study.judge_runs.get()
    run_of.judgments.filter(item__position__in=study_items.positions(criterion.study)).update(value="1")
    with pytest.raises(InputError, match="make a new version"):
        look()
