"""Agreement, and what a judge is worth beside people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from concord_client import types
from concord_client.transport import Json, Transport


class Trust(Transport):
    """Agreement, and what a judge is worth beside people."""

    def agreement(self, slug: str, **query: Any) -> Json:
        """What `agreement --study NAME --json` prints."""
        return cast(Json, self.get(f"studies/{slug}/agreement", **query))

    def ask_agreement(self, slug: str, **options: Any) -> types.Queued:
        """Leave the agreement of a study to a worker: the options of `agreement`, which has it afterwards."""
        return cast(types.Queued, self.post(f"studies/{slug}/agreement", options))

    def gold(self, slug: str, **query: Any) -> Json:
        return cast(Json, self.get(f"studies/{slug}/gold", **query))

    def cascade(self, slug: str, judges: Sequence[int], **query: Any) -> Json:
        """What `cascade --study NAME --json` prints: what judges keep one after the other, and what is left."""
        return cast(Json, self.get(f"studies/{slug}/cascade", judges=",".join(map(str, judges)), **query))

    def escalate_cascade(self, slug: str, judges: Sequence[int], name: str, **options: Any) -> Json:
        """A study of what a cascade leaves to people: target, delta, overlap."""
        body = {"judges": list(judges), "name": name, **options}
        return cast(Json, self.post(f"studies/{slug}/cascade/escalations", body))

    def plan_labels(self, slug: str, judge: int, *, criterion: str, width: float, **query: Any) -> Json:
        """What `plan_labels --json` prints: how many labels an interval of this width takes, and which are next."""
        return cast(Json, self.get(f"studies/{slug}/judges/{judge}/plan", criterion=criterion, width=width, **query))

    def study_of_plan(
        self, slug: str, judge: int, name: str, *, criterion: str, width: float, **options: Any
    ) -> types.LabelPlan:
        """A study of the items that a plan draws: by, confidence, seed, overlap."""
        body = {"name": name, "criterion": criterion, "width": width, **options}
        return cast(types.LabelPlan, self.post(f"studies/{slug}/judges/{judge}/plan", body))

    def tiers(self, slug: str, **query: Any) -> Json:
        """What `tiers --study NAME --json` prints of one criterion."""
        return cast(Json, self.get(f"studies/{slug}/tiers", **query))

    def tiers_predicted(self, slug: str, **query: Any) -> Json:
        """What `tiers --study NAME --predict --json` prints of one criterion."""
        return cast(Json, self.get(f"studies/{slug}/tiers/predicted", **query))

    def more_ratings(self, slug: str, **query: Any) -> Json:
        """What more ratings would tell of the items of one criterion whose tier is unclear."""
        return cast(Json, self.get(f"studies/{slug}/tiers/more", **query))

    def ask_tiers(self, slug: str, **options: Any) -> types.Queued:
        """Leave the difficulty model of a large study to a worker: agreement_cuts. `tiers` has it afterwards."""
        return cast(types.Queued, self.post(f"studies/{slug}/tiers", options))

    def calibrations(self, slug: str, **query: Any) -> Json:
        """All judges of a study side by side."""
        return cast(Json, self.get(f"studies/{slug}/calibration", **query))

    def download_report(self, slug: str, form: str, path: str | Path) -> None:
        """The report of a study as html, latex or json."""
        self._download(f"studies/{slug}/report.{form}", path)

    def calibration(self, slug: str, judge: int, **query: Any) -> Json:
        """What `calibrate --json` prints: part, criterion."""
        return cast(Json, self.get(f"studies/{slug}/judges/{judge}/calibration", **query))

    def audit(self, slug: str, judge: int, **query: Any) -> Json:
        """Biases and verdict of one criterion, or of all under `criteria`: part, criterion."""
        return cast(Json, self.get(f"studies/{slug}/judges/{judge}/audit", **query))

    def compute(self, slug: str, judge: int) -> types.Queued:
        """Leave calibration and audit to a worker."""
        return cast(types.Queued, self.post(f"studies/{slug}/judges/{judge}/compute"))

    def certificates(self, slug: str, judge: int, **query: Any) -> Iterator[types.Issued]:
        """Certificates issued of a judge."""
        return self.rows(f"studies/{slug}/judges/{judge}/certificates", **query)

    def rules(self, slug: str) -> Json:
        """The rules of a study's verdicts, its criterion of success, and how they came about."""
        return cast(Json, self.get(f"studies/{slug}/rules"))

    def set_rules(self, slug: str, **options: Any) -> Json:
        """Set rules, success and criteria before the first look, or change them with a reason after it."""
        return cast(Json, self.post(f"studies/{slug}/rules", options))

    def certify(self, slug: str, judge: int, **options: Any) -> types.Certificate:
        """Sign what was found of a judge: rules, reason, part."""
        return cast(types.Certificate, self.post(f"studies/{slug}/judges/{judge}/certificates", options))

    def certificate(self, sha256: str) -> types.Certificate:
        """A certificate, and whether it holds."""
        return cast(types.Certificate, self.get(f"certificates/{sha256}"))

    def check_certificate(self, **given: Any) -> types.Checked:
        """Whether a certificate holds: document, what stands in its file; or sha256, its hash alone."""
        return cast(types.Checked, self.post("certificates/verify", given))

    def revoke_certificate(self, sha256: str, reason: str) -> types.Certificate:
        """Say, for good, that a certificate does not hold."""
        return cast(types.Certificate, self.post(f"certificates/{sha256}/revocation", {"reason": reason}))

    def signing_keys(self) -> types.SigningKeys:
        """The public keys that check the site's certificates, the one that signs first."""
        return cast(types.SigningKeys, self.get("certificates/keys"))

    def hold_out(self, slug: str, **query: Any) -> Json:
        """How a study is split, and every look at the held-out part."""
        return cast(Json, self.get(f"studies/{slug}/hold-out", **query))

    def set_hold_out(self, slug: str, **options: Any) -> types.HoldOut:
        """Keep a part of the items from the development of judges: share, seed."""
        return cast(types.HoldOut, self.post(f"studies/{slug}/hold-out", options))

    def look(self, slug: str, judge: int) -> Json:
        """Look at what a judge does on the held-out part, on record."""
        return cast(Json, self.post(f"studies/{slug}/judges/{judge}/look"))

    def escalate(self, slug: str, judge: int, **options: Any) -> types.Escalation:
        """A study of what a judge is unsure of: name, target, overlap."""
        return cast(types.Escalation, self.post(f"studies/{slug}/judges/{judge}/escalations", options))

    def escalation_return(self, slug: str, judge: int, **query: Any) -> Json:
        """What people said of what the judge left to them last."""
        return cast(Json, self.get(f"studies/{slug}/judges/{judge}/escalations/newest", **query))

    def recalibrate(self, slug: str, judge: int, **options: Any) -> types.Run:
        """The run of the recalibrated judge: anyway."""
        return cast(types.Run, self.post(f"studies/{slug}/judges/{judge}/maps", options))

    def new_version(self, slug: str, judge: int, **options: Any) -> types.Judge:
        """The next version of a judge: examples, criteria, seed, template."""
        return cast(types.Judge, self.post(f"studies/{slug}/judges/{judge}/versions", options))

    def version_change(self, slug: str, judge: int, **query: Any) -> Json:
        """How far a judge agrees better with people than another version: against."""
        return cast(Json, self.get(f"studies/{slug}/judges/{judge}/change", **query))

    def disagreements(self, slug: str, judge: int, **query: Any) -> Iterator[types.Disagreement]:
        """Where a judge and people part; criterion, tier and sort."""
        return self.rows(f"studies/{slug}/judges/{judge}/disagreements", **query)

    def differing(self, slug: str, judge: int, **query: Any) -> Json:
        """Why people differ, and how far the judge is from their answers: criterion."""
        return cast(Json, self.get(f"studies/{slug}/judges/{judge}/differing", **query))

    def rated_items(self, slug: str, **query: Any) -> Iterator[types.RatedItem]:
        """Items with what was said of them; majority, judge, value and tier narrow them down."""
        return self.rows(f"studies/{slug}/rated-items", **query)

    def item_judgments(self, slug: str, position: int, **query: Any) -> Iterator[types.Judgment]:
        """What judges said of an item, in all runs; nothing of a held-out item."""
        return self.rows(f"studies/{slug}/items/{position}/judgments", **query)

    def against_majority(self, slug: str, **query: Any) -> Iterator[types.Contradiction]:
        """Where a judge contradicts the majority of people: criterion, judge."""
        return self.rows(f"studies/{slug}/against-majority", **query)
