"""`manage.py progress`: how far a study has come, and when it will be done."""

from __future__ import annotations

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand, format_estimate
from annotation.studies.queries.studies import study_called
from judging.assessment.progress_charts import SHOWN
from judging.assessment.progress_types import AdaptiveDocument, ProgressDocument, StudyForecastDocument
from judging.assessment.services import progress


class Command(ConcordCommand[ProgressDocument]):
    help = "Coverage, pace, a forecast of the end, agreement as it grows, and who needs help, of one study."
    example = "progress --study pilot --json"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or address of the study")

    def run(self, *, study: str, **_: object) -> ProgressDocument:
        return progress.compute_study(study_called(study))

    def write_text(self, document: ProgressDocument) -> None:
        done = f"{document['submitted']:,} of {document['planned']:,} ratings"
        self.stdout.write(f"{document['study']!r} is {document['state']}: {done}.")
        self.stdout.write(f"Done: {describe_forecast(document['forecast'])}")
        if found := document["adaptive"]:
            self.stdout.write(adaptively(found))
        counts = "  ".join(f"{n:,} with {k}" for k, n in enumerate(document["all"]))
        self.stdout.write(f"Items by ratings: {counts}")
        for one in document["growth"]["criteria"]:
            for key, label in SHOWN.items() if one["points"] else ():
                self.stdout.write(f"{one['name']}: {label} {format_estimate(one['points'][-1]['coefficients'][key])}")
        for person in document["needs_help"]:
            self.stdout.write(f"{person['annotator']}: {'; '.join(person['reasons'])}")


def adaptively(found: AdaptiveDocument) -> str:
    """What an adaptive study asked for, and what its last round found."""
    saved = (
        "" if found["saved"] is None else f", {100 * found['saved']:.0f} % fewer than {found['most_overlap']} for all"
    )
    said = f"Adaptive overlap: {found['planned']:,} of {found['for_all']:,} ratings asked for so far{saved}."
    last = found["last"]
    if last is None:
        return f"{said} There was no round yet."
    clear, enough, full = last["n_clear"], last["n_enough"], last["n_full"]
    looked = (
        f"Last round: {last['n_asked']:,} items asked about again, {clear:,} clear, {enough:,} not worth another "
        f"rating, {full:,} unclear with {found['most_overlap']}, {last['n_short']:,} unclear and rated by every "
        f"annotator, {last['n_waiting']:,} waiting."
    )
    return " ".join(one for one in (said, looked, last["reason"]) if one)


def describe_forecast(found: StudyForecastDocument) -> str:
    """The forecast in words, with its interval and its assumption."""
    end = {name: at and at[:16].replace("T", " ") for name, at in found["end"].items()}
    if found["value"] is None:
        return f"no forecast yet: {found['reason']}"
    if found["remaining"] == 0:
        return "all ratings are in"
    ends = f" ({end['low']} to {end['high']})" if end["low"] and end["high"] else f" ({found['reason']})"
    return f"about {end['value']}{ends}, if {found['assumption']}"
