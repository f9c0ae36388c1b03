"""Several probes at once: what is found after correcting for having looked in many places."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.stats.estimate import number_or_none
from judging.stats.audits.probe import LEVEL, Probe
from judging.stats.multiplicity import Method, adjust_p_values


@dataclass(frozen=True)
class Finding:
    """A probe with its adjusted p-value; ``found`` is None where the probe could not be made."""

    probe: Probe
    adjusted_p_value: float
    found: bool | None

    def to_json(self) -> dict[str, Any]:
        """The finding as JSON types."""
        return {
            **self.probe.to_json(),
            "adjusted_p_value": number_or_none(self.adjusted_p_value),
            "found": self.found,
        }


def findings(probes: Sequence[Probe], *, level: float = LEVEL, method: Method = "holm") -> list[Finding]:
    """The probes with what each finds at ``level`` for all of them together.

    ``"holm"`` holds the chance that a judge without any bias is accused of one; ``"benjamini-hochberg"`` the expected
    share of false accusations among all.
    """
    together = adjust_p_values([probe.p_value for probe in probes], method)
    return [
        Finding(probe, float(p), None if np.isnan(p) else bool(p <= level))
        for probe, p in zip(probes, together, strict=True)
    ]
