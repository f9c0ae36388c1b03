from __future__ import annotations

import altair as alt
import pytest

from core.charts import svg
from core.markup import to_safe_svg

HOSTILE = "<script>alert(1)</script>"


def test_a_name_in_a_drawing_stays_text():
    rows = alt.InlineData(values=[{"name": HOSTILE, "n": 1}])
    drawn = to_safe_svg(svg(alt.Chart(rows).mark_bar().encode(x="n:Q", y="name:N").to_dict))
    assert "&lt;script&gt;" in drawn
    assert "<script" not in drawn
    assert to_safe_svg("") == ""


@pytest.mark.parametrize("text", [HOSTILE, f"<svg x='1'>{HOSTILE}</svg>", "<svg ><foreignObject/></svg>", "<p>"])
def test_what_is_no_drawing_is_refused(text):
    with pytest.raises(ValueError, match="not a drawing"):
        to_safe_svg(text)
