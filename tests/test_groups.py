"""What belongs together is run by one process, also after an upgrade of pytest or of what deals out the work."""

from __future__ import annotations

import pytest


@pytest.mark.xdist_group("groups")
def test_the_group_is_in_the_name_by_which_tests_are_dealt_out(request):
    is_dealt_out = getattr(request.config.option, "loadgroup", False)
    assert request.node.nodeid.endswith("@groups") == is_dealt_out
