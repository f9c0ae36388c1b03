"""What is measured of judges: their pages, their part of the API, and the commands and downloads about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scaling.filling import SLUG
from scaling.measuring import page

Measured = tuple[str, str, Callable[[], dict[str, Any]]]
STUDY, API = f"/studies/{SLUG}/", "/api/v1"


def pages(researcher: int, filled: Any) -> Iterator[Measured]:
    """Pages of researchers, and pages of the API."""
    from judging.runs.models.runs import JudgeRun, Judgment

    runs = list(JudgeRun.objects.filter(study__slug=SLUG).order_by("pk").values_list("pk", "judge"))
    (run, judge), last = runs[0], runs[-1][0]
    judgment = Judgment.objects.filter(run=run).order_by("-pk")[0].pk
    part = f"{STUDY}calibration/{judge}/"
    for name, path in (
        ("judges of the study", f"{STUDY}judges/"),
        ("panels of the study", f"{STUDY}panels/"),
        ("a run", f"/runs/{run}/"),
        ("a run, replies without a verdict", f"/runs/{run}/?reason=unparsable"),
        ("a run with parts that ended early", f"/runs/{last}/"),
        ("scores of a run", f"/runs/{run}/scores/"),
        ("a judgment", f"/judgments/{judgment}/"),
        ("list of judges", "/judges/"),
        ("a judge", f"/judges/{judge}/"),
        ("results", f"{STUDY}results/"),
        ("calibration", f"{STUDY}results/judges/"),
        ("verdicts on a judge", f"{STUDY}results/{judge}/"),
        ("disagreements with a judge", f"{part}improve/"),
        ("what to label next", f"{part}plan/"),
        ("report", f"{STUDY}report/"),
        ("contradictions", f"{STUDY}against-majority/"),
    ):
        yield "pages", name, page(researcher, path)
    deep = judgment - filled.labelled
    for name, path in (
        ("judges", f"{API}/judges"),
        ("runs", f"{API}/runs"),
        ("progress of the run", f"{API}/runs/{run}/progress"),
        ("judgments of a run, first page", f"{API}/runs/{last}/judgments"),
        ("judgments of a run, deep", f"{API}/runs/{run}/judgments?after={deep}"),
        ("judgments without a verdict, deep", f"{API}/runs/{run}/judgments?after={deep}&unscored_reason=unparsable"),
        ("judgments of one item", f"{API}/runs/{run}/judgments?position={filled.labelled // 2}"),
    ):
        yield "api", name, page(researcher, path)


def commands(filled: Any, called: Callable[..., Callable[[], dict[str, Any]]]) -> Iterator[Measured]:
    """What reads a run or a judge as a whole. The database is left as it was found, but for results that are kept."""
    judge = ("--study", SLUG, "--judge", "judge 1")
    yield "commands", "scores", called("scores", str(filled.run), "--json")
    yield "commands", "calibrate", called("calibrate", *judge, "--json")
    yield "commands", "audit", called("audit", *judge, "--json")
    yield "commands", "disagreements", called("disagreements", *judge, "--limit", "20", "--json")
    yield "commands", "report", to_file("report", "--study", SLUG)
    yield "commands", "archive_study", to_file("archive_study", "--study", SLUG)
    yield "commands", "backup", to_file("backup")


def to_file(*words: str) -> Callable[[], dict[str, Any]]:
    """A command that writes a file, which is not kept."""

    def act() -> dict[str, Any]:
        from io import StringIO

        from django.core.management import call_command

        with TemporaryDirectory(prefix="concord-scale-") as folder:
            path = Path(folder) / "file"
            call_command(*words, "--output", str(path), stdout=StringIO())
            return {"size": path.stat().st_size}

    return act


def exports(researcher: int, filled: Any) -> Iterator[Measured]:
    for ending in ("csv", "json"):
        yield "exports", f"scores.{ending} of a run", page(researcher, f"/runs/{filled.run}/scores.{ending}")
