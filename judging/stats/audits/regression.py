"""A straight line through differences, with standard errors that do not need equal spread.

Eicker-Huber-White; the small-sample form HC3 of MacKinnon and White (1985), Journal of Econometrics 29:305-325.
"""

from dataclasses import dataclass

import numpy as np

from annotation.stats.table import FloatArray


@dataclass(frozen=True, eq=False)
class Line:
    """Intercept and slope, and what each item adds to the deviation of either (n, 2)."""

    intercept: float
    slope: float
    influence: FloatArray


def line(x: FloatArray, y: FloatArray) -> Line:
    """Least squares of y on x; ``x`` must vary."""
    design = np.column_stack([np.ones(len(x)), x])
    bread = np.linalg.inv(design.T @ design)
    coefficients = bread @ (design.T @ y)
    leverage = np.einsum("ij,jk,ik->i", design, bread, design)
    residual = (y - design @ coefficients) / np.maximum(1 - leverage, 1e-9)
    return Line(float(coefficients[0]), float(coefficients[1]), (design * residual[:, None]) @ bread)
