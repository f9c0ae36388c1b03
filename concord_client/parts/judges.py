"""Judges, what they cost, their runs and what they said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from concord_client import types
from concord_client.transport import Json, Transport


class Judges(Transport):
    """Judges, what they cost, their runs and what they said."""

    def define_judge(self, name: str, *, provider: str, **settings: Any) -> types.Judge:
        """The judge with just these settings; a new version if there is none."""
        return cast(types.Judge, self.post("judges", {"name": name, "provider": provider, **settings}))

    def start_run(self, slug: str, *, judge: int, **options: Any) -> types.Run:
        return cast(types.Run, self.post(f"studies/{slug}/runs", {"judge": judge, **options}))

    def progress(self, run: int) -> types.RunProgress:
        return cast(types.RunProgress, self.get(f"runs/{run}/progress"))

    def judgments(self, run: int, **query: Any) -> Iterator[types.Judgment]:
        return self.rows(f"runs/{run}/judgments", **query)

    def judges(self, **query: Any) -> Iterator[types.Judge]:
        """Judges, every version; name narrows them down."""
        return self.rows("judges", **query)

    def judge(self, judge: int) -> types.Judge:
        return cast(types.Judge, self.get(f"judges/{judge}"))

    def delete_judge(self, judge: int) -> None:
        """Remove a version that never ran."""
        self.send("DELETE", f"judges/{judge}")

    def limits(self, judge: int) -> types.HeldLimits:
        """What a judge may cost in a day and has cost, and how fast its model may be asked."""
        return cast(types.HeldLimits, self.get(f"judges/{judge}/limits"))

    def set_limits(self, judge: int, **options: Any) -> types.Judge:
        """Set daily_budget_usd, requests_per_minute and tokens_per_minute; what is left out is no limit."""
        return cast(types.Judge, self.send("PUT", f"judges/{judge}/limits", options))

    def test_judge(self, judge: int) -> types.Tested:
        """Ask whether a judge would answer."""
        return cast(types.Tested, self.post(f"judges/{judge}/test"))

    def prices(self, **query: Any) -> Iterator[types.Price]:
        """Prices that people entered."""
        return self.rows("prices", **query)

    def enter_price(self, **options: Any) -> types.Price:
        """What a model costs from a day on: provider, model, valid_from, input, output, …"""
        return cast(types.Price, self.post("prices", options))

    def remove_price(self, number: int) -> None:
        """Take a price back."""
        self.send("DELETE", f"prices/{number}")

    def published_prices(self) -> list[types.PublishedPrice]:
        """Prices as providers publish them."""
        return cast("list[types.PublishedPrice]", self.get("prices/published"))

    def runs(self, **query: Any) -> Iterator[types.Run]:
        """Runs; study and judge narrow them down."""
        return self.rows("runs", **query)

    def run(self, run: int) -> types.Run:
        return cast(types.Run, self.get(f"runs/{run}"))

    def stop_run(self, run: int) -> types.Run:
        """Stop a run; what was judged is kept."""
        return cast(types.Run, self.post(f"runs/{run}/stop"))

    def resume_run(self, run: int, **options: Any) -> types.Run:
        """Go on with what is left of a run: budget_usd."""
        return cast(types.Run, self.post(f"runs/{run}/resume", options))

    def ask_again(self, run: int, **options: Any) -> types.Run:
        """Ask again for the items of a run whose replies held no verdict: budget_usd."""
        return cast(types.Run, self.post(f"runs/{run}/ask-again", options))

    def run_scores(self, run: int, **query: Any) -> Json:
        """Means and distributions of a run: by, read."""
        return cast(Json, self.get(f"runs/{run}/scores", **query))

    def estimate_run(self, slug: str, **options: Any) -> types.Estimate:
        """What a run would take; nothing is made. Options as those of `start_run`."""
        return cast(types.Estimate, self.post(f"studies/{slug}/runs/estimate", options))

    def combine(self, slug: str, **options: Any) -> types.Run:
        """Combine finished runs into a panel: name, runs, method."""
        return cast(types.Run, self.post(f"studies/{slug}/panels", options))

    def probes(self, slug: str, **query: Any) -> Iterator[types.Probe]:
        """Runs on altered copies of items; judge narrows them down."""
        return self.rows(f"studies/{slug}/probes", **query)

    def start_probe(self, slug: str, **options: Any) -> types.Run:
        """Start a run on altered copies: judge, alterations, n, …"""
        return cast(types.Run, self.post(f"studies/{slug}/probes", options))

    def judgment(self, number: int) -> types.JudgmentWhole:
        """A judgment with the reply."""
        return cast(types.JudgmentWhole, self.get(f"judgments/{number}"))

    def prompt(self, number: int) -> types.Prompt:
        """What the judge was asked."""
        return cast(types.Prompt, self.get(f"judgments/{number}/prompt"))
