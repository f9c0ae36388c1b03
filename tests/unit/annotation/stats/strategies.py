"""Random rating tables for comparison with other implementations."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


@st.composite
def code_tables(draw, *, missing=True, most_items=12, most_raters=5, most_categories=5):
    """(codes, q): small tables, with missing ratings and unused categories."""
    q = draw(st.integers(2, most_categories))
    shape = (draw(st.integers(2, most_items)), draw(st.integers(2, most_raters)))
    used = draw(st.integers(1, q))
    codes = hnp.arrays(np.int64, shape, elements=st.integers(-1 if missing else 0, used - 1))
    return draw(codes), q
