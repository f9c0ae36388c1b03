"""What Prometheus reads. Counted when asked, from the database, so that it is true for all processes and hosts."""

from __future__ import annotations

from collections.abc import Iterator
from shutil import disk_usage

from django.conf import settings
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from config import readiness
from core.version import code_version
from judging.runs.queries import queues
from simulation.experiments import queries


class SiteCollector(Collector):
    """Queue, runs, workers, experiments, services and disk, in a constant number of queries."""

    def collect(self) -> Iterator[Metric]:
        yield build_metric("concord_build", "Version of the code that answers.", "version", {code_version(): 1})
        queue = queues.queue()
        parts = {"waiting": queue.waiting, "held": queue.held, "later": queue.later}
        yield build_metric("concord_run_parts", "Parts of running judge runs.", "state", parts)
        yield single("concord_run_part_oldest_seconds", "How long the oldest part has been due.", queue.oldest_seconds)
        yield build_metric("concord_runs", "Judge runs.", "state", queues.runs_by_state())
        yield build_metric("concord_experiments", "Experiments.", "state", queries.group_by_state())
        alive = list(queues.processes())
        yield single("concord_workers", "Celery workers seen lately.", sum(one.slots > 0 for one in alive))
        yield single("concord_worker_slots", "Parts that they can work on at once.", sum(one.slots for one in alive))
        up = {check.name: float(check.ok) for check in readiness.checks()}
        yield build_metric("concord_service_up", "Whether what the site needs answers.", "service", up)
        yield single("concord_disk_free_bytes", "Free in the data folder.", disk_usage(settings.DATA_DIR).free)


def single(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=value)


def build_metric(name: str, text: str, label: str, values: dict[str, float] | dict[str, int]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family


def registry() -> CollectorRegistry:
    """A registry of its own: nothing is kept between requests."""
    found = CollectorRegistry(auto_describe=False)
    found.register(SiteCollector())
    return found
